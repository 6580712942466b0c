import { randomBytes } from 'node:crypto';
import type { SdkConnection } from '@halyard/contract';
import type { PayloadOptions } from '../flags/index.ts';
import { type Live, stateKind } from '../record/index.ts';
import { capabilitiesOf } from './sdk-languages.ts';

/** Everything of an SDK connection but its dates. */
export type ConnectionState = Omit<
  SdkConnection,
  'id' | 'dateCreated' | 'dateUpdated' | 'organization' | 'project' | 'projects' | 'languages' | 'sseEnabled'
> & {
  readonly languages: readonly string[];
  readonly projects: readonly string[];
};

export type LiveConnection = Live<ConnectionState>;

export const connectionKind = stateKind<ConnectionState>('sdk-connection', 'SDK connection');

/** What is made once for a connection and never changes: its client key and the keys that encrypt and sign. */
export const newConnectionKeys = () => ({
  key: `sdk-${randomBytes(12).toString('base64').replaceAll(/[=/+]/g, '')}`,
  encryptionKey: randomBytes(16).toString('base64'),
  proxySigningKey: randomBytes(32).toString('base64'),
});

/** Members that the audit log must not keep. */
export const connectionSecrets = ['encryptionKey', 'proxySigningKey'] as const;

/** A connection as the interface shows it. Streams are served to every one. */
export function showConnection(
  { id, dateCreated, dateUpdated, state }: LiveConnection,
  organization: string,
): SdkConnection {
  return {
    id,
    dateCreated: dateCreated.toISOString(),
    dateUpdated: dateUpdated.toISOString(),
    organization,
    ...state,
    languages: [...state.languages],
    project: state.projects[0] ?? '',
    projects: [...state.projects],
    sseEnabled: true,
  };
}

/** What of a connection decides what its payload holds. */
export function payloadOptions(state: ConnectionState): PayloadOptions {
  const capabilities = capabilitiesOf(state.languages, state.sdkVersion);
  return {
    environment: state.environment,
    projects: state.projects,
    capabilities,
    includeRuleIds: state.includeRuleIds === true,
    includeExperimentNames: state.includeExperimentNames === true,
    includeProjectIdInMetadata: state.includeProjectIdInMetadata === true,
    includeTagsInMetadata: state.includeTagsInMetadata === true,
    hashSecureAttributes: state.hashSecureAttributes === true,
    includeAutoExperiments: state.includeVisualExperiments === true || state.includeRedirectExperiments === true,
    savedGroupReferences: state.savedGroupReferencesEnabled === true && capabilities.has('savedGroupReferences'),
  };
}
