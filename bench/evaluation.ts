/**
 * Evaluation against the published JavaScript SDK, in one process and on the same payloads and users.
 *
 * The SDK is used as it is meant for servers with many users: its multi-user client is given the payload once with
 * `initSync`, and is asked `evalFeature(key, userContext)` for each user. (`createScopedInstance(userContext)` does the
 * same with one object more for each user; the class for browsers holds one user and would be made anew for each.)
 * Nothing is tracked on either side.
 */
import { GrowthBookClient as SdkClient } from '@growthbook/growthbook';
import {
  compilePayload,
  type FeatureDefinition,
  type FeatureRule,
  type User,
} from '../packages/evaluation/src/index.ts';
import { figure, median, type Row } from './support/rows.ts';

type Features = Readonly<Record<string, FeatureDefinition>>;

const USERS = 4096;
const ROUNDS = 9;
const ROUND_MILLISECONDS = 60;
const COUNTRIES = ['DE', 'US', 'FR', 'JP', 'BR', 'IN', 'ZA', 'AU'];
const PLANS = ['free', 'pro', 'enterprise'];

/** Users that differ in every attribute, so that nothing a loop asks is constant. */
function makeUsers(): User[] {
  return Array.from({ length: USERS }, (_, index) => ({
    attributes: {
      id: `user-${(index * 7919) % 100_003}`,
      deviceId: `d${index}`,
      country: COUNTRIES[index % COUNTRIES.length],
      plan: PLANS[index % PLANS.length],
      age: 18 + (index % 60),
      version: `${index % 4}.${index % 13}.${index % 7}`,
      tags: [`t${index % 5}`, `t${index % 11}`],
      account: { seats: index % 200, name: `account ${index % 97}` },
    },
  }));
}

/** A payload of a small team: each kind of rule once or twice. */
const SMALL: Features = {
  banner: { defaultValue: 'none', rules: [{ condition: { country: 'DE' }, force: 'summer' }] },
  search: {
    defaultValue: false,
    rules: [{ force: true, coverage: 0.25, hashAttribute: 'id', seed: 'fr_search', hashVersion: 2 }],
  },
  checkout: {
    defaultValue: 'old',
    rules: [
      { condition: { plan: { $in: ['pro', 'enterprise'] }, age: { $gte: 30 } }, force: 'new' },
      {
        variations: ['old', 'new'],
        weights: [0.5, 0.5],
        coverage: 0.8,
        key: 'checkout',
        meta: [{ key: '0' }, { key: '1' }],
        seed: 'checkout',
        hashAttribute: 'id',
        hashVersion: 2,
        phase: '0',
      },
    ],
  },
  importer: { defaultValue: 10, rules: [{ condition: { version: { $vgte: '2.1.0' } }, force: 50 }] },
  invoices: {
    defaultValue: false,
    rules: [
      { parentConditions: [{ id: 'search', condition: { value: true }, gate: true }] },
      { condition: { 'account.seats': { $gt: 50 } }, force: true },
    ],
  },
  theme: {
    defaultValue: { dark: false },
    rules: [{ condition: { $or: [{ tags: { $in: ['t1', 't7'] } }, { age: { $lt: 25 } }] }, force: { dark: true } }],
  },
};

/** Rules that mostly do not match, half conditions and half rollouts. */
function makeRules(count: number): FeatureRule[] {
  return Array.from({ length: count }, (_, index): FeatureRule => {
    const id = `fr_${index}`;
    if (index % 2 === 1) return { id, force: index, coverage: 0.0005, hashAttribute: 'id', seed: id, hashVersion: 2 };
    if (index % 4 === 0) return { id, force: index, condition: { 'account.name': `account x${index}` } };
    return { id, force: index, condition: { country: { $in: ['PT', 'ES', `X${index}`] }, age: { $gt: index % 60 } } };
  });
}

const MANY_RULES: Features = { big: { defaultValue: -1, rules: makeRules(1000) } };

const MANY_FEATURES: Features = Object.fromEntries(
  makeRules(1000).map((rule, index) => [`feature-${index}`, { defaultValue: -1, rules: [rule] }]),
);

