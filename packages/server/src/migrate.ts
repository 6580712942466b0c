import { endOnRefusal, readProcessSettings, withDatabase } from './operator.ts';
import { connect, migrate } from './platform/index.ts';

/** Brings the database up to date without starting the service. */
const settings = readProcessSettings();
const say = (line: string) => process.stdout.write(`${line}\n`);

await endOnRefusal(() =>
  withDatabase(settings, async (address) => {
    const db = connect(address, () => undefined);
    try {
      const applied = await migrate(db);
      say(applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}.`);
    } finally {
      await db.destroy();
    }
  }),
);
