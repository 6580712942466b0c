import { getFeature, postFeature, type ResponseOf, updateFeature } from '@halyard/contract';
import { sql } from 'kysely';
import { connect, startEmbeddedPostgres } from '../packages/server/src/platform/index.ts';
import type { Client } from '../packages/server/testing/client.ts';
import { payloadOf } from '../packages/server/testing/delivery.ts';
import { type Halyard, newDataDirectory, startHalyard } from '../packages/server/testing/halyard.ts';
import { newConnection } from '../packages/server/testing/objects.ts';

/**
 * Kills the service while it writes, starts it again, and compares: every write that was acknowledged is there, and none
 * is there by half. In every second round its PostgreSQL is killed with it.
 *
 *   node e2e/kill-during-writes.ts [rounds]
 */

const writers = 4;

/** What a writer knows of its feature. Each write says one number in three places. */
interface Written {
  readonly id: string;
  acknowledged: number;
  /** Asked for, and neither acknowledged nor refused: it may have landed or not. */
  pending: number | null;
}

/** What the rounds came to. */
export interface Outcome {
  readonly rounds: number;
  /** Writes that the service had answered before it was killed. */
  readonly acknowledged: number;
  /** Writes that were under way when it was killed, and of these those that had landed. */
  readonly interrupted: number;
  readonly landed: number;
  /** What was not as it should be. */
  readonly findings: readonly string[];
}

/** @param say takes a line on each round */
export async function killDuringWrites(rounds: number, say: (line: string) => void): Promise<Outcome> {
  const directory = await newDataDirectory();
  const findings: string[] = [];
  let acknowledged = 0;
  let interrupted = 0;
  let landed = 0;
  let halyard = await start(directory.path);
  const connection = await newConnection(halyard.admin);
  const features = Array.from(
    { length: writers },
    (_, index): Written => ({ id: `written-${index}`, acknowledged: 0, pending: null }),
  );

  try {
    for (let round = 1; round <= rounds; round++) {
      const before = acknowledged;
      const writing = features.map((feature) => write(halyard.admin, feature));
      await new Promise((resolve) => setTimeout(resolve, 200 + Math.random() * 800));
      const withPostgres = round % 2 === 0;
      if (withPostgres) await killPostgres(directory.path);
      await halyard.end('SIGKILL');
      acknowledged += (await Promise.all(writing)).reduce((sum, count) => sum + count, 0);

      halyard = await start(directory.path);
      const found: string[] = [];
      for (const feature of features) {
        const now = await numberOf(halyard.admin, feature.id, found);
        if (feature.pending !== null) {
          interrupted++;
          if (now === feature.pending) landed++;
        }
        if (now !== feature.acknowledged && now !== feature.pending) {
          found.push(`${feature.id} is at ${now}; acknowledged was ${feature.acknowledged}`);
        }
        feature.acknowledged = now;
        feature.pending = null;
      }
      found.push(
        ...(await payloadFindings(halyard, connection.key, features)),
        ...(await databaseFindings(directory.path)),
      );
      findings.push(...found.map((finding) => `Round ${round}: ${finding}`));
      const what = withPostgres ? 'the service and its PostgreSQL' : 'the service';
      say(
        `Round ${round}: killed ${what} after ${acknowledged - before} writes: ${found.length === 0 ? 'all there' : found.join('; ')}`,
      );
    }
    await halyard.end('SIGTERM');
  } finally {
    await halyard.end('SIGKILL');
    await directory.remove();
  }
  return { rounds, acknowledged, interrupted, landed, findings };
}

const start = (HALYARD_DATA_DIR: string): Promise<Halyard> => startHalyard({ HALYARD_DATA_DIR, LOG_LEVEL: 'fatal' });

/** Writes ever higher numbers until the service does not answer any more. Resolves with how many it has acknowledged. */
async function write(admin: Client, feature: Written): Promise<number> {
  for (let count = 0; ; count++) {
    const next = feature.acknowledged + 1;
    feature.pending = next;
    const value = String(next);
    const content = {
      description: value,
      defaultValue: value,
      rules: [{ type: 'force' as const, value, allEnvironments: true }],
    };
    let response: Response;
    try {
      response =
        next === 1
          ? await admin.request(postFeature, {
              body: { id: feature.id, valueType: 'number', owner: 'admin@localhost', ...content },
            })
          : await admin.request(updateFeature, { params: { id: feature.id }, body: content });
    } catch {
      return count;
    }
    // With its PostgreSQL gone first, it may still refuse: nothing was written then, as far as it knows.
    if (response.status !== 200) return count;
    feature.acknowledged = next;
    feature.pending = null;
  }
}