const EXPERIMENTS: Features = Object.fromEntries(
  Array.from({ length: 50 }, (_, index) => [
    `experiment-${index}`,
    {
      defaultValue: 'control',
      rules: [
        {
          variations: ['control', 'treatment', 'other'],
          weights: [0.4, 0.3, 0.3],
          coverage: 1,
          key: `exp-${index}`,
          meta: [{ key: '0' }, { key: '1' }, { key: '2' }],
          seed: `seed-${index}`,
          hashAttribute: 'id',
          hashVersion: 2,
          phase: '0',
        },
      ],
    },
  ]),
);

/** Measures ours and the SDK's evaluations and the time to compile. Takes some ten seconds. */
export async function benchEvaluation(): Promise<Row[]> {
  const users = makeUsers();
  return [
    evaluationRow('small payload, 6 features of every kind', SMALL, users),
    evaluationRow('one feature of 1,000 rules', MANY_RULES, users),
    evaluationRow('1,000 features of one rule', MANY_FEATURES, users),
    evaluationRow('50 experiments, everybody in', EXPERIMENTS, users),
    compileRow('compiling one feature of 1,000 rules', MANY_RULES),
    compileRow('compiling 1,000 features of one rule', MANY_FEATURES),
  ];
}

function evaluationRow(name: string, features: Features, users: readonly User[]): Row {
  const keys = Object.keys(features);
  const evaluator = compilePayload({ features });
  // The SDK's types are ours without `readonly`.
  const client = new SdkClient().initSync({ payload: { features: structuredClone(features) as never } });
  const peerUsers = users.map((user) => ({ attributes: user.attributes }));

  const times = interleavedMedians(
    loop(keys, users, (key, user) => evaluator.evaluate(key, user).on),
    loop(keys, peerUsers, (key, user) => client.evalFeature(key, user).on),
  );
  const ratio = times.peer / times.ours;
  return { name, ...times, unit: 'ns', ratio, aim: '≥ 5 ×', reached: ratio >= 5 };
}

/** A function that evaluates so many times, going through all pairs of feature and user. */
function loop<Subject>(
  keys: readonly string[],
  users: readonly Subject[],
  isOn: (key: string, user: Subject) => boolean,
): (evaluations: number) => number {
  let next = 0;
  return (evaluations) => {
    let on = 0;
    for (let done = 0; done < evaluations; done++, next++) {
      const key = keys[next % keys.length];
      const user = users[next % users.length];
      if (key !== undefined && user !== undefined && isOn(key, user)) on++;
    }
    return on;
  };
}

type Loop = (evaluations: number) => number;

/** Nanoseconds per evaluation. Rounds of the two alternate, so that a busy machine is busy for both. */
function interleavedMedians(ours: Loop, peer: Loop): { ours: number; peer: number } {
  const oursPerRound = warmUp(ours);
  const peerPerRound = warmUp(peer);
  const oursTimes: number[] = [];
  const peerTimes: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    oursTimes.push(timed(ours, oursPerRound));
    peerTimes.push(timed(peer, peerPerRound));
  }
  return { ours: median(oursTimes), peer: median(peerTimes) };
}

/** Runs until the code is optimized, and says how many evaluations fill a round. */
function warmUp(run: Loop): number {
  let evaluations = 64;
  let time = 0;
  for (let warm = 0; warm < 3; ) {
    time = timed(run, evaluations) * evaluations;
    if (time < ROUND_MILLISECONDS * 1e6) evaluations *= 2;
    else warm++;
  }
  return evaluations;
}

/** What the loops counted; keeping it keeps the evaluations from being optimized away. */
let kept = 0;

function timed(run: Loop, evaluations: number): number {
  const start = process.hrtime.bigint();
  kept += run(evaluations);
  return Number(process.hrtime.bigint() - start) / evaluations;
}

function compileRow(name: string, features: Features): Row {
  const compile: Loop = (times) => {
    let count = 0;
    for (let done = 0; done < times; done++) count += compilePayload({ features }).featureKeys.length;
    return count;
  };
  const times = warmUp(compile);
  const rounds = Array.from({ length: ROUNDS }, () => timed(compile, times));
  return figure(name, 'ms', median(rounds) / 1e6);
}
