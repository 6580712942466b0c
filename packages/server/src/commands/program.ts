import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import {
  type Address,
  DatabaseError,
  DataDirectoryError,
  isDatabaseAway,
  Refusal,
  SettingError,
  type Settings,
  startEmbeddedPostgres,
} from '../platform/index.ts';

/** What the programs that an operator starts have in common: settings, the database, and how they end when refused. */

const tell = (line: string) => process.stderr.write(`${line}\n`);

/** How a command is called wrong; the message says how it is called right. */
export class UsageError extends Error {}

/** Errors that the operator can mend: one clear line, no stack. */
const mendable = [SettingError, DataDirectoryError, DatabaseError, UsageError, Refusal];

/** Runs a program. What the operator can mend ends it with one line and code 1; anything else is a defect and shows its stack. */
export async function endOnRefusal(program: () => Promise<void>): Promise<void> {
  try {
    await program();
  } catch (error) {
    process.exitCode = 1;
    if (mendable.some((kind) => error instanceof kind)) tell((error as Error).message);
    else if (isDatabaseAway(error)) tell(`The database cannot be reached: ${(error as Error).message}.`);
    else throw error;
  }
}

/** Runs a command on the database: on that of a running service where there is one, else it is started for as long. */
export async function withDatabase(settings: Settings, run: (address: Address) => Promise<void>): Promise<void> {
  if (settings.DATABASE_URL !== undefined) return run(settings.DATABASE_URL);
  const postgres = await startEmbeddedPostgres({
    dataDirectory: settings.HALYARD_DATA_DIR,
    role: 'command',
    say: tell,
  });
  try {
    await run(postgres.connection);
  } finally {
    await postgres.stop();
  }
}

/**
 * The action and options of a command line, such as `create --role admin`.
 *
 * @param words how many words may follow an action; none where it is not said
 */
export function readCommand<Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
  words: Readonly<Record<string, number>> = {},
) {
  const { positionals, values } = parsed(usage, options);
  const [action = '', ...rest] = positionals;
  const surplus = rest.slice((Object.hasOwn(words, action) ? words[action] : undefined) ?? 0);
  if (surplus.length > 0) throw new UsageError(`${surplus.join(' ')}: nothing is known of that here.\n${usage}`);
  return { action, rest, values };
}

function parsed<Options extends ParseArgsOptionsConfig>(usage: string, options: Options) {
  try {
    return parseArgs({ args: process.argv.slice(2), options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${usage}`);
  }
}
