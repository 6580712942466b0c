import { isDeepStrictEqual } from 'node:util';
import type { FeatureContent } from './feature.ts';

type Field = keyof FeatureContent;

/** What the change of a field reaches. */
interface Reach {
  /** Payloads: of every environment that the feature serves, or of those in which it differs; none: only people see it. */
  readonly payloads: 'all it serves' | 'where it differs' | 'none';
  /** Environments whose subscribers are told. */
  readonly told: 'all' | 'where it differs' | 'none';
}

const forPeople: Reach = { payloads: 'none', told: 'none' };
const whole: Reach = { payloads: 'all it serves', told: 'all' };
const byEnvironment: Reach = { payloads: 'where it differs', told: 'where it differs' };
/** It may alter what connections get, but is no change of an environment. */
const untold: Reach = { payloads: 'all it serves', told: 'none' };

/** A new field does not compile until it has its place here. */
const fields: Readonly<Record<Field, Reach>> = {
  valueType: whole,
  archived: whole,
  description: forPeople,
  owner: forPeople,
  project: whole,
  targetingAllProjects: untold,
  targetingProjects: untold,
  tags: forPeople,
  defaultValue: whole,
  environments: byEnvironment,
  rules: byEnvironment,
  prerequisites: whole,
  jsonSchema: untold,
  neverStale: forPeople,
  customFields: forPeople,
};

const allFields = Object.keys(fields) as Field[];

/** The fields that differ. */
export const changedFields = (before: FeatureContent, after: FeatureContent): Field[] =>
  allFields.filter((field) => !isDeepStrictEqual(before[field], after[field]));

/** Whether the change of a field reaches SDKs, or may. */
export const reachesSdks = (field: Field): boolean => fields[field].payloads !== 'none';

/** Whether the change of a field may alter every payload that holds the feature. */
export const reachesAllServed = (field: Field): boolean => fields[field].payloads === 'all it serves';

/** Whether the change of a field is told to the subscribers of every environment. */
export const isToldEverywhere = (field: Field): boolean => fields[field].told === 'all';

/** The fields of content that a request names. */
export const namedFields = (asked: { readonly [Key in Field]?: unknown }): Field[] =>
  allFields.filter((field) => asked[field] !== undefined);
