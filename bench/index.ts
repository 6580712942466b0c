/**
 * Measures what the project promises, beside a peer or the physical floor in the same run, and prints tables:
 *   npm run bench [-- evaluation | remote-evaluation | compile | statistics | delivery | streams | edge | admin | scale | start …]
 */
import { cpus, totalmem } from 'node:os';
import { endAll, type Halyard, newDataDirectory } from '../packages/server/testing/halyard.ts';
import { benchAdmin } from './admin.ts';
import { benchCompile } from './compile.ts';
import { benchDelivery } from './delivery.ts';
import { benchEdge } from './edge.ts';
import { benchEvaluation } from './evaluation.ts';
import { benchRemoteEvaluation } from './remote-evaluation.ts';
import { benchSavedGroups } from './saved-groups.ts';
import { benchScale } from './scale.ts';
import { benchStart } from './start.ts';
import { benchStatistics } from './statistics.ts';
import { benchStreams } from './streams.ts';
import { startWithFeatures } from './support/features.ts';
import { progress, type Row, table } from './support/rows.ts';

/** Parts that measure a running service share one. */
let running: Promise<Halyard> | undefined;
const directory = await newDataDirectory();
const service = (): Promise<Halyard> => (running ??= startWithFeatures(directory.path));

const parts: Readonly<Record<string, { title: string; measure(): Promise<Row[]> }>> = {
  evaluation: { title: 'Evaluation beside the JavaScript SDK', measure: benchEvaluation },
  'remote-evaluation': {
    title: 'Remote evaluation and OpenFeature',
    measure: async () => benchRemoteEvaluation(await service()),
  },
  compile: { title: 'Compiling payloads', measure: async () => [...benchCompile(), ...benchSavedGroups()] },
  statistics: { title: 'Analysing experiments', measure: benchStatistics },
  delivery: { title: 'SDK payloads beside bare node:http', measure: async () => benchDelivery(await service()) },
  streams: { title: 'Streams beside bare node:http', measure: async () => benchStreams(await service()) },
  edge: { title: 'Edge beside bare node:http', measure: async () => benchEdge(await service()) },
  admin: { title: 'Admin API beside bare node:http', measure: async () => benchAdmin(await service()) },
  scale: { title: 'Many features beside 100', measure: benchScale },
  start: { title: 'Starting', measure: benchStart },
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  progress(`There is no part ${unknown.join(', ')}. Parts: ${Object.keys(parts).join(', ')}`);
  process.exit(2);
}

process.stdout.write(`${machine()}\n`);
try {
  for (const [name, { title, measure }] of Object.entries(parts)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    progress(`\n${title} …`);
    process.stdout.write(`\n${table(title, await measure())}\n`);
  }
} finally {
  await endAll();
  await directory.remove();
}

function machine(): string {
  const [first] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${first?.model ?? 'unknown processor'}, ${memory} GiB, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`;
}
