import { z } from 'zod';
import { deletedResponse, description, idParams, pageOf, pageQuery, timestamp } from './common.ts';
import { bypassedGate } from './errors.ts';
import { operation } from './operation.ts';

const groupType = z.enum(['condition', 'list']);

export const savedGroup = z
  .strictObject({
    id: z.string(),
    type: groupType,
    name: z.string(),
    /** Member's user id; `""` where nobody owns it. */
    owner: z.string().optional(),
    ownerEmail: z.string().optional(),
    description: description.optional(),
    /** JSON text; `""` for a list. */
    condition: z.string().optional(),
    /** The attribute whose values are listed; `""` for a condition. */
    attributeKey: z.string().optional(),
    values: z.array(z.string()).optional(),
    projects: z.array(z.string()).optional(),
    archived: z.boolean().optional(),
    /** True: a list without values lets nobody in. Absent on lists of old, which are passed over while they are empty. */
    useEmptyListGroup: z.boolean().optional(),
    dateCreated: timestamp,
    dateUpdated: timestamp,
  })
  .meta({ id: 'SavedGroup' });
export type SavedGroup = z.output<typeof savedGroup>;

const changeable = {
  condition: z.string().optional(),
  values: z.array(z.string()).optional(),
  owner: z.string().optional(),
  projects: z.array(z.string()).optional(),
  /** Lands the change without the approval that it would need; for callers who may do so. */
  bypassApproval: z.boolean().optional(),
};
const name = z.string().trim().min(1, 'must not be empty').max(256);

const landedGroup = z.strictObject({ savedGroup, bypassedGates: z.array(bypassedGate).optional() });

export const listSavedGroups = operation({
  id: 'listSavedGroups',
  method: 'GET',
  path: '/v1/saved-groups',
  tag: 'saved-groups',
  summary: 'List the saved groups, by id, archived ones included',
  permission: 'readData',
  query: z.strictObject(pageQuery),
  response: pageOf('savedGroups', savedGroup),
});

export const postSavedGroup = operation({
  id: 'postSavedGroup',
  method: 'POST',
  path: '/v1/saved-groups',
  tag: 'saved-groups',
  summary: 'Create a saved group',
  description:
    'A list of values of one attribute (`attributeKey`, `values`), or everyone who meets a `condition`. What it is follows ' +
    'from what is sent, unless `type` says so.',
  permission: ['createSavedGroups', 'bypassSavedGroupSizeLimit'],
  body: z.strictObject({ name, type: groupType.optional(), attributeKey: z.string().optional(), ...changeable }),
  response: z.strictObject({ savedGroup }),
  errors: [409],
});

export const getSavedGroup = operation({
  id: 'getSavedGroup',
  method: 'GET',
  path: '/v1/saved-groups/{id}',
  tag: 'saved-groups',
  summary: 'Get one saved group',
  permission: 'readData',
  params: idParams,
  response: z.strictObject({ savedGroup }),
  errors: [404],
});

export const updateSavedGroup = operation({
  id: 'updateSavedGroup',
  method: 'POST',
  path: '/v1/saved-groups/{id}',
  tag: 'saved-groups',
  summary: 'Change a saved group and publish the change',
  description: '`values` replaces the whole list; everything else that is left out stays.',
  permission: ['editSavedGroupDrafts', 'publishSavedGroups', 'bypassSavedGroupSizeLimit'],
  params: idParams,
  body: z.strictObject({ name: name.optional(), ...changeable }),
  response: landedGroup,
  errors: [404, 409, 422],
});

export const deleteSavedGroup = operation({
  id: 'deleteSavedGroup',
  method: 'DELETE',
  path: '/v1/saved-groups/{id}',
  tag: 'saved-groups',
  summary: 'Delete a saved group that nothing refers to, archived first',
  permission: 'deleteSavedGroups',
  params: idParams,
  response: deletedResponse,
  errors: [404, 409],
});

export const archiveSavedGroup = operation({
  id: 'archiveSavedGroup',
  method: 'POST',
  path: '/v1/saved-groups/{id}/archive',
  tag: 'saved-groups',
  summary: 'Archive a saved group; where it is still referred to, it keeps its effect',
  permission: 'deleteSavedGroups',
  params: idParams,
  /** May be left out altogether. */
  body: z.strictObject({ ignoreWarnings: z.boolean().optional() }).default({}),
  response: landedGroup,
  errors: [404, 409, 422],
});

export const unarchiveSavedGroup = operation({
  id: 'unarchiveSavedGroup',
  method: 'POST',
  path: '/v1/saved-groups/{id}/unarchive',
  tag: 'saved-groups',
  summary: 'Take a saved group out of the archive',
  permission: 'publishSavedGroups',
  params: idParams,
  response: landedGroup,
  errors: [404, 409, 422],
});

const user = { id: z.string(), name: z.string().optional(), project: z.string().optional() };

export const getSavedGroupReferences = operation({
  id: 'getSavedGroupReferences',
  method: 'GET',
  path: '/v1/saved-groups/{id}/references',
  tag: 'saved-groups',
  summary: 'List what refers to a saved group, directly or through a group that nests it',
  description: 'Only what the caller may read.',
  permission: 'readData',
  params: idParams,
  response: z.strictObject({
    features: z.array(z.strictObject(user)),
    experiments: z.array(z.strictObject({ ...user, projects: z.array(z.string()).optional() })),
    savedGroups: z.array(
      z.strictObject({
        id: z.string(),
        groupName: z.string().optional(),
        projects: z.array(z.string()).optional(),
      }),
    ),
  }),
  errors: [404],
});
