import type {
  listSdkConnections,
  postSdkConnection,
  putSdkConnection,
  ResponseOf,
  SdkConnection,
} from '@halyard/contract';
import type { Call } from '../http/index.ts';
import { type Entitlements, projectKind, type References, withoutProject } from '../organization/index.ts';
import { forbidden, type NewId, notFound } from '../platform/index.ts';
import { type ResourceKit, type ResourceService, sent } from '../resources/index.ts';
import {
  type ConnectionState,
  connectionKind,
  connectionSecrets,
  type LiveConnection,
  newConnectionKeys,
  showConnection,
} from './connection.ts';
import { checkConnection } from './connection-rules.ts';
import { latestVersion } from './sdk-languages.ts';

export interface ConnectionService {
  list(call: Call<typeof listSdkConnections>): ResponseOf<typeof listSdkConnections>;
  get(call: Call, id: string): SdkConnection;
  /** @throws Refusal (notFound) when the caller sees no connection of that client key */
  findByKey(call: Call, key: string): LiveConnection;
  lookUp(call: Call, key: string): SdkConnection;
  create(call: Call<typeof postSdkConnection>): Promise<SdkConnection>;
  update(call: Call<typeof putSdkConnection>): Promise<SdkConnection>;
  delete(call: Call, id: string): Promise<void>;
}

export function connectionService(
  kit: ResourceKit,
  tools: { newId: NewId; entitlements: Entitlements; hosted: boolean },
): ConnectionService {
  const { newId, entitlements, hosted } = tools;
  const connections: ResourceService<ConnectionState, SdkConnection> = kit({
    kind: connectionKind,
    audited: 'sdk-connection',
    name: (state) => state.name,
    seenIn: ({ state }) => (state.projects.length === 0 ? null : state.projects),
    show: showConnection,
    secrets: connectionSecrets,
  });
  const demand = (call: Call, { projects, environment }: ConnectionState) =>
    call.demand('manageSDKConnections', { projects, environments: [environment] });

  const findByKey = (call: Call, key: string): LiveConnection => {
    const live = connections.visible(call).find(({ state }) => state.key === key);
    if (live === undefined) throw notFound('SDK connection', key);
    return live;
  };

  return {
    findByKey,
    lookUp: (call, key) => connections.show(call, findByKey(call, key)),
    get: (call, id) => connections.show(call, connections.find(call, id)),

    list(call) {
      const { query } = call;
      if (query.multiOrg !== undefined && !['', 'false', '0'].includes(query.multiOrg)) {
        throw forbidden('Only a super administrator’s token may list the connections of every organization.');
      }
      const matching = connections
        .visible(call)
        .filter(({ state }) => !query.withProxy || state.proxyEnabled)
        .filter((live) => query.projectId === undefined || servesProject(call, live, query.projectId));
      return connections.page(call, 'connections', matching, query);
    },

    create: (call) =>
      connections.create(call, (states) => {
        const { language, ...fields } = call.body;
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
        demand(call, state);
        checkConnection(state, null, { states, entitlements, hosted });
        return { id: newId('sdk_'), state };
      }),

    update: (call) =>
      connections.change(call, call.params.id, ({ state: before }, states) => {
        const { language, ...fields } = call.body;
        const moved = language === undefined || before.languages.includes(language) ? {} : inLanguage(language);
        const state: ConnectionState = { ...before, ...moved, ...sent(fields) };
        demand(call, before);
        demand(call, state);
        checkConnection(state, before, { states, entitlements, hosted });
        return state;
      }),

    delete: (call, id) =>
      connections.remove(call, id, ({ state }) => {
        demand(call, state);
        return {};
      }),
  };
}

/** Another language begins at its newest version. */
const inLanguage = (language: string) => ({ languages: [language], sdkVersion: latestVersion(language) });

function servesProject(call: Call, { state }: LiveConnection, project: string): boolean {
  const known = call.requester.states.get(projectKind, project) !== null && call.sees([project]);
  return known && (state.projects.length === 0 || state.projects.includes(project));
}

/** Connections name projects, and keep their environment from being deleted. */
export const connectionReferences: References = {
  withoutProject: (states, project) => ({
    changes: states
      .all(connectionKind)
      .filter(({ state }) => withoutProject(state.projects, project) !== state.projects)
      .map(({ id, state }) => ({
        kind: connectionKind,
        id,
        state: { ...state, projects: withoutProject(state.projects, project) },
      })),
  }),
  whyEnvironmentStays(states, environment) {
    const users = states.all(connectionKind).filter(({ state }) => state.environment === environment).length;
    if (users === 0) return null;
    return users === 1 ? 'an SDK connection uses it' : `${users} SDK connections use it`;
  },
};
