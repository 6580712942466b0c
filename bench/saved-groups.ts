import { Bodies, CompiledConnection, payloadHash, payloadMembers } from '../packages/server/src/delivery/index.ts';
import { affectedFeatures, prepareAffected, ruleKinds } from '../packages/server/src/flags/index.ts';
import { readerOf } from '../packages/server/src/record/index.ts';
import { savedGroupKind } from '../packages/server/src/targeting/index.ts';
import { payloadOptions } from '../packages/server/testing/flags/payload-options.ts';
import { force, put, type StatesInput, savedGroupState, statesOf } from '../packages/server/testing/flags/states.ts';
import { bounded, median, progress, type Row } from './support/rows.ts';

const rounds = 7;
const most = 100;

/** The payload after the values of one saved group have changed, up to the JSON that is sent. */
export function benchSavedGroups(): Row[] {
  progress('Compiling saved groups …');
  const large = {
    savedGroups: { group: { attributeKey: 'email', values: values(10_000, 0) } },
    features: features(10, () => 'group'),
  };
  const many = {
    savedGroups: Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`group-${index}`, { values: values(10, index) }]),
    ),
    features: features(10_000, (index) => `group-${index}`),
  };
  const rows: [string, StatesInput, object][] = [
    ['a group of 10,000 values, by reference', large, { savedGroupReferences: true }],
    [
      'a group of 10,000 values, hashed, by reference',
      large,
      { savedGroupReferences: true, hashSecureAttributes: true },
    ],
    ['a group of 10,000 values, in place in 10 features', large, {}],
    ['a group of 10,000 values, hashed, in place in 10 features', large, { hashSecureAttributes: true }],
    ['one of 10,000 groups in 10,000 features, by reference', many, { savedGroupReferences: true }],
    ['one of 10,000 groups in 10,000 features, in place', many, {}],
  ];
  return rows.map(([name, input, options]) => bounded(name, 'ms', median(times(input, options)), most));
}

const values = (count: number, seed: number): string[] =>
  Array.from({ length: count }, (_, index) => `user-${seed}-${index}@example.com`);

const features = (count: number, group: (index: number) => string): NonNullable<StatesInput['features']> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `feature-${index}`,
      { rules: [force({ savedGroupTargeting: [{ matchType: 'all', savedGroups: [group(index)] }] })] },
    ]),
  );

function times(input: StatesInput, more: object): number[] {
  const states = statesOf({
    attributes: { id: { datatype: 'string' }, email: { datatype: 'secureString' } },
    settings: { secureAttributeSalt: 'salt' },
    ...input,
  });
  const connection = new CompiledConnection(payloadOptions({ projects: null, ...more }), ruleKinds([]));
  prepareAffected(readerOf(states));
  connection.compile(states, 'all');
  const [id = ''] = Object.keys(input.savedGroups ?? {});
  let last: Buffer = Buffer.alloc(0);
  return Array.from({ length: rounds }, (_, round) => {
    const before = states.kinds.get(savedGroupKind.name)?.get(id) ?? null;
    const group = input.savedGroups?.[id] ?? {};
    const changed = savedGroupState({ ...group, values: [...(group.values ?? []), `new-${round}`] });
    const after = put(states, savedGroupKind, id, changed);
    const begin = performance.now();
    const changes = [{ kind: savedGroupKind.name, id, before, after }];
    const text = connection.compile(states, affectedFeatures(readerOf(states), changes));
    const bodies = new Bodies(payloadMembers(text, null, states.at.instant), payloadHash(text, null));
    const time = performance.now() - begin;
    if (bodies.members.equals(last)) throw new Error('The change has not reached the payload.');
    last = bodies.members;
    return time;
  });
}
