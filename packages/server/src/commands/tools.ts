import { type OperatorServices, operatorServices } from '../operator-services.ts';
import {
  type Address,
  type Clock,
  connect,
  createLog,
  type Db,
  migrate,
  readSettings,
  type Settings,
  systemClock,
} from '../platform/index.ts';
import { type Actor, LiveStates } from '../record/index.ts';
import { UsageError, withDatabase } from './program.ts';

/** Who commands act as, in the audit log. */
export const operator: Actor = { type: 'system', subtype: 'operator' };

export interface CommandTools extends OperatorServices {
  readonly db: Db;
  readonly clock: Clock;
}

type Action = (tools: CommandTools) => Promise<void>;

/** Runs the action that a command line names, with what it needs for it. */
export async function runAction(
  usage: string,
  actions: Readonly<Record<string, Action>>,
  named: string,
): Promise<void> {
  const settings = readSettings(process.env);
  const action = Object.hasOwn(actions, named) ? actions[named] : undefined;
  if (action === undefined) throw new UsageError(usage);
  await withDatabase(settings, (address) => withTools(settings, address, action));
}

/** Opens what commands work with, on a database that is up to date. */
async function withTools(settings: Settings, address: Address, run: Action): Promise<void> {
  const log = createLog(settings);
  const clock = systemClock;
  const db = connect(address, (error) => log.warn({ err: error }, 'A connection to the database was lost'));
  try {
    await migrate(db);
    await run({ db, clock, ...operatorServices({ db, clock, live: new LiveStates(db, log) }) });
  } finally {
    await db.destroy();
  }
}
