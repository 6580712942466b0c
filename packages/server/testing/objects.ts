import { randomBytes } from 'node:crypto';
import {
  type BodyInputOf,
  type Feature,
  postEnvironment,
  postFeature,
  postSavedGroup,
  postSdkConnection,
  type SavedGroup,
  type SdkConnection,
} from '@halyard/contract';
import type { Client } from './client.ts';

type FeatureBody = BodyInputOf<typeof postFeature>;

/** An id that no other feature of the test has. */
export const freshId = (): string => `f_${randomBytes(5).toString('hex')}`;

/** Creates a feature; boolean and off unless told otherwise. */
export async function newFeature(
  { admin, owner }: { readonly admin: Client; readonly owner: { readonly id: string } },
  body: Partial<FeatureBody> = {},
): Promise<Feature> {
  const { feature } = await admin.call(postFeature, {
    body: { id: freshId(), defaultValue: 'false', owner: owner.id, ...body },
  });
  return feature;
}

export async function newEnvironment(admin: Client, id: string, body: object = {}): Promise<void> {
  await admin.call(postEnvironment, { body: { id, ...body } });
}

/** Creates a saved group; a list of ids unless told otherwise. */
export async function newSavedGroup(
  admin: Client,
  body: Partial<BodyInputOf<typeof postSavedGroup>> = {},
): Promise<SavedGroup> {
  const list = body.condition === undefined ? { attributeKey: 'id', values: [] } : {};
  const { savedGroup } = await admin.call(postSavedGroup, { body: { name: 'Test', ...list, ...body } });
  return savedGroup;
}

/** A rule that serves `true` to users in all of the groups. */
export const ruleFor = (...ids: string[]) => ({
  type: 'force' as const,
  value: 'true',
  savedGroups: [{ match: 'all' as const, ids }],
});

/** Creates an SDK connection that understands everything. */
export async function newConnection(
  admin: Client,
  body: Partial<BodyInputOf<typeof postSdkConnection>> = {},
): Promise<SdkConnection> {
  const { sdkConnection } = await admin.call(postSdkConnection, {
    body: { name: 'Test', language: 'javascript', environment: 'production', ...body },
  });
  return sdkConnection;
}
