import { postSdkConnection, toggleFeature } from '@halyard/contract';
import { type Halyard, newDataDirectory, startEdge } from '../packages/server/testing/halyard.ts';
import { settledTag } from './delivery.ts';
import { featureId } from './support/features.ts';
import { besideBareServer } from './support/load.ts';
import { residentMegabytes } from './support/memory.ts';
import { beside, figure, type Row, throughput } from './support/rows.ts';

/** An edge and the service that it follows at the same load, each beside a bare server that sends the same bytes. */
export async function benchEdge({ url, admin }: Halyard): Promise<Row[]> {
  const body = { name: 'Bench of the edge', language: 'javascript', environment: 'production' } as const;
  const { sdkConnection } = await admin.call(postSdkConnection, { body });
  const directory = await newDataDirectory();
  const edge = await startEdge({
    HALYARD_DATA_DIR: directory.path,
    HALYARD_UPSTREAM: url,
    HALYARD_EDGE_CLIENT_KEYS: sdkConnection.key,
  });
  try {
    const path = `/api/features/${sdkConnection.key}`;
    const rows: Row[] = [];
    for (const [who, where] of [
      ['edge', edge.url],
      ['service', url],
    ] as const) {
      const etag = await settledTag(`${where}${path}`);
      for (const [what, headers] of [
        ['payload of 100 features, gzip', { 'accept-encoding': 'gzip' }],
        ['payload that the client has: 304', { 'if-none-match': etag }],
      ] as const) {
        const name = `${who}: ${what}`;
        rows.push(throughput(name, await besideBareServer(name, where, { path, headers }), 0.85));
      }
      const name = `${who}: the same, with a toggle each second`;
      const toggling = toggleEachSecond(admin);
      rows.push(beside(name, await besideBareServer(name, where, { path, headers: { 'accept-encoding': 'gzip' } })));
      await toggling.stop();
    }
    return [...rows, figure('edge: memory after the load', 'MB', residentMegabytes(edge.processId))];
  } finally {
    await edge.end('SIGTERM');
    await directory.remove();
  }
}

function toggleEachSecond(admin: Halyard['admin']): { stop(): Promise<void> } {
  let on = true;
  let toggling: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    on = !on;
    const body = { environments: { production: on } };
    toggling = toggling.then(() => admin.call(toggleFeature, { params: { id: featureId(1) }, body }));
  }, 1_000);
  return {
    async stop() {
      clearInterval(timer);
      await toggling;
    },
  };
}
