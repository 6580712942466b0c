import { z } from 'zod';
import { deletedResponse, description, idParams, timestamp } from './common.ts';
import { operation } from './operation.ts';

const attributes = z.record(z.string(), z.unknown());

const fields = {
  name: z.string(),
  description: description.optional(),
  /** False: its owner alone sees it. */
  isPublic: z.boolean(),
  /** What is known of the user that it stands for. */
  attributes,
  projects: z.array(z.string()).optional(),
  environments: z.array(z.string()).optional(),
};

export const archetype = z
  .strictObject({
    id: z.string(),
    dateCreated: timestamp,
    dateUpdated: timestamp,
    ...fields,
    /** User id of the member who made it; `""` where a key did so in its own name. */
    owner: z.string(),
    ownerEmail: z.string().optional(),
  })
  .meta({ id: 'Archetype' });
export type Archetype = z.output<typeof archetype>;

const changeable = z.strictObject({
  ...fields,
  name: z.string().trim().min(1, 'must not be empty').max(256),
  attributes: attributes
    .refine((given) => Object.keys(given).length <= 1_000, 'must hold at most 1000 attributes')
    .refine((given) => JSON.stringify(given).length <= 100_000, 'must be at most 100000 characters of JSON'),
  projects: z.array(z.string()).max(1_000).optional(),
  environments: z.array(z.string()).max(1_000).optional(),
});
const answer = z.strictObject({ archetype });
const path = '/v1/archetypes';

export const listArchetypes = operation({
  id: 'listArchetypes',
  method: 'GET',
  path,
  tag: 'archetypes',
  summary: 'List the public archetypes and your own, oldest first',
  permission: 'readData',
  response: z.strictObject({ archetypes: z.array(archetype) }),
});

export const postArchetype = operation({
  id: 'postArchetype',
  method: 'POST',
  path,
  tag: 'archetypes',
  summary: 'Create an archetype: the attributes of a user to try features out with',
  description:
    'It belongs to the person who makes it. A secret key that acts in its own name is no person, so what it makes is public.',
  permission: 'manageArchetype',
  body: changeable.partial().required({ name: true, isPublic: true }),
  response: answer,
});

export const getArchetype = operation({
  id: 'getArchetype',
  method: 'GET',
  path: `${path}/{id}`,
  tag: 'archetypes',
  summary: 'Get one archetype',
  permission: 'readData',
  params: idParams,
  response: answer,
  errors: [404],
});

export const putArchetype = operation({
  id: 'putArchetype',
  method: 'PUT',
  path: `${path}/{id}`,
  tag: 'archetypes',
  summary: 'Change an archetype; what is left out stays, and so does its owner',
  permission: 'manageArchetype',
  params: idParams,
  body: changeable.partial(),
  response: answer,
  errors: [404],
});

export const deleteArchetype = operation({
  id: 'deleteArchetype',
  method: 'DELETE',
  path: `${path}/{id}`,
  tag: 'archetypes',
  summary: 'Delete an archetype',
  permission: 'manageArchetype',
  params: idParams,
  response: deletedResponse,
  errors: [404],
});
