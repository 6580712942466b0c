import { isDeepStrictEqual } from 'node:util';
import type {
  BodyOf,
  listSdkConnections,
  postSdkConnection,
  putSdkConnection,
  QueryOf,
  ResponseOf,
  SdkConnection,
} from '@halyard/contract';
import { type Entitlements, listsWithout, type References, seesProject } from '../organization/index.ts';
import { forbidden, type NewId, notFound } from '../platform/index.ts';
import type { PublicationPart, Written } from '../record/index.ts';
import { demand, type Requester } from '../requester/index.ts';
import { type Resource, type ResourceKit, type ResourceService, sent } from '../resources/index.ts';
import {
  type ConnectionState,
  connectionKind,
  connectionOfKey,
  connectionSecrets,
  type LiveConnection,
  newConnectionKeys,
  seenIn,
  showConnection,
  withSent,
} from './connection.ts';
import { checkConnection } from './connection-rules.ts';
import { latestVersion } from './sdk-languages.ts';

const connectionResource: Resource<ConnectionState> = {
  kind: connectionKind,
  auditName: 'sdk-connection',
  name: (state) => state.name,
  secrets: connectionSecrets,
};

export interface ConnectionService {
  list(requester: Requester, query: QueryOf<typeof listSdkConnections>): ResponseOf<typeof listSdkConnections>;
  get(requester: Requester, id: string): SdkConnection;
  /** @throws Refusal (notFound) when there is none, or the requester may not see it */
  find(requester: Requester, id: string): LiveConnection;
  /** @throws Refusal (notFound) when the requester sees no connection of that client key */
  findByKey(requester: Requester, key: string): LiveConnection;
  lookUp(requester: Requester, key: string): SdkConnection;
  create(requester: Requester, input: BodyOf<typeof postSdkConnection>): Promise<Written<SdkConnection>>;
  update(requester: Requester, id: string, patch: BodyOf<typeof putSdkConnection>): Promise<Written<SdkConnection>>;
  delete(requester: Requester, id: string): Promise<Written<null>>;
}

interface ConnectionTools {
  readonly newId: NewId;
  readonly entitlements: Entitlements;
  readonly hosted: boolean;
  /** What must change along with the deletion of a connection. */
  readonly changesOnDeletion: (connection: string, by: Requester) => PublicationPart;
}

export function connectionService(kit: ResourceKit, tools: ConnectionTools): ConnectionService {
  const { newId, entitlements, hosted, changesOnDeletion } = tools;
  const connections: ResourceService<ConnectionState, SdkConnection> = kit({
    ...connectionResource,
    seenIn,
    show: showConnection,
  });
  const demandManaging = (requester: Requester, { projects, environment }: ConnectionState) =>
    demand(requester, 'manageSDKConnections', { projects, environments: [environment] });

  const findByKey = (requester: Requester, key: string): LiveConnection => {
    const live = connectionOfKey(requester, key);
    if (live === null) throw notFound('SDK connection', key);
    return live;
  };

  return {
    findByKey,
    find: (requester, id) => connections.find(requester, id),
    lookUp: (requester, key) => connections.show(requester, findByKey(requester, key)),
    get: (requester, id) => connections.show(requester, connections.find(requester, id)),

    list(requester, query) {
      if (query.multiOrg !== undefined && !['', 'false', '0'].includes(query.multiOrg)) {
        throw forbidden('Only a super administrator’s token may list the connections of every organization.');
      }
      const matching = connections
        .visible(requester)
        .filter(({ state }) => !query.withProxy || state.proxyEnabled)
        .filter((live) => query.projectId === undefined || servesProject(requester, live, query.projectId));
      return connections.page(requester, 'connections', matching, query);
    },

    create: (requester, input) =>
      connections.create(requester, (states) => {
        const { language, ...fields } = input;
        const state: ConnectionState = {
          projects: [],
          sdkVersion: latestVersion(language),
          encryptPayload: false,
          proxyEnabled: false,
          proxyHost: '',
          ...sent(fields),
          languages: [language],
          ...newConnectionKeys(),
        };
        demandManaging(requester, state);
        checkConnection(state, null, { requester, states, entitlements, hosted });
        return { id: newId('sdk_'), state };
      }),

    update: (requester, id, patch) =>
      connections.change(requester, id, ({ state: before }, states) => {
        const { language, ...fields } = patch;
        const stays = language === undefined || isDeepStrictEqual(before.languages, [language]);
        const state = withSent({ ...before, ...(stays ? {} : inLanguage(language)) }, sent(fields));
        demandManaging(requester, before);
        demandManaging(requester, state);
        checkConnection(state, before, { requester, states, entitlements, hosted });
        return state;
      }),

    delete: (requester, id) =>
      connections.remove(requester, id, ({ state }) => {
        demandManaging(requester, state);
        return changesOnDeletion(id, requester);
      }),
  };
}

/** Another language begins at its newest version. */
const inLanguage = (language: string) => ({ languages: [language], sdkVersion: latestVersion(language) });

function servesProject(requester: Requester, { state }: LiveConnection, project: string): boolean {
  return seesProject(requester, project) && (state.projects.length === 0 || state.projects.includes(project));
}

/** Connections name projects, and keep their environment from being deleted. */
export const connectionReferences: References = {
  changesOnProjectDeletion: (states, project) => listsWithout(states, connectionResource, project),
  whyEnvironmentStays(states, environment) {
    const users = states.all(connectionKind).filter(({ state }) => state.environment === environment).length;
    if (users === 0) return null;
    return users === 1 ? 'an SDK connection uses it' : `${users} SDK connections use it`;
  },
};
