import type { BodyOf, postFeatureV1, updateFeatureV1 } from '@halyard/contract';
import type { AskedContent } from '../admit-content.ts';

type Body = BodyOf<typeof postFeatureV1> | BodyOf<typeof updateFeatureV1>;
type AskedEnvironment = NonNullable<BodyOf<typeof updateFeatureV1>['environments']>[string];

/** What a v1 body asks for, with the rules of environments apart from their switches, and what is to be a draft. */
export function askedContent({ environments, ...body }: Body): AskedContent {
  if (environments === undefined) return body;
  const entries = Object.entries<AskedEnvironment>(environments);
  const drafts = entries.flatMap(([id, { draft }]) => (draft === undefined ? [] : [[id, draft] as const]));
  return {
    ...body,
    environments: Object.fromEntries(entries.map(([id, { enabled, defaultValue }]) => [id, { enabled, defaultValue }])),
    ruleLists: new Map(entries.flatMap(([id, { rules }]) => (rules === undefined ? [] : [[id, rules] as const]))),
    ...(drafts.length === 0
      ? {}
      : {
          draft: {
            environments: Object.fromEntries(drafts.map(([id, { enabled }]) => [id, { enabled }])),
            ruleLists: new Map(drafts.map(([id, { rules }]) => [id, rules])),
          },
        }),
  };
}
