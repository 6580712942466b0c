import { notFound } from '../platform/index.ts';
import type { StateReader } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';
import { featureKind, type LiveFeature, seenIn } from './feature.ts';

/** @throws Refusal (notFound) when there is none, or the requester may not see it */
export function findFeature(requester: Requester, states: StateReader, id: string): LiveFeature {
  const live = states.get(featureKind, id);
  if (live === null || !requester.maySee(seenIn(live.state))) throw notFound('feature', id);
  return live;
}

/** A feature that is known to be there. */
export function liveFeature(id: string, states: StateReader): LiveFeature {
  const live = states.get(featureKind, id);
  if (live === null) throw new Error(`The feature ${id} has just been there.`);
  return live;
}
