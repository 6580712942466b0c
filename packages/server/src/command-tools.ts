import { type Keys, keyService } from './access/index.ts';
import { type Organizations, organizationService } from './organization/index.ts';
import {
  type Address,
  type Clock,
  connect,
  createLog,
  type Db,
  idMaker,
  migrate,
  type NewId,
  type Settings,
  systemClock,
} from './platform/index.ts';
import { type Actor, createRecorder, LiveStates } from './record/index.ts';
import { defaultAttributes } from './targeting/index.ts';

/** Who commands act as, in the audit log. */
export const operator: Actor = { type: 'system', subtype: 'operator' };

export interface CommandTools {
  readonly db: Db;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly keys: Keys;
  readonly organizations: Organizations;
}

/** Opens what commands work with, on a database that is up to date. */
export async function withTools(
  settings: Settings,
  address: Address,
  run: (tools: CommandTools) => Promise<void>,
): Promise<void> {
  const log = createLog(settings);
  const clock = systemClock;
  const db = connect(address, (error) => log.warn({ err: error }, 'A connection to the database was lost'));
  try {
    await migrate(db);
    const newId = idMaker(clock);
    const recorder = createRecorder({ db, clock, newId, live: new LiveStates(db, log) });
    await run({
      db,
      clock,
      newId,
      keys: keyService({ db, clock, newId }),
      organizations: organizationService({ clock, newId, recorder, defaults: defaultAttributes }),
    });
  } finally {
    await db.destroy();
  }
}
