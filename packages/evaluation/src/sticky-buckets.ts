import { jsonTextOf } from './coercion.ts';
import { hashValueOf } from './hash-attribute.ts';
import type { StickyBucketDocument, StickyBucketDocuments, VariationMeta } from './payload.ts';
import type { Attributes } from './user.ts';

/**
 * The key a document is stored under.
 *
 * @example stickyBucketKey('id', 'u1') // "id||u1"
 */
export function stickyBucketKey(attributeName: string, attributeValue: string): string {
  return `${attributeName}||${attributeValue}`;
}

/**
 * The text that documents hold of an attribute value. SDKs write what is no text as JSON, which differs from the text
 * that is hashed where the value is a list or an object.
 */
export function stickyBucketText(attributeValue: unknown): string {
  return typeof attributeValue === 'string' ? attributeValue : (jsonTextOf(attributeValue) ?? '');
}

/** What sticky bucketing must know of an experiment. */
export interface StickyExperiment {
  readonly key: string;
  readonly hashAttribute: string;
  readonly fallbackAttribute: string | undefined;
  readonly bucketVersion: number;
  readonly minBucketVersion: number;
  readonly meta: readonly VariationMeta[];
}

/** Nothing was assigned before, or nothing that still counts. */
export const NO_STICKY_VARIATION = -1;

/** The user was assigned in a version that may not take part any more. */
export const BLOCKED_STICKY_VERSION = -2;

/**
 * The variation that the user has already been given, or one of the two constants above. The assignments under the
 * hash attribute win over those under the fallback attribute.
 */
export function stickyVariation(
  documents: StickyBucketDocuments,
  experiment: StickyExperiment,
  attributes: Attributes,
): number {
  const own = assignmentsOf(documents, attributes, experiment.hashAttribute);
  const fallback = assignmentsOf(documents, attributes, experiment.fallbackAttribute);
  if (own === undefined && fallback === undefined) return NO_STICKY_VARIATION;
  if (hasBlockedVersion(own, experiment) || hasBlockedVersion(fallback, experiment)) return BLOCKED_STICKY_VERSION;

  const assignmentKey = assignmentKeyOf(experiment);
  const variationKey = assignmentAt(own, assignmentKey) ?? assignmentAt(fallback, assignmentKey);
  if (variationKey === undefined) return NO_STICKY_VARIATION;
  return experiment.meta.findIndex((meta) => meta.key === variationKey);
}

/**
 * The document with the variation noted, or `undefined` when it already says so.
 *
 * @example changedDocument({}, experiment, 'id', 'u1', 'treatment')?.assignments // { "checkout__0": "treatment" }
 */
export function changedDocument(
  documents: StickyBucketDocuments,
  experiment: StickyExperiment,
  hashAttribute: string,
  hashValue: unknown,
  variationKey: string,
): StickyBucketDocument | undefined {
  const attributeValue = stickyBucketText(hashValue);
  const existing = documentOf(documents, hashAttribute, attributeValue)?.assignments;
  const assignmentKey = assignmentKeyOf(experiment);
  if (assignmentAt(existing, assignmentKey) === variationKey) return undefined;
  return {
    attributeName: hashAttribute,
    attributeValue,
    assignments: { ...existing, [assignmentKey]: variationKey },
  };
}

type Assignments = StickyBucketDocument['assignments'];

function assignmentKeyOf(experiment: StickyExperiment): string {
  return `${experiment.key}__${experiment.bucketVersion}`;
}

function assignmentAt(assignments: Assignments | undefined, key: string): string | undefined {
  return assignments !== undefined && Object.hasOwn(assignments, key) ? assignments[key] : undefined;
}

function assignmentsOf(
  documents: StickyBucketDocuments,
  attributes: Attributes,
  attribute: string | undefined,
): Assignments | undefined {
  if (attribute === undefined) return undefined;
  const value = hashValueOf(attributes, attribute);
  return value === '' ? undefined : documentOf(documents, attribute, stickyBucketText(value))?.assignments;
}

/** The document of exactly this attribute and value; one that says it belongs to another is not used. */
function documentOf(
  documents: StickyBucketDocuments,
  attribute: string,
  value: string,
): StickyBucketDocument | undefined {
  const key = stickyBucketKey(attribute, value);
  const document = Object.hasOwn(documents, key) ? documents[key] : undefined;
  if (document?.attributeName !== attribute || document.attributeValue !== value) return undefined;
  return document;
}

/** Whether there is an assignment of a version from 0 up to, and without, the minimum. */
function hasBlockedVersion(assignments: Assignments | undefined, experiment: StickyExperiment): boolean {
  if (assignments === undefined || experiment.minBucketVersion <= 0) return false;
  const prefix = `${experiment.key}__`;
  // Through what is there, not through the versions: the minimum may be any number.
  return Object.keys(assignments).some((key) => {
    if (!key.startsWith(prefix)) return false;
    const version = key.slice(prefix.length);
    return /^(?:0|[1-9]\d*)$/.test(version) && Number(version) < experiment.minBucketVersion;
  });
}
