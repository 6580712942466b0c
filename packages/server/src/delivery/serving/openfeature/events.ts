import type { ServedConnection } from '../source.ts';
import { noMoreStreams, type Subscribers } from '../stream-route.ts';
import type { Dialect, StreamEvent } from '../streams.ts';
import { refuseFlags } from './refusal.ts';

/** Where a connection's providers hear of changes. */
export const eventsPath = (clientKey: string): string => `/ofrep/v1/events/${encodeURIComponent(clientKey)}`;

/** The tag of a payload in an event, by which the client asks for an answer that is not older. */
const tagOf = (version: number): string => `v${version}`;

/** The version behind a tag; null: it is no tag of ours. */
export function versionOf(tag: string): number | null {
  const digits = /^"?v(\d{1,15})"?$/.exec(tag)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Changes are told in whole seconds. */
export const secondsOf = (instant: Date): number => Math.floor(instant.getTime() / 1_000);

/** Providers are told that something has changed, not what. */
function dialectOf(connection: ServedConnection): Dialect {
  let last: { readonly of: StreamEvent; readonly phrased: StreamEvent } | null = null;
  return {
    heartbeat: Buffer.from(':\n\n'),
    phrase(event) {
      if (last?.of !== event) last = { of: event, phrased: refetchEvent(event, connection) };
      return last.phrased;
    },
  };
}

function refetchEvent({ id }: StreamEvent, { served }: ServedConnection): StreamEvent {
  const lastModified = served?.change.version === id ? secondsOf(served.change.instant) : undefined;
  const data = JSON.stringify({ type: 'refetchEvaluation', etag: tagOf(id), lastModified });
  return { id, bytes: Buffer.from(`event: message\nid: ${id}\ndata: ${data}\n\n`) };
}

const dialects = new WeakMap<ServedConnection, Dialect>();

/** Providers that listen to `GET /ofrep/v1/events/{clientKey}`. */
export const flagSubscribers: Subscribers = {
  path: /^\/ofrep\/v1\/events(?:\/([^/?]*))?\/?(?:\?|$)/,
  dialect(connection) {
    const known = dialects.get(connection);
    if (known !== undefined) return known;
    const fresh = dialectOf(connection);
    dialects.set(connection, fresh);
    return fresh;
  },
  refuse(response, refusal) {
    const { error: errorDetails } = refusal;
    if (refusal === noMoreStreams) return refuseFlags(response, { status: 429, errorDetails });
    refuseFlags(response, { status: refusal.unrecoverable ? 401 : 503, errorDetails });
  },
};
