/**
 * A program for tests: uses a data directory as a service or a command until its standard input ends, and says so.
 * `node use-data-directory.ts service|command <data directory>`
 */
import { startEmbeddedPostgres } from '../../../src/platform/embedded-postgres/index.ts';
import type { Report } from './halyard-process.ts';

const [role, dataDirectory] = process.argv.slice(2);
if ((role !== 'service' && role !== 'command') || dataDirectory === undefined) throw new Error('wrong arguments');

const report = (line: Report): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

try {
  const postgres = await startEmbeddedPostgres({ dataDirectory, role, say: (said) => report({ said }) });
  report({ connection: postgres.connection });
  // Also the way out when the test run is killed: nothing stays behind.
  await new Promise((resolve) => process.stdin.once('end', resolve).resume());
  await postgres.stop();
  report({ stopped: true });
} catch (error) {
  report({ refused: (error as Error).message });
  process.exitCode = 1;
}
