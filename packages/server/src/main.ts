import { type App, startApp } from './app.ts';
import { endOnRefusal } from './commands/program.ts';
import {
  createLog,
  readBuild,
  readSettings,
  type Settings,
  startEmbeddedPostgres,
  systemClock,
} from './platform/index.ts';

/** Starts the service and runs it until it is told to stop. */
const say = (line: string) => process.stdout.write(`${line}\n`);

const stopped = new Promise<string>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve(signal));
});

await endOnRefusal(async () => {
  const settings = readSettings(process.env);
  const log = createLog(settings);
  const postgres =
    settings.DATABASE_URL === undefined
      ? await startEmbeddedPostgres({ dataDirectory: settings.HALYARD_DATA_DIR, role: 'service', say })
      : null;
  try {
    const address = postgres?.connection ?? settings.DATABASE_URL ?? '';
    const app = await startApp({ settings, address, build: readBuild(), clock: systemClock, log });
    for (const line of firstWords(app.firstStart, settings)) say(line);
    say(`Halyard is ready at ${app.url}`);
    say(`Stopping (${await stopped}) …`);
    await app.stop();
  } finally {
    await postgres?.stop();
  }
  say('Stopped.');
});

/** What the person who starts the service for the first time needs to know. */
function firstWords(
  start: App['firstStart'],
  { SECRET_API_KEY: key, MULTI_ORGANIZATION: several }: Settings,
): string[] {
  if (start === 'not first') return [];
  if (start === 'nobody named') {
    return [
      'There is no organization yet. Start again with HALYARD_ADMIN_EMAIL=you@example.com, or with SECRET_API_KEY=<a key of yours>,',
      'or make one while this runs: npm run organizations -- create --name "Acme" --owner-email you@example.com --admin',
    ];
  }
  if ('databaseAway' in start) {
    return [
      `The database is away (${start.databaseAway}): SDKs are served what was last known. It is tried again and again.`,
    ];
  }
  return [
    `Made the organization ${start.organization} with the environment production, and the admin ${start.email}.`,
    key !== undefined && !several
      ? 'The API takes the key that SECRET_API_KEY gives; for more of them: npm run keys -- create'
      : 'Make a secret key for the API: npm run keys -- create --role admin --description "My first key"',
  ];
}
