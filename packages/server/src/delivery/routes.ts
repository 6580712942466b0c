import {
  deleteSdkConnection,
  getSdkConnection,
  getSdkPayload,
  getSdkPayloadForEvaluation,
  listSdkConnections,
  lookupSdkConnectionByKey,
  postSdkConnection,
  putSdkConnection,
  type SdkConnection,
} from '@halyard/contract';
import { bind, type Call, JsonText, type Route } from '../http/index.ts';
import { invalid, notFound, unavailable } from '../platform/index.ts';
import type { ConnectionService } from './connections.ts';
import type { Delivery } from './delivery.ts';
import type { ProxyChecks } from './proxies/proxy-work.ts';
import { answerOf, minVersionHeader, payloadFacts, payloadMembers, reach, readMinVersion } from './serving/index.ts';

export function deliveryRoutes(connections: ConnectionService, delivery: Delivery, proxies: ProxyChecks): Route[] {
  const checkProxy = (sdkConnection: SdkConnection): void => {
    if (sdkConnection.proxyEnabled) proxies.soon(sdkConnection.organization, sdkConnection.id);
  };
  return [
    bind(listSdkConnections, async (call) => connections.list(call.requester, call.query)),
    bind(postSdkConnection, async (call) => {
      const sdkConnection = call.landed(await connections.create(call.requester, call.body));
      // The payload is there before the first SDK asks for it.
      await delivery.find(sdkConnection.key)?.refresh();
      checkProxy(sdkConnection);
      return { sdkConnection };
    }),
    bind(getSdkConnection, async (call) => ({ sdkConnection: connections.get(call.requester, call.params.id) })),
    bind(putSdkConnection, async (call) => {
      const sdkConnection = call.landed(await connections.update(call.requester, call.params.id, call.body));
      checkProxy(sdkConnection);
      return { sdkConnection };
    }),
    bind(deleteSdkConnection, async (call) => {
      call.landed(await connections.delete(call.requester, call.params.id));
      return { deletedId: call.params.id };
    }),
    bind(lookupSdkConnectionByKey, async (call) => ({
      sdkConnection: connections.lookUp(call.requester, call.params.key),
    })),
    bind(getSdkPayload, async (call) => {
      const { bodies } = await servedTo(call, call.params.key, connections, delivery);
      return new JsonText(bodies.identity.bytes);
    }),
    bind(getSdkPayloadForEvaluation, async (call) => {
      const { unhashed, change } = await servedTo(call, call.params.key, connections, delivery);
      return new JsonText(answerOf(payloadMembers(unhashed, null, change.instant)));
    }),
  ];
}

/** What a connection serves, for proxies and edges: also of connections that SDKs may only evaluate remotely. */
async function servedTo(call: Call, key: string, connections: ConnectionService, delivery: Delivery) {
  const { state } = connections.findByKey(call.requester, key);
  const least = readMinVersion(call.requestHeader(minVersionHeader));
  if (least === null) throw invalid(`${minVersionHeader} must be a whole number of at least 0.`);
  const found = { use: (clientKey: string) => delivery.find(clientKey), catchUp: () => delivery.catchUp() };
  const reached = await reach(found, state.key, least);
  if (reached === 'unknown') throw notFound('SDK connection', key);
  if (reached === 'late' || reached === 'nothing')
    throw unavailable('That configuration version is not here yet. Ask again.', 1);
  const { connection, served } = reached;
  call.header('X-Service-Config-Version', String(connection.version));
  for (const [name, value] of payloadFacts(served)) call.header(name, value);
  return served;
}
