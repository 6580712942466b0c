import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { featureState, put, statesOf } from '../../testing/flags/states.ts';
import { projectKind } from '../organization/index.ts';
import { type OrganizationStates, readerOf } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';
import { deliveryProjects, type FeatureContent, featureKind, type LiveFeature, seenIn } from './feature.ts';
import { visibleFeatures } from './visible-features.ts';

type Filter = Parameters<typeof visibleFeatures>[1];

const projectIds = ['prj_a', 'prj_b', 'prj_c'];
const project = fc.constantFrom('', ...projectIds);

/** A feature gets other content, or is deleted; a deleted one that gets content again is a new one. */
const step = fc.record({
  id: fc.constantFrom('f', 'g', 'h', 'i', 'j', 'k', 'l'),
  content: fc.option(
    fc.record<Partial<FeatureContent>>({
      archived: fc.boolean(),
      project,
      targetingAllProjects: fc.boolean(),
      targetingProjects: fc.uniqueArray(fc.constantFrom(...projectIds), { maxLength: 2 }),
    }),
    { freq: 4 },
  ),
});
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** The projects in which somebody may read; `''` stands for what is in none. */
const readable = fc.subarray(['', ...projectIds]);
const filter: fc.Arbitrary<Filter> = fc.record(
  { archived: fc.boolean(), projectId: fc.option(fc.constantFrom(...projectIds, 'prj_gone', ''), { nil: undefined }) },
  { requiredKeys: ['archived'] },
);
const page = fc.record({ offset: fc.nat(8), limit: fc.integer({ min: 1, max: 8 }) });

function happen(states: OrganizationStates, steps: readonly Step[]): void {
  for (const { id, content } of steps) {
    states.at = { version: states.at.version + 1, instant: states.at.instant };
    if (content === null) states.kinds.get(featureKind.name)?.delete(id);
    else put(states, featureKind, id, featureState(content, ['production'], states.at.instant));
  }
}

const requesterWho = (readsIn: readonly string[], states: OrganizationStates): Requester => ({
  organization: states.organization,
  actor: { type: 'system' },
  may: (permission) => permission === 'readData' && readsIn.length > 0,
  maySee: (projects) => (projects === null ? readsIn.length > 0 : projects.some((id) => readsIn.includes(id))),
  states: readerOf(states),
  members: { emailOf: () => undefined, idOf: () => undefined },
});

/** The same by the letter: all features, those that may be seen, those of the project, those that are not archived. */
function byTheLetter(requester: Requester, { projectId, archived }: Filter): LiveFeature[] {
  if (!requester.may('readData', { projects: [] })) return [];
  const seesProject =
    projectId === undefined || (requester.states.get(projectKind, projectId) !== null && requester.maySee([projectId]));
  return requester.states
    .all(featureKind)
    .filter(({ state }) => requester.maySee(seenIn(state)))
    .filter(
      ({ state }) => seesProject && (projectId === undefined || (deliveryProjects(state)?.has(projectId) ?? true)),
    )
    .filter(({ state }) => archived || !state.archived);
}

describe('the features that somebody sees', () => {
  test('are those that going through all of them finds, page by page, whatever has happened', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 15 }),
        fc.array(step, { maxLength: 25 }),
        readable,
        filter,
        page,
        (first, then, readsIn, wanted, { offset, limit }) => {
          const states = statesOf({ projects: Object.fromEntries(projectIds.map((id) => [id, {}])) });
          const requester = requesterWho(readsIn, states);
          happen(states, first);
          visibleFeatures(requester, wanted);
          happen(states, then);
          const expected = byTheLetter(requester, wanted);
          const found = visibleFeatures(requester, wanted);
          expect(found.length).toBe(expected.length);
          expect(found.slice(0)).toEqual(expected);
          expect(found.slice(offset, offset + limit)).toEqual(expected.slice(offset, offset + limit));
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
