import { type Clock, type Db, invalid, isEmailAddress, type NewId, quoted, type Tx } from '../platform/index.ts';
import type { Actor, Recorder, StateChange } from '../record/index.ts';
import { environmentKind } from './environments.ts';
import { settingsId, settingsKind } from './settings.ts';

interface Organization {
  readonly id: string;
  readonly name: string;
  readonly ownerEmail: string;
  readonly externalId: string | null;
  readonly dateCreated: Date;
}

interface NewOrganization {
  readonly name: string;
  readonly ownerEmail: string;
  readonly externalId?: string;
}

export interface OrganizationService {
  /** Creates an organization with everything it has from the first moment, in the given transaction. */
  create(tx: Tx, input: NewOrganization, actor: Actor): Promise<Organization>;
  /** Newest first. */
  list(db: Db): Promise<Organization[]>;
}

/** @param defaults what other modules give a new organization from the start */
export function organizationService(tools: {
  clock: Clock;
  newId: NewId;
  recorder: Recorder;
  defaults: readonly StateChange[];
}): OrganizationService {
  return {
    async create(tx, { name, ownerEmail, externalId }, actor) {
      if (name.length < 3 || name.length > 60) throw invalid('The name of an organization has 3 to 60 characters.');
      if (!isEmailAddress(ownerEmail)) throw invalid(`${quoted(ownerEmail)} is no e-mail address.`);
      if (externalId !== undefined && externalId !== '') await refuseTaken(tx, externalId);
      const organization = {
        id: tools.newId('org_'),
        name,
        ownerEmail,
        externalId: externalId ?? null,
        dateCreated: tools.clock.now(),
      };
      const { id, dateCreated } = organization;
      await tx
        .insertInto('organization')
        .values({ id, name, owner_email: ownerEmail, external_id: organization.externalId, date_created: dateCreated })
        .execute();
      await tools.recorder.publishFirst(tx, id, actor, {
        changes: [production, firstSettings, ...tools.defaults],
        audit: [
          { event: 'organization.create', entity: { object: 'organization', id, name }, post: { name, ownerEmail } },
        ],
      });
      return organization;
    },

    async list(db) {
      const rows = await db
        .selectFrom('organization')
        .selectAll()
        .orderBy('date_created', 'desc')
        .orderBy('id', 'desc')
        .execute();
      return rows.map((row) => ({
        id: row.id,
        name: row.name,
        ownerEmail: row.owner_email,
        externalId: row.external_id,
        dateCreated: row.date_created,
      }));
    },
  };
}

const production: StateChange = {
  kind: environmentKind,
  id: 'production',
  state: { description: '', toggleOnList: true, defaultState: true, projects: [] },
};

const firstSettings: StateChange = { kind: settingsKind, id: settingsId, state: { killswitchConfirmation: true } };

async function refuseTaken(tx: Tx, externalId: string): Promise<void> {
  const taken = await tx
    .selectFrom('organization')
    .select('id')
    .where('external_id', '=', externalId)
    .executeTakeFirst();
  if (taken !== undefined) throw invalid(`Another organization has the external id ${quoted(externalId)} already.`);
}
