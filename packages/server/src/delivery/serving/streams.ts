import type { ServerResponse } from 'node:http';

/** The words in which subscribers of one kind are told the events of a connection. */
export interface Dialect {
  /** Keeps a stream alive. */
  readonly heartbeat: Buffer;
  phrase(event: StreamEvent): StreamEvent;
}

/** One open stream of a subscriber. */
interface Stream {
  readonly response: ServerResponse;
  readonly dialect: Dialect;
  /** Second of the wheel at which it is closed. */
  readonly endsAt: number;
  readonly beatsAt: number;
  /** Id of the last event that the subscriber has. */
  lastId: number;
}

/** An event that streams carry: in memory once, and written in one piece, however many read it. */
export interface StreamEvent {
  readonly id: number;
  readonly bytes: Buffer;
}

const heartbeatSeconds = 30;
const graceSeconds = 10;
const mostUnread = 1_000_000;

/** What SDKs are told: events as they are made. */
export const sdkDialect: Dialect = { heartbeat: Buffer.from('data:\n\n'), phrase: (event) => event };

/** Makes the event of a new payload. */
export function payloadEvent(id: number, members: Buffer): StreamEvent {
  // Most payloads have no stream when they change: put together for the first that has.
  let bytes: Buffer | undefined;
  return {
    id,
    get bytes() {
      bytes ??= Buffer.concat([Buffer.from(`event: features\nid: ${id}\ndata: {`), members, Buffer.from('\n\n')]);
      return bytes;
    },
  };
}

/** Makes the event that tells a client to ask for its evaluation again. */
export const askAgainEvent = (id: number): StreamEvent => ({
  id,
  bytes: Buffer.from(`event: features-updated\nid: ${id}\ndata:\n\n`),
});

/** The open streams of one connection. */
export class Streams {
  readonly #open = new Map<ServerResponse, Stream>();
  /** One for all streams: there may be very many. */
  readonly #forget: (this: ServerResponse) => void;

  constructor() {
    const open = this.#open;
    this.#forget = function forget() {
      open.delete(this);
    };
  }

  get size(): number {
    return this.#open.size;
  }

  add(stream: Stream): void {
    this.#open.set(stream.response, stream);
    stream.response.on('close', this.#forget);
  }

  /** Sends the event to everyone who has not got it, or a newer one. */
  broadcast(event: StreamEvent): void {
    for (const stream of this.#open.values()) send(stream, event);
  }

  close(): void {
    for (const response of this.#open.keys()) response.end();
  }

  /** Keeps streams alive, ends those whose time is over, and drops those that no longer read. */
  tick(second: number): void {
    for (const stream of this.#open.values()) {
      // A reader that is gone without a word never takes the end of its stream.
      if (second >= stream.endsAt + graceSeconds) stream.response.destroy();
      else if (second >= stream.endsAt) stream.response.end();
      else if (second % heartbeatSeconds === stream.beatsAt) write(stream, stream.dialect.heartbeat);
    }
  }
}

export function send(stream: Stream, event: StreamEvent): void {
  if (event.id <= stream.lastId) return;
  stream.lastId = event.id;
  write(stream, stream.dialect.phrase(event).bytes);
}

/** Who leaves more unread than the event itself and a million bytes is cut off: the SDK comes back and starts afresh. */
function write({ response }: Stream, bytes: Buffer): void {
  if (response.writableLength > bytes.length + mostUnread) response.destroy();
  else response.write(bytes);
}

/** Where a new stream stands. */
export const newStream = (
  response: ServerResponse,
  lastId: number,
  second: number,
  lifetimeSeconds: number,
  dialect = sdkDialect,
): Stream => ({
  response,
  dialect,
  lastId,
  // Spread over the last tenth of the lifetime, so that many that came together do not come back together.
  endsAt: second + Math.ceil(lifetimeSeconds * (0.9 + Math.random() * 0.1)),
  beatsAt: second % heartbeatSeconds,
});