/** The number that a feature says everywhere; 0: there is none. */
async function numberOf(admin: Client, id: string, findings: string[]): Promise<number> {
  const response = await admin.request(getFeature, { params: { id } });
  if (response.status === 404) return 0;
  const { feature } = (await response.json()) as ResponseOf<typeof getFeature>;
  const [rule] = feature.rules;
  const said = [feature.description, feature.defaultValue, rule?.type === 'force' ? rule.value : 'no rule'];
  if (new Set(said).size !== 1) findings.push(`${id} is there by half: ${said.join(', ')}`);
  return Number(feature.defaultValue);
}

/** SDKs get what the API shows. */
async function payloadFindings(halyard: Halyard, key: string, features: readonly Written[]): Promise<string[]> {
  const payload = await payloadOf(halyard.url, key, 1);
  return features
    .filter(({ acknowledged }) => acknowledged > 0)
    .map(({ id, acknowledged }) => ({ id, acknowledged, served: payload.features[id]?.defaultValue }))
    .filter(({ acknowledged, served }) => served !== acknowledged)
    .map(({ id, acknowledged, served }) => `SDKs get ${JSON.stringify(served)} for ${id} instead of ${acknowledged}`);
}

/** What belongs together in the database is there together. */
const rules: Readonly<Record<string, string>> = {
  'a version without what it published': `
    select version from configuration_version where not exists (
      select from published_state where published_state.version = configuration_version.version
        and published_state.organization = configuration_version.organization)`,
  'something published in no version': `
    select version from published_state where not exists (
      select from configuration_version where configuration_version.version = published_state.version
        and configuration_version.organization = published_state.organization)`,
  'a gap between versions': `
    select organization from configuration_version group by organization
    having max(version) - min(version) + 1 <> count(*)`,
  'an organization that is not at its last version': `
    select organization from current_version join configuration_version using (organization)
    group by organization, current_version.version having current_version.version <> max(configuration_version.version)`,
  'an object that is not at its last state': `
    select id from live_state join published_state using (organization, kind, id)
    group by organization, kind, id, live_state.version having live_state.version <> max(published_state.version)`,
  'a feature with other than one revision for each state': `
    select id from published_state where kind = 'feature' group by organization, id
    having count(*) <> (select count(*) from revision where revision.entity = published_state.id)`,
  'a feature with other than one audit entry for each state': `
    select id from published_state where kind = 'feature' group by organization, id
    having count(*) <> (select count(*) from audit where audit.entity_kind = 'feature' and audit.entity_id = published_state.id)`,
};

async function databaseFindings(dataDirectory: string): Promise<string[]> {
  const postgres = await startEmbeddedPostgres({ dataDirectory, role: 'command', say: () => undefined });
  const db = connect(postgres.connection, () => undefined);
  try {
    const findings: string[] = [];
    for (const [finding, query] of Object.entries(rules)) {
      const { rows } = await sql.raw(query).execute(db);
      if (rows.length > 0) findings.push(`${finding}: ${JSON.stringify(rows.slice(0, 3))}`);
    }
    return findings;
  } finally {
    await db.destroy();
    await postgres.stop();
  }
}

/** Kills the processes of a PostgreSQL as a crash of the machine would. */
async function killPostgres(dataDirectory: string): Promise<void> {
  const postgres = await startEmbeddedPostgres({ dataDirectory, role: 'command', say: () => undefined });
  const db = connect(postgres.connection, () => undefined);
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity`.execute(db);
  for (const { pid } of rows) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
  await db.destroy();
  await postgres.stop();
}

if (import.meta.main) {
  const rounds = Number(process.argv[2] ?? 20);
  const say = (line: string) => process.stdout.write(`${line}\n`);
  const { acknowledged, interrupted, landed, findings } = await killDuringWrites(rounds, say);
  say(`${acknowledged} writes acknowledged; ${interrupted} under way at a kill, of which ${landed} had landed.`);
  say(findings.length === 0 ? 'No acknowledged write was lost, and none is there by half.' : findings.join('\n'));
  process.exitCode = findings.length === 0 ? 0 : 1;
}
