import { type KeyService, keyService } from './access/index.ts';
import { type OrganizationService, organizationService } from './organization/index.ts';
import { type Clock, type Db, idMaker, type NewId } from './platform/index.ts';
import { createRecorder, type LiveStates, type Recorder } from './record/index.ts';
import { defaultAttributes } from './targeting/index.ts';

/** What an operator works with beside the API: the service, the commands and the tests join these the same way. */
export interface OperatorServices {
  readonly newId: NewId;
  readonly recorder: Recorder;
  readonly keys: KeyService;
  readonly organizations: OrganizationService;
}

export function operatorServices({ db, clock, live }: { db: Db; clock: Clock; live: LiveStates }): OperatorServices {
  const newId = idMaker(clock);
  const recorder = createRecorder({ db, clock, newId, live });
  return {
    newId,
    recorder,
    keys: keyService({ db, clock, newId }),
    organizations: organizationService({ clock, newId, recorder, defaults: defaultAttributes }),
  };
}
