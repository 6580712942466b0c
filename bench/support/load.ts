import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { median, progress } from './rows.ts';

/** An answer as it goes over the wire. */
export interface Answer {
  readonly status: number;
  /** Names and values in turn, as `writeHead` takes them. */
  readonly headers: string[];
  readonly body: string;
}

export interface Target {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Makes it a POST. */
  readonly body?: string;
}

const connections = 32;
const seconds = 3;
const rounds = 5;

/**
 * Requests a second that a service answers, and that a bare `node:http` server answers when it sends the very same bytes.
 */
export async function besideBareServer(
  name: string,
  url: string,
  target: Target,
): Promise<{ ours: number; peer: number }> {
  const bare = await startBareServer(await answerOf(url, target));
  try {
    return await besideEachOther(name, { ...target, url }, { ...target, url: bare.url });
  } finally {
    bare.stop();
  }
}

type At = Target & { readonly url: string };

/**
 * Requests a second of two servers. Rounds of the two alternate, so that a busy machine is busy for both; the client shares
 * the machine with them.
 */
export async function besideEachOther(name: string, one: At, other: At): Promise<{ ours: number; peer: number }> {
  const ours: number[] = [];
  const peer: number[] = [];
  await load(one.url, one, 1);
  await load(other.url, other, 1);
  for (let round = 1; round <= rounds; round++) {
    ours.push(await load(one.url, one, seconds));
    peer.push(await load(other.url, other, seconds));
    progress(
      `  ${name}: round ${round} of ${rounds}, ${Math.round(ours.at(-1) ?? 0)} req/s beside ${Math.round(peer.at(-1) ?? 0)}`,
    );
  }
  return { ours: median(ours), peer: median(peer) };
}

async function load(url: string, { path, headers, body }: Target, duration: number): Promise<number> {
  const posted = body === undefined ? {} : { method: 'POST' as const, body };
  const result = await autocannon({ url: `${url}${path}`, headers: { ...headers }, connections, duration, ...posted });
  if (result.errors > 0 || result.timeouts > 0) throw new Error(`${url}${path}: ${result.errors} requests failed`);
  // 304 counts as neither success nor failure there.
  if (result['4xx'] + result['5xx'] > 0)
    throw new Error(`${url}${path} refused ${result['4xx'] + result['5xx']} requests`);
  return result.requests.average;
}

/** The bytes of an answer, with the headers that the service gives it; those of the connection are the server's own. */
async function answerOf(url: string, { path, headers, body: sent }: Target): Promise<Answer> {
  const asked = request(`${url}${path}`, { headers, method: sent === undefined ? 'GET' : 'POST' });
  asked.end(sent);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray());
  const own = new Set(['date', 'connection', 'keep-alive']);
  const pairs = Array.from({ length: response.rawHeaders.length / 2 }, (_, index) =>
    response.rawHeaders.slice(index * 2, index * 2 + 2),
  );
  return {
    status: response.statusCode ?? 0,
    headers: pairs.filter(([name = '']) => !own.has(name.toLowerCase())).flat(),
    body: body.toString('base64'),
  };
}

async function startBareServer(answer: Answer): Promise<{ url: string; stop(): void }> {
  const program = fileURLToPath(new URL('bare-server.ts', import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(answer));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { url: line.toString().trim(), stop: () => child.kill() };
}
