/**
 * Remote evaluation against the published one, in one process and on the same payloads and users: from the parsed body and
 * the loaded payload to the bytes of the answer. And the routes beside a bare server that sends the same bytes.
 */
import { evaluateFeatures } from '@growthbook/proxy-eval';
import { postSdkConnection } from '@halyard/contract';
import { compilePayload, type FeatureDefinition, remoteEvaluation } from '../packages/evaluation/src/index.ts';
import type { Halyard } from '../packages/server/testing/halyard.ts';
import { featureCount, featureId } from './support/features.ts';
import { besideBareServer } from './support/load.ts';
import { median, type Row, throughput } from './support/rows.ts';

type Features = Readonly<Record<string, FeatureDefinition>>;
type Attributes = Readonly<Record<string, unknown>>;

const FEATURES = 1_000;
const USERS = 64;
const ROUNDS = 9;

const numbered = (make: (index: number) => FeatureDefinition): Features =>
  Object.fromEntries(Array.from({ length: FEATURES }, (_, index) => [`feature-${index}`, make(index)]));

const experiment = (index: number): FeatureDefinition => ({
  defaultValue: 'control',
  rules: [
    {
      variations: ['control', 'treatment'],
      weights: [0.5, 0.5],
      coverage: 1,
      key: `experiment-${index}`,
      meta: [{ key: '0' }, { key: '1' }],
      seed: `seed-${index}`,
      hashAttribute: 'id',
      hashVersion: 2,
      phase: '0',
    },
  ],
});

/** Of 20 features, 6 have no rules, 8 a condition, 5 a rollout, and one is an experiment. */
const MIXED = numbered((index) => {
  const kind = index % 20;
  if (kind < 6) return { defaultValue: index % 2 === 0 };
  if (kind < 12) {
    const condition = { country: { $in: ['DE', 'FR', `X${index}`] }, plan: 'enterprise' };
    return { defaultValue: 'control', rules: [{ condition, force: 'beta' }] };
  }
  if (kind < 14) {
    const force = { limit: 20, labels: ['a'] };
    return { defaultValue: { limit: 10, labels: ['a', 'b'] }, rules: [{ condition: { country: 'DE' }, force }] };
  }
  if (kind < 19) {
    const rollout = { force: true, coverage: 0.25, hashAttribute: 'id', seed: `seed-${index}`, hashVersion: 2 };
    return { defaultValue: false, rules: [rollout] };
  }
  return experiment(index);
});

/** Measures ours and the published one in process, then our routes. Takes some two minutes. */
export async function benchRemoteEvaluation({ url, admin }: Halyard): Promise<Row[]> {
  const connection = { name: 'Bench', language: 'javascript', environment: 'production' } as const;
  const attributes = { country: 'DE', plan: 'enterprise' };

  const remote = await admin.call(postSdkConnection, { body: { ...connection, remoteEvalEnabled: true } });
  const values = {
    path: `/api/eval/${remote.sdkConnection.key}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ attributes: { ...attributes, id: 'u1' } }),
  };
  const plain = await admin.call(postSdkConnection, { body: connection });
  const flags = {
    path: '/ofrep/v1/evaluate/flags',
    headers: { 'content-type': 'application/json', 'x-api-key': plain.sdkConnection.key },
    body: JSON.stringify({ context: { ...attributes, targetingKey: 'u1' } }),
  };
  const one = { ...flags, path: `${flags.path}/${featureId(0)}` };
  const rows: Row[] = [];
  for (const [name, target] of [
    [`remote evaluation of ${featureCount} features`, values],
    [`OpenFeature, ${featureCount} flags`, flags],
    ['OpenFeature, one flag', one],
  ] as const) {
    await isWhole(url, target);
    // Without an aim: a bare server evaluates nothing.
    rows.push({ ...throughput(name, await besideBareServer(name, url, target), 0), aim: '', reached: null });
  }
  // At last: they keep this process too busy for open connections.
  return [
    await evaluationRow('1,000 features of every kind', MIXED, 5),
    await evaluationRow('1,000 experiments, everybody in', numbered(experiment), null),
    ...rows,
  ];
}

/** Waits until the service answers with all features. */
async function isWhole(url: string, { path, headers, body }: { path: string; headers: object; body: string }) {
  const wanted = path.endsWith(featureId(0)) ? featureId(0) : featureId(featureCount - 1);
  for (;;) {
    const response = await fetch(`${url}${path}`, { method: 'POST', headers: { ...headers }, body });
    if ((await response.text()).includes(`"${wanted}"`)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function evaluationRow(name: string, features: Features, aim: number | null): Promise<Row> {
  const payload = { features, dateUpdated: '2026-01-31T09:00:00.000Z' };
  const evaluate = remoteEvaluation(payload, compilePayload(payload));
  const ours = async (attributes: Attributes) => Buffer.from(evaluate({ attributes })).length;
  const peer = async (attributes: Attributes) => {
    const given = { payload, attributes: { ...attributes }, forcedVariations: {}, forcedFeatures: new Map(), url: '' };
    return Buffer.from(JSON.stringify(await evaluateFeatures(given))).length;
  };
  const times: { ours: number[]; peer: number[] } = { ours: [], peer: [] };
  await Promise.all([timed(ours), timed(peer)]);
  for (let round = 0; round < ROUNDS; round++) {
    times.ours.push(await timed(ours));
    times.peer.push(await timed(peer));
  }
  const measured = { ours: median(times.ours), peer: median(times.peer) };
  const ratio = measured.peer / measured.ours;
  return {
    name,
    ...measured,
    unit: 'µs',
    ratio,
    aim: aim === null ? '' : `≥ ${aim} ×`,
    reached: aim === null ? null : ratio >= aim,
  };
}

/** What the answers were long; keeping it keeps them from being optimized away. */
let kept = 0;

/** Microseconds for one user. */
async function timed(answer: (attributes: Attributes) => Promise<number>): Promise<number> {
  const start = performance.now();
  for (let index = 0; index < USERS; index++) {
    const country = index % 2 === 0 ? 'DE' : 'US';
    kept += await answer({ id: `u${index}`, country, plan: index % 3 === 0 ? 'enterprise' : 'free' });
  }
  return ((performance.now() - start) * 1_000) / USERS;
}
