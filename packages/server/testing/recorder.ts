import { operatorServices } from '../src/operator-services.ts';
import { connect, createLog, startEmbeddedPostgres, systemClock } from '../src/platform/index.ts';
import { LiveStates, type Recorder } from '../src/record/index.ts';

/** Writes beside a running service, on the database of its data directory, for its first organization. */
export async function withRecorder(
  dataDirectory: string,
  run: (recorder: Recorder, organization: string) => Promise<void>,
): Promise<void> {
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const postgres = await startEmbeddedPostgres({ dataDirectory, role: 'command', say });
  const db = connect(postgres.connection, ({ message }) => say(message));
  try {
    const live = new LiveStates(db, createLog({ LOG_LEVEL: 'warn' }));
    const { recorder } = operatorServices({ db, clock: systemClock, live });
    const { id } = await db.selectFrom('organization').select('id').executeTakeFirstOrThrow();
    await run(recorder, id);
  } finally {
    await db.destroy();
    await postgres.stop();
  }
}
