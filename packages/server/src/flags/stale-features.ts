import type { FeatureStaleness } from '@halyard/contract';
import type { StateReader } from '../record/index.ts';
import { type Requester, visible } from '../requester/index.ts';
import { featureKind, featureRevisionKind, seenIn } from './feature.ts';
import { byRequirement } from './prerequisites.ts';
import { noExperiments, type Staleness, staleDetector } from './stale.ts';
import type { FeatureTools } from './tools.ts';

/** Judges the features of the given ids; those that are unknown, cannot be seen or are archived are left out. */
export async function staleFeatures(
  requester: Requester,
  ids: readonly string[],
  { revisions, clock, log }: FeatureTools,
): Promise<Record<string, FeatureStaleness>> {
  const { organization, states } = requester;
  const asked = [...new Set(ids)].flatMap((id) => states.get(featureKind, id) ?? []);
  const seen = visible(requester, asked, ({ state }) => seenIn(state)).filter(({ state }) => !state.archived);
  const concerned = withDependents(
    seen.map(({ id }) => id),
    states,
  );
  const drafts = await revisions.newestDrafts(organization, featureRevisionKind, concerned);
  const judge = staleDetector({
    states,
    now: clock.now(),
    experiments: noExperiments,
    newestDraft: (id) => drafts.get(id) ?? null,
    failed: (feature, err) => log.error({ err, organization, feature }, 'It could not be judged whether it is stale'),
  });
  return Object.fromEntries(
    seen.flatMap(({ id, state }) => {
      const found = judge(id);
      return found === null ? [] : [[id, shown(id, state.neverStale, found)]];
    }),
  );
}

/** The features themselves and everything that requires them, directly or through others. */
function withDependents(ids: readonly string[], states: StateReader): string[] {
  const all = new Set(ids);
  for (const id of all) for (const dependent of states.group(byRequirement, id)) all.add(dependent.id);
  return [...all];
}

/** The interface has no word for a feature that could not be judged: it is one that is not stale, without a reason. */
const shown = (id: string, neverStale: boolean, { isStale, reason, environments }: Staleness): FeatureStaleness => ({
  featureId: id,
  isStale,
  staleReason: reason === 'error' ? null : reason,
  neverStale,
  ...(reason === 'error' ? {} : { staleByEnv: Object.fromEntries(environments) }),
});
