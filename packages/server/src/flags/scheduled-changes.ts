import type { Clock, Job } from '../platform/index.ts';
import {
  type Actor,
  type Grouping,
  type LiveStates,
  type Recorder,
  readerOf,
  type StateReader,
} from '../record/index.ts';
import { type FeatureState, featureKind, type LiveFeature } from './feature.ts';
import { nextBoundary } from './schedule.ts';

const actor: Actor = { type: 'system', subtype: 'schedule' };
const minute = 60_000;

const scheduled = 'scheduled';
/** Those whose schedule has a boundary ahead: few, of however many features there are. */
const bySchedule: Grouping<FeatureState> = {
  kind: featureKind,
  groupsOf: ({ nextScheduledUpdate }) => (nextScheduledUpdate === null ? [] : [scheduled]),
};

/**
 * Makes a configuration version where the schedule of a rule has reached a boundary: payloads judge schedules at the instant
 * of their version, so without a new version nothing would change.
 */
export function scheduledChanges(tools: { live: LiveStates; recorder: Recorder; clock: Clock }): Job {
  const { live, recorder, clock } = tools;
  return {
    name: 'scheduled-changes',
    async run() {
      const now = clock.now();
      for (const states of live.organizations()) {
        if (withBoundaryBy(now, readerOf(states)).length > 0) await passBoundaries(states.organization, now, recorder);
      }
      return earliestBefore(new Date(now.getTime() + minute), live);
    },
  };
}

async function passBoundaries(organization: string, now: Date, recorder: Recorder): Promise<void> {
  await recorder.publish(organization, actor, (states) => {
    const changes = withBoundaryBy(now, states).map(({ id, state }) => ({
      kind: featureKind,
      id,
      state: { ...state, nextScheduledUpdate: nextBoundary(state.rules, now) },
      // Nobody edited it: what it was told to do has come about.
      edited: false,
    }));
    return { publication: changes.length === 0 ? null : { changes, audit: [] }, result: null };
  });
}

const boundaryOf = ({ state }: LiveFeature): number =>
  state.nextScheduledUpdate === null ? Number.POSITIVE_INFINITY : Date.parse(state.nextScheduledUpdate);

/** The features with a boundary up to that instant that has not been passed. */
export const withBoundaryBy = (instant: Date, states: StateReader): LiveFeature[] =>
  states.group(bySchedule, scheduled).filter((feature) => boundaryOf(feature) <= instant.getTime());

/** The next boundary of any organization, if it comes before that instant. */
function earliestBefore(instant: Date, live: LiveStates): Date | null {
  let next = Number.POSITIVE_INFINITY;
  for (const states of live.organizations()) {
    for (const feature of readerOf(states).group(bySchedule, scheduled)) next = Math.min(next, boundaryOf(feature));
  }
  return next < instant.getTime() ? new Date(next) : null;
}
