import { z } from 'zod';
import { deletedResponse, description, idParams, timestamp, usableAsKey } from './common.ts';
import { operation } from './operation.ts';

export const customFieldTypes = [
  'text',
  'textarea',
  'markdown',
  'enum',
  'multiselect',
  'url',
  'number',
  'boolean',
  'date',
  'datetime',
] as const;

const section = z.enum(['feature', 'experiment']);
/** What has values of custom fields. */
export type CustomFieldSection = z.output<typeof section>;

const defaultValue = z.union(
  [z.string(), z.number(), z.boolean(), z.array(z.string()), z.array(z.number()), z.array(z.boolean())],
  { error: 'must be text, a number, true or false, or a list of one of these' },
);

const fields = {
  name: z.string(),
  description: description.optional(),
  placeholder: z.string().optional(),
  /** What the app fills in; nothing else does. */
  defaultValue: defaultValue.optional(),
  /** The values to choose from, comma-separated; for `enum` and `multiselect`. */
  values: z.string().optional(),
  required: z.boolean(),
  projects: z.array(z.string()).optional(),
  sections: z.array(section),
};

export const customField = z
  .strictObject({
    id: z.string(),
    dateCreated: timestamp,
    dateUpdated: timestamp,
    ...fields,
    type: z.enum(customFieldTypes),
    /** User id of the member who made it. */
    creator: z.string().optional(),
    active: z.boolean().optional(),
  })
  .meta({ id: 'CustomField' });
export type CustomField = z.output<typeof customField>;

const changeable = {
  ...fields,
  name: z.string().trim().min(1, 'must not be empty').max(256),
  placeholder: z.string().max(10_000).optional(),
  values: z.string().max(10_000).optional(),
};

const newId = z
  .string()
  .max(256)
  .regex(/^[a-z0-9_-]+$/, 'must not be empty and may hold lower-case letters, digits, hyphens and underscores only')
  .refine(...usableAsKey)
  .meta({ pattern: '^[a-z0-9_-]+$' });

const answer = z.strictObject({ customField });
const path = '/v1/custom-fields';

export const listCustomFields = operation({
  id: 'listCustomFields',
  method: 'GET',
  path,
  tag: 'CustomFields',
  summary: 'List the custom fields in display order',
  description: 'With `projectId`: those that are active and apply in that project.',
  permission: 'readData',
  query: z.strictObject({ projectId: z.string().optional() }),
  response: z.array(customField),
});

export const createCustomField = operation({
  id: 'createCustomField',
  method: 'POST',
  path,
  tag: 'CustomFields',
  summary: 'Create a custom field; it comes last',
  description:
    'Features (and experiments) that exist stay as they are until their values or their project are changed.',
  permission: 'manageCustomFields',
  body: z.strictObject({ id: newId, ...changeable, type: z.enum(customFieldTypes) }),
  response: answer,
  errors: [409],
});

export const getCustomField = operation({
  id: 'getCustomField',
  method: 'GET',
  path: `${path}/{id}`,
  tag: 'CustomFields',
  summary: 'Get one custom field that is active',
  permission: 'readData',
  params: idParams,
  response: answer,
  errors: [404],
});

export const updateCustomField = operation({
  id: 'updateCustomField',
  method: 'PUT',
  path: `${path}/{id}`,
  tag: 'CustomFields',
  summary: 'Change a custom field, or switch it on or off; what is left out stays',
  permission: 'manageCustomFields',
  params: idParams,
  body: z.strictObject({ ...changeable, active: z.boolean() }).partial(),
  response: answer,
  errors: [404, 409],
});

export const deleteCustomField = operation({
  id: 'deleteCustomField',
  method: 'DELETE',
  path: `${path}/{id}`,
  tag: 'CustomFields',
  summary: 'Delete a custom field; its values are ignored from then on, and dropped at the next edit',
  description:
    '`index` says which of several fields of one id is meant; ids are unique here, so it makes no difference.',
  permission: 'manageCustomFields',
  params: idParams,
  query: z.strictObject({
    index: z
      .string()
      .regex(/^\d{1,15}$/, 'must be a whole number of at least 0')
      .optional()
      .meta({ pattern: undefined }),
  }),
  response: deletedResponse,
  errors: [404, 409],
});
