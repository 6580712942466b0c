import { getFeatureKeys, toggleFeature } from '@halyard/contract';
import { featureKind, noExperiments, staleDetector } from '../packages/server/src/flags/index.ts';
import { readerOf } from '../packages/server/src/record/index.ts';
import { featureState, put, statesOf } from '../packages/server/testing/flags/states.ts';
import { type Halyard, newDataDirectory, secretKey, startHalyard } from '../packages/server/testing/halyard.ts';
import { compileTimes, content } from './compile.ts';
import { besideEachOther } from './support/load.ts';
import { manyId, publishFeatures } from './support/many-features.ts';
import { bounded, figure, median, progress, type Row, throughput } from './support/rows.ts';

const few = 100;
const sizes = [1_000, 10_000, 50_000];
const rounds = 15;

/** What an organization with many features pays for them, beside one with 100. */
export async function benchScale(): Promise<Row[]> {
  const [smallPlace, largePlace] = [await newDataDirectory(), await newDataDirectory()];
  const [small, large] = [
    await startHalyard({ HALYARD_DATA_DIR: smallPlace.path }),
    await startHalyard({ HALYARD_DATA_DIR: largePlace.path }),
  ];
  const rows: Row[] = [];
  await publishFeatures(smallPlace.path, 0, few);
  let made = 0;
  for (const size of sizes) {
    await publishFeatures(largePlace.path, made, size);
    made = size;
    rows.push(...(await serviceRows(size, small, large)), ...compileRows(size), staleRow(size));
  }
  for (const { end } of [small, large]) await end('SIGTERM');
  for (const place of [smallPlace, largePlace]) await place.remove();
  return rows;
}

async function serviceRows(size: number, small: Halyard, large: Halyard): Promise<Row[]> {
  const named = (what: string) => `${size.toLocaleString('en-US')} features: ${what}`;
  const list = { path: '/api/v2/features?limit=10', headers: { authorization: `Bearer ${secretKey}` } };
  const last = { ...list, path: `${list.path}&offset=${size - 10}` };
  const ten = await besideEachOther(named('first ten'), { ...list, url: large.url }, { ...list, url: small.url });
  const end = await besideEachOther(named('last ten'), { ...last, url: large.url }, { ...list, url: small.url });
  const toggled = { ours: await toggleTime(large, size), peer: await toggleTime(small, few) };
  progress(`  ${named('a toggle')} ${toggled.ours.toFixed(1)} ms beside ${toggled.peer.toFixed(1)} ms`);
  return [
    // Within one and a half times of what it takes with few.
    throughput(named('listing the first ten'), ten, 0.67),
    throughput(named('listing the last ten'), end, 0.67),
    figure(named('listing all keys'), 'ms', await medianTime(() => large.admin.call(getFeatureKeys))),
    { ...bounded(named('a toggle'), 'ms', toggled.ours, 50), peer: toggled.peer, ratio: toggled.peer / toggled.ours },
  ];
}

const toggleTime = (halyard: Halyard, size: number): Promise<number> =>
  medianTime((round) => {
    const id = manyId(Math.floor((size / rounds) * (round >> 1)));
    return halyard.admin.call(toggleFeature, {
      params: { id },
      body: { environments: { production: round % 2 === 1 } },
    });
  });

async function medianTime(run: (round: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now();
    await run(round);
    times.push(performance.now() - begin);
  }
  return median(times);
}

function compileRows(size: number): Row[] {
  const { whole, afterOne } = compileTimes(size);
  const named = (what: string) => `${size.toLocaleString('en-US')} features: ${what}`;
  return [
    figure(named('compiling the payload whole'), 'ms', whole),
    figure(named('compiling it after a change of one'), 'ms', afterOne),
  ];
}

/** Which of all features are stale, of which each second requires the one before. */
function staleRow(count: number): Row {
  const environments = ['production', 'staging', 'dev'];
  const states = statesOf({ environments: Object.fromEntries(environments.map((id) => [id, {}])) });
  for (let index = 0; index < count; index++) {
    const required = index % 2 === 0 ? [] : [{ id: manyId(index - 1), condition: '{"value": true}' }];
    const state = featureState({ ...content(index), prerequisites: required }, environments, states.at.instant);
    put(states, featureKind, manyId(index), state);
  }
  const times = Array.from({ length: 7 }, () => {
    const begin = performance.now();
    const judge = staleDetector({
      states: readerOf(states),
      now: new Date(states.at.instant.getTime() + 100 * 24 * 3_600_000),
      experiments: noExperiments,
      newestDraft: () => null,
      failed: (id) => progress(`${id} could not be judged`),
    });
    for (let index = 0; index < count; index++) judge(manyId(index));
    return performance.now() - begin;
  });
  const name = `${count.toLocaleString('en-US')} features: finding those that are stale`;
  return count === 10_000 ? bounded(name, 'ms', median(times), 2_000) : figure(name, 'ms', median(times));
}
