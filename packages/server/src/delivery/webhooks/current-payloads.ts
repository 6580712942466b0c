import type { LiveStates } from '../../record/index.ts';
import type { Delivery } from '../delivery.ts';
import type { MessagePayload } from './message.ts';

/** Where those who are told of changes get the payloads as they are now. */
export interface CurrentPayloads {
  /** Null: there is no such connection (any more). */
  of(organization: string, connection: string): Promise<MessagePayload | null>;
}

export function currentPayloads({ live, delivery }: { live: LiveStates; delivery: Delivery }): CurrentPayloads {
  return {
    async of(organization, id) {
      // Another process may have heard of the change that is to be told before this one has.
      await live.catchUp(organization);
      const delivered = delivery.connection(organization, id);
      await delivered?.catchUp();
      const served = delivered?.served ?? null;
      if (delivered === undefined || served === null) return null;
      return {
        clientKey: delivered.live.state.key,
        payload: `{${served.bodies.members.toString()}`,
        changed: served.change.instant,
      };
    },
  };
}
