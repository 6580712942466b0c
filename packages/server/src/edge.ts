import { setTimeout as pause } from 'node:timers/promises';
import { endOnRefusal } from './commands/program.ts';
import { startEdge } from './edge-app.ts';
import { createLog, readSettings, systemClock } from './platform/index.ts';

/** Starts an edge and runs it until it is told to stop. */
const say = (line: string) => process.stdout.write(`${line}\n`);

const stopped = new Promise<string>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve(signal));
});
const patience = 2_000;
const pauseBetweenLooks = 50;

await endOnRefusal(async () => {
  const settings = readSettings(process.env);
  const edge = await startEdge({ settings, clock: systemClock, log: createLog(settings) });
  const waiting = new AbortController();
  void tellWhenReady(waiting.signal);
  say(`Stopping (${await stopped}) …`);
  waiting.abort();
  await edge.stop();
  say('Stopped.');

  /** Ready is an edge that can serve something. One that cannot, because its upstream is away, says that it waits. */
  async function tellWhenReady(signal: AbortSignal): Promise<void> {
    const patient = Date.now() + patience;
    let told = false;
    while (!edge.ready) {
      if (!told && Date.now() >= patient) {
        say(`The edge listens at ${edge.url} and waits for ${edge.upstream}: it has nothing to serve yet.`);
        told = true;
      }
      await pause(pauseBetweenLooks, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
    say(`Halyard edge is ready at ${edge.url}`);
  }
});
