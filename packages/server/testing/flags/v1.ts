import { type BodyInputOf, type FeatureV1, postFeatureV1, updateFeatureV1 } from '@halyard/contract';
import type { Client } from '../client.ts';
import { freshId } from '../objects.ts';

type Body = BodyInputOf<typeof postFeatureV1>;
type EntriesV1 = NonNullable<Body['environments']>;
export type RuleV1 = EntriesV1[string]['rules'][number];

/** Creates a feature through v1; boolean and off unless told otherwise. */
export async function newFeatureV1(
  { admin, owner }: { readonly admin: Client; readonly owner: { readonly id: string } },
  body: Partial<Body> = {},
): Promise<FeatureV1> {
  const { feature } = await admin.call(postFeatureV1, {
    body: { id: freshId(), defaultValue: 'false', owner: owner.id, ...body },
  });
  return feature;
}

export const forceV1 = (id: string, more: object = {}): RuleV1 => ({ type: 'force', id, value: 'true', ...more });

/** Environments that are on, each with its list of rules. */
export const listed = (lists: Readonly<Record<string, readonly RuleV1[]>>): EntriesV1 =>
  Object.fromEntries(Object.entries(lists).map(([id, rules]) => [id, { enabled: true, rules: [...rules] }]));

/** The ids of the rules of each environment. */
export const ruleIds = ({ environments }: FeatureV1): Record<string, string[]> =>
  Object.fromEntries(Object.entries(environments).map(([id, { rules }]) => [id, rules.map((rule) => rule.id)]));

/** The environments of an answer, as the body of an update takes them. */
export const sentBack = ({
  environments,
}: FeatureV1): NonNullable<BodyInputOf<typeof updateFeatureV1>['environments']> =>
  updateFeatureV1.body.parse({ environments }).environments ?? {};
