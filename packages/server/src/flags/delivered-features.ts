import type { Requester } from '../requester/index.ts';

/**
 * Which features a connection's payload holds. Connections are known to `delivery`, which fills this port.
 *
 * @returns null when the organization has no connection of that key that the requester may see
 */
export type DeliveredFeatures = (requester: Requester, clientKey: string) => Promise<ReadonlySet<string> | null>;
