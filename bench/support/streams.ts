import { connect, type Socket } from 'node:net';

/** Many open streams of one address, as their readers see them. */
export interface OpenStreams {
  /** Milliseconds, on the clock of `performance.now()`, at which each stream had read so many bytes more than before. */
  arrivals(bytes: number): Promise<number[]>;
  close(): void;
}

const atOnce = 100;

/** Opens streams over connections of their own, and resolves when all have been answered. */
export async function openStreams(
  url: string,
  path: string,
  count: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenStreams> {
  const { hostname, port } = new URL(url);
  const streams: Reader[] = [];
  while (streams.length < count) {
    const more = Array.from({ length: Math.min(atOnce, count - streams.length) }, () => new Reader());
    await Promise.all(more.map((reader) => reader.open(hostname, Number(port), path, headers)));
    streams.push(...more);
  }
  return {
    arrivals: (bytes) => Promise.all(streams.map((reader) => reader.after(bytes))),
    close: () => {
      for (const reader of streams) reader.close();
    },
  };
}

/** Reads a stream and forgets what it reads: all that counts is how much has come, and when. */
class Reader {
  #socket: Socket | null = null;
  #awaited = 0;
  #arrived: (at: number) => void = () => undefined;

  open(host: string, port: number, path: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const lines = Object.entries({ host: `${host}:${port}`, ...headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    const socket = connect(port, host, () => socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`));
    this.#socket = socket;
    const answered = Promise.withResolvers<void>();
    socket.on('error', answered.reject);
    socket.on('data', (chunk) => {
      answered.resolve();
      if (this.#awaited <= 0) return;
      this.#awaited -= chunk.length;
      if (this.#awaited <= 0) this.#arrived(performance.now());
    });
    return answered.promise;
  }

  after(bytes: number): Promise<number> {
    this.#awaited = bytes;
    return new Promise((resolve) => {
      this.#arrived = resolve;
    });
  }

  close(): void {
    this.#socket?.destroy();
  }
}
