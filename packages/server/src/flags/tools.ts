import type { Paginate } from '../http/index.ts';
import type { Entitlements } from '../organization/index.ts';
import type { Clock, Log, NewId } from '../platform/index.ts';
import type { Revisions } from '../revisions/index.ts';
import type { DeliveredFeatures } from './delivered-features.ts';
import type { RuleKinds } from './rule-kinds.ts';

/** What the services of features work with. */
export interface FeatureTools {
  readonly revisions: Revisions;
  readonly kinds: RuleKinds;
  readonly entitlements: Entitlements;
  readonly paginate: Paginate;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly deliveredFeatures: DeliveredFeatures;
}
