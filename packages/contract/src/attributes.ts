import { z } from 'zod';
import { description, tags, usableAsKey } from './common.ts';
import { operation } from './operation.ts';

export const attributeDatatypes = [
  'boolean',
  'string',
  'number',
  'secureString',
  'enum',
  'string[]',
  'number[]',
  'secureString[]',
] as const;

const fields = {
  datatype: z.enum(attributeDatatypes),
  description: description.optional(),
  hashAttribute: z.boolean().optional(),
  archived: z.boolean().optional(),
  /** The values to choose from, comma-separated; for `enum` and lists of text. */
  enum: z.string().optional(),
  format: z.enum(['', 'version', 'date', 'isoCountryCode']).optional(),
  projects: z.array(z.string()).optional(),
  tags: z.array(z.string()).optional(),
};
const changeable = { ...fields, enum: z.string().max(10_000).optional(), tags: tags.optional() };

export const attribute = z.strictObject({ property: z.string(), ...fields }).meta({ id: 'Attribute' });
export type Attribute = z.output<typeof attribute>;

const newProperty = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(256)
  .refine(...usableAsKey)
  .refine((property) => !property.startsWith('$'), 'must not begin with "$", as the operators of conditions do')
  .refine((property) => !/^\.{1,2}$/.test(property), 'must not be "." or "..", which no path can address');
const propertyParams = z.strictObject({ property: z.string() });
const answer = z.strictObject({ attribute });

export const listAttributes = operation({
  id: 'listAttributes',
  method: 'GET',
  path: '/v1/attributes',
  tag: 'attributes',
  summary: 'List the targeting attributes that are not archived',
  description: 'With `projectId`: those of the whole organization and those of that project.',
  permission: 'readData',
  query: z.strictObject({ projectId: z.string().optional() }),
  response: z.strictObject({ attributes: z.array(attribute) }),
});

export const postAttribute = operation({
  id: 'postAttribute',
  method: 'POST',
  path: '/v1/attributes',
  tag: 'attributes',
  summary: 'Declare a targeting attribute',
  permission: 'manageTargetingAttributes',
  body: z.strictObject({ property: newProperty, ...changeable }),
  response: answer,
  errors: [409],
});

export const putAttribute = operation({
  id: 'putAttribute',
  method: 'PUT',
  path: '/v1/attributes/{property}',
  tag: 'attributes',
  summary: 'Change a targeting attribute; what is left out stays',
  permission: 'manageTargetingAttributes',
  params: propertyParams,
  body: z.strictObject(changeable).partial(),
  response: answer,
  errors: [404, 409],
});

export const deleteAttribute = operation({
  id: 'deleteAttribute',
  method: 'DELETE',
  path: '/v1/attributes/{property}',
  tag: 'attributes',
  summary: 'Delete a targeting attribute; conditions that use it stay as they are',
  permission: 'manageTargetingAttributes',
  params: propertyParams,
  response: z.strictObject({ deletedProperty: z.string() }),
  errors: [404, 409],
});
