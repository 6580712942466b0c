import { updateFeature } from '@halyard/contract';
import { payloadOf } from './delivery.ts';
import { newConnection, newFeature } from './objects.ts';
import type { TestService } from './service.ts';

/** A connection with one feature, whose payload has settled. */
export async function settledConnection(service: TestService) {
  const { key, id: connection } = await newConnection(service.admin);
  const { id } = await newFeature(service, { valueType: 'string', defaultValue: 'start' });
  await payloadOf(service.url, key, await service.version());
  /** Gives the feature another value. */
  const set = (defaultValue: string) => service.admin.answer(updateFeature, { params: { id }, body: { defaultValue } });
  return { key, id, connection, set };
}

/** A server-sent event as it came. */
interface ReceivedEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** An open stream of a connection. */
export interface TestStream {
  readonly response: Response;
  /** Everything that has come so far, as text. */
  text(): string;
  /** The next event that is no heartbeat. */
  next(): Promise<ReceivedEvent>;
  /** How many events have come that were not asked for yet. */
  waiting(): number;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  close(): void;
}

const patience = 5_000;

export const openStream = (url: string, key: string, headers: Record<string, string> = {}): Promise<TestStream> =>
  openStreamAt(`${url}/sub/${key}`, headers);

/** A stream of whatever kind. */
export async function openStreamAt(address: string, headers: Record<string, string> = {}): Promise<TestStream> {
  const ending = new AbortController();
  const response = await fetch(address, { headers, signal: ending.signal });
  const events: ReceivedEvent[] = [];
  let text = '';
  let wake: () => void = () => undefined;

  const take = (block: string): void => {
    const field = (name: string) =>
      block
        .split('\n')
        .filter((line) => line.startsWith(`${name}:`))
        .map((line) => line.slice(name.length + 1).replace(/^ /, ''))
        .join('\n');
    if (!block.includes('event:')) return;
    events.push({ event: field('event'), id: block.includes('id:') ? field('id') : undefined, data: field('data') });
    wake();
  };

  const read = async (): Promise<void> => {
    if (response.body === null) return;
    let rest = '';
    try {
      for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        const blocks = (rest + chunk).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) take(block);
      }
    } catch (error) {
      if (!ending.signal.aborted) throw error;
    }
  };

  return {
    response,
    text: () => text,
    waiting: () => events.length,
    ended: read(),
    close: () => ending.abort(),
    async next() {
      const until = Date.now() + patience;
      for (;;) {
        const event = events.shift();
        if (event !== undefined) return event;
        const left = until - Date.now();
        if (left <= 0) throw new Error(`No event came within ${patience} ms. So far: ${text}`);
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, left);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    },
  };
}
