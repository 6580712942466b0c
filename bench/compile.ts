import { Bodies, CompiledConnection, payloadHash, payloadMembers } from '../packages/server/src/delivery/index.ts';
import { affectedFeatures, featureKind, prepareAffected, ruleKinds } from '../packages/server/src/flags/index.ts';
import { readerOf } from '../packages/server/src/record/index.ts';
import { payloadOptions } from '../packages/server/testing/flags/payload-options.ts';
import { featureState, force, put, rollout, statesOf } from '../packages/server/testing/flags/states.ts';
import { bounded, figure, median, progress, type Row } from './support/rows.ts';

const rounds = 7;
const environments = ['production', 'staging', 'dev'];

const options = payloadOptions({ projects: null, includeRuleIds: true, includeExperimentNames: true });

export function benchCompile(): Row[] {
  const { whole, afterOne, megabytes } = compileTimes(10_000);
  return [
    bounded('10,000 features, whole', 'ms', whole, 1_000),
    bounded('10,000 features, after a change of one', 'ms', afterOne, 50),
    figure('10,000 features, size of the JSON', 'MB', megabytes),
  ];
}

/**
 * A payload compiled whole, and after one change, in milliseconds. The time ends with the JSON that is sent.
 */
export function compileTimes(featureCount: number): { whole: number; afterOne: number; megabytes: number } {
  progress(`Compiling ${featureCount.toLocaleString('en-US')} features …`);
  const features = Object.fromEntries(
    Array.from({ length: featureCount }, (_, index) => [`feature-${index}`, content(index)]),
  );
  const states = statesOf({ environments: Object.fromEntries(environments.map((id) => [id, {}])), features });
  const kinds = ruleKinds([]);
  const now = states.at.instant;
  let bodies = new Bodies('', '');
  const serve = (connection: CompiledConnection, affected: ReadonlySet<string> | 'all') => {
    const text = connection.compile(states, affected);
    bodies = new Bodies(payloadMembers(text, null, now), payloadHash(text, null));
  };

  const whole = Array.from({ length: rounds }, () => timed(() => serve(new CompiledConnection(options, kinds), 'all')));

  const connection = new CompiledConnection(options, kinds);
  serve(connection, 'all');
  prepareAffected(readerOf(states));
  const one = Array.from({ length: rounds }, (_, round) => {
    const index = Math.floor((featureCount / rounds) * round);
    const id = `feature-${index}`;
    const state = featureState({ ...content(index), defaultValue: `changed ${round}` }, environments, now);
    const before = states.kinds.get(featureKind.name)?.get(id) ?? null;
    const after = put(states, featureKind, id, state);
    return timed(() => {
      serve(connection, affectedFeatures(readerOf(states), [{ kind: featureKind.name, id, before, after }]));
    });
  });
  return { whole: median(whole), afterOne: median(one), megabytes: bodies.identity.bytes.length / 1e6 };
}

/** A feature as teams have them: a rule with a condition, and a rollout. */
export const content = (index: number) => ({
  valueType: 'string' as const,
  defaultValue: 'control',
  rules: [
    force({
      id: `fr_a${index}`,
      value: 'beta',
      condition: `{"country":{"$in":["DE","FR","X${index}"]},"plan":"enterprise"}`,
    }),
    rollout({ id: `fr_b${index}`, value: 'treatment', coverage: 0.25, seed: `fr_b${index}` }),
  ],
});

function timed(run: () => void): number {
  const begin = performance.now();
  run();
  return performance.now() - begin;
}
