import type { DeliveredFeatures } from '../flags/index.ts';
import { connectionKind } from './connection.ts';
import type { Delivery } from './delivery.ts';

/** Which features a connection's payload holds, encrypted or not, as of what the caller sees. */
export const deliveredFeatures =
  (delivery: Delivery): DeliveredFeatures =>
  async (requester, clientKey) => {
    const connections = requester.states.all(connectionKind);
    const live = connections.find(({ state }) => state.key === clientKey);
    const visible =
      live !== undefined && requester.maySee(live.state.projects.length === 0 ? null : live.state.projects);
    return visible ? ((await delivery.find(clientKey)?.featureIds()) ?? null) : null;
  };
