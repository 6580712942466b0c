import { randomBytes } from 'node:crypto';
import type { SdkConnection } from '@halyard/contract';
import type { PayloadOptions } from '../flags/index.ts';
import { seenInProjects } from '../organization/index.ts';
import { type Live, stateKind } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';
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

/** Where a connection is seen. */
export const seenIn = ({ state }: LiveConnection): readonly string[] | null => seenInProjects(state.projects);

/** The connection of a client key; null: the requester sees none. */
export function connectionOfKey(requester: Requester, key: string): LiveConnection | null {
  const live = requester.states.all(connectionKind).find(({ state }) => state.key === key);
  return live !== undefined && requester.maySee(seenIn(live)) ? live : null;
}

/** What is made once for a connection and never changes: its client key and the keys that encrypt and sign. */
export const newConnectionKeys = () => ({
  key: `sdk-${randomBytes(12).toString('base64').replaceAll(/[=/+]/g, '')}`,
  encryptionKey: randomBytes(16).toString('base64'),
  proxySigningKey: randomBytes(32).toString('base64'),
});

/** Members that the audit log must not keep. */
export const connectionSecrets = ['encryptionKey', 'proxySigningKey'] as const;

/** What is off unless it was switched on. */
const off = {
  includeVisualExperiments: false,
  includeDraftExperiments: false,
  includeDraftExperimentRefs: false,
  includeExperimentNames: false,
  includeRedirectExperiments: false,
  includeRuleIds: false,
  includeProjectIdInMetadata: false,
  includeCustomFieldsInMetadata: false,
  includeTagsInMetadata: false,
  includeExperimentScheduleInMetadata: false,
  hashSecureAttributes: false,
  remoteEvalEnabled: false,
  savedGroupReferencesEnabled: false,
} satisfies Partial<ConnectionState>;

/** The state with what was sent: to say of a switch that was never thrown that it is off changes nothing. */
export function withSent(state: ConnectionState, sent: Partial<ConnectionState>): ConnectionState {
  const isNews = ([key, value]: [string, unknown]) => value !== false || Object.hasOwn(state, key);
  return { ...state, ...Object.fromEntries(Object.entries(sent).filter(isNews)) };
}

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
    ...off,
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
    customFieldsInMetadata:
      state.includeCustomFieldsInMetadata === true ? (state.allowedCustomFieldsInMetadata ?? []) : [],
    hashSecureAttributes: state.hashSecureAttributes === true,
    includeAutoExperiments: state.includeVisualExperiments === true || state.includeRedirectExperiments === true,
    savedGroupReferences: state.savedGroupReferencesEnabled === true && capabilities.has('savedGroupReferences'),
  };
}
