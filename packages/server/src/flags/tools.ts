import type { Paginate } from '../http/index.ts';
import type { Entitlements } from '../organization/index.ts';
import { type Clock, type NewId, notFound } from '../platform/index.ts';
import type { StateReader } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';
import type { Revisions } from '../revisions/index.ts';
import { featureKind, type LiveFeature, seenIn } from './feature.ts';
import type { RuleKinds } from './rule-kinds.ts';
import type { ShowContext } from './show.ts';

/**
 * Which features a connection's payload holds. Connections are known to `delivery`, which fills this port.
 *
 * @returns null when the organization has no connection of that key that the requester may see
 */
export type DeliveredFeatures = (requester: Requester, clientKey: string) => Promise<ReadonlySet<string> | null>;

/** What the services of features work with. */
export interface FeatureTools {
  readonly revisions: Revisions;
  readonly kinds: RuleKinds;
  readonly entitlements: Entitlements;
  readonly paginate: Paginate;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly deliveredFeatures: DeliveredFeatures;
}

/** @throws Refusal (notFound) when there is none, or the requester may not see it */
export function findFeature(requester: Requester, states: StateReader, id: string): LiveFeature {
  const live = states.get(featureKind, id);
  if (live === null || !requester.maySee(seenIn(live.state))) throw notFound('feature', id);
  return live;
}

/** What answers and events about features of an organization need beside the features. */
export const showContext = (
  { kinds }: Pick<FeatureTools, 'kinds'>,
  { members }: Pick<ShowContext, 'members'>,
  states: StateReader,
): ShowContext => ({ states, kinds, members });
