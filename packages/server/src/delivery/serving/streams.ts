import type { ServerResponse } from 'node:http';

/** One open stream of a subscriber. */
interface Stream {
  readonly response: ServerResponse;
  /** Second of the wheel at which it is closed. */
  readonly endsAt: number;
  readonly beatsAt: number;
  /** Id of the last event that the subscriber has. */
  lastId: number;
}

/** An event that streams carry: bytes in parts, so that a payload is in memory once however many read it. */
export interface StreamEvent {
  readonly id: number;
  readonly parts: readonly Buffer[];
  readonly size: number;
}

const heartbeatSeconds = 30;
const heartbeat = Buffer.from('data:\n\n');
const mostUnread = 1_000_000;

/** Makes the event of a new payload. */
export function payloadEvent(id: number, members: Buffer): StreamEvent {
  const parts = [Buffer.from(`event: features\nid: ${id}\ndata: {`), members, Buffer.from('\n\n')];
  return { id, parts, size: members.length };
}

/** Makes the event that tells a client to ask for its evaluation again. */
export const askAgainEvent = (id: number): StreamEvent => ({
  id,
  parts: [Buffer.from(`event: features-updated\nid: ${id}\ndata:\n\n`)],
  size: 0,
});

/** The open streams of one connection. */
export class Streams {
  readonly #open = new Set<Stream>();

  get size(): number {
    return this.#open.size;
  }

  add(stream: Stream): void {
    this.#open.add(stream);
    stream.response.on('close', () => this.#open.delete(stream));
  }

  /** Sends the event to everyone who has not got it, or a newer one. */
  broadcast(event: StreamEvent): void {
    for (const stream of this.#open) send(stream, event);
  }

  close(): void {
    for (const { response } of this.#open) response.end();
  }

  /** Keeps streams alive, ends those whose time is over, and drops those that no longer read. */
  tick(second: number): void {
    for (const stream of this.#open) {
      if (second >= stream.endsAt) stream.response.end();
      else if (second % heartbeatSeconds === stream.beatsAt) write(stream, [heartbeat], 0);
    }
  }
}

export function send(stream: Stream, event: StreamEvent): void {
  if (event.id <= stream.lastId) return;
  stream.lastId = event.id;
  write(stream, event.parts, event.size);
}

/** Who leaves more unread than the event itself and a million bytes is cut off: the SDK comes back and starts afresh. */
function write({ response }: Stream, parts: readonly Buffer[], size: number): void {
  if (response.writableLength > size + mostUnread) {
    response.destroy();
    return;
  }
  response.cork();
  for (const part of parts) response.write(part);
  response.uncork();
}

/** Where a new stream stands. */
export const newStream = (
  response: ServerResponse,
  lastId: number,
  second: number,
  lifetimeSeconds: number,
): Stream => ({
  response,
  lastId,
  // Spread over the last tenth of the lifetime, so that many that came together do not come back together.
  endsAt: second + Math.ceil(lifetimeSeconds * (0.9 + Math.random() * 0.1)),
  beatsAt: second % heartbeatSeconds,
});
