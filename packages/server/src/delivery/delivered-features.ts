import type { DeliveredFeatures } from '../flags/index.ts';
import { connectionOfKey } from './connection.ts';
import type { Delivery } from './delivery.ts';

/** Which features a connection's payload holds, encrypted or not, as of what the requester sees. */
export const deliveredFeatures =
  (delivery: Delivery): DeliveredFeatures =>
  async (requester, clientKey) => {
    if (connectionOfKey(requester, clientKey) === null) return null;
    return (await delivery.find(clientKey)?.featureIds()) ?? null;
  };
