import type { Paginate } from '../../http/index.ts';
import type { Entitlements } from '../../organization/index.ts';
import type { NewId } from '../../platform/index.ts';
import type { Recorder } from '../../record/index.ts';
import type { Revisions } from '../../revisions/index.ts';
import type { GroupReferences } from './group-users.ts';

/** What the services of saved groups work with. */
export interface SavedGroupTools {
  readonly revisions: Pick<Revisions, 'land' | 'forget'>;
  readonly recorder: Pick<Recorder, 'publish'>;
  readonly entitlements: Entitlements;
  readonly paginate: Paginate;
  readonly newId: NewId;
  /** Who refers to saved groups, beside those that nest others. */
  readonly references: readonly GroupReferences[];
}
