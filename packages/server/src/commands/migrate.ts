import { connect, migrate, readSettings } from '../platform/index.ts';
import { endOnRefusal, withDatabase } from './program.ts';

/** Brings the database up to date without starting the service. */
const say = (line: string) => process.stdout.write(`${line}\n`);

await endOnRefusal(() =>
  withDatabase(readSettings(process.env), async (address) => {
    const db = connect(address, () => undefined);
    try {
      const applied = await migrate(db);
      say(applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}.`);
    } finally {
      await db.destroy();
    }
  }),
);
