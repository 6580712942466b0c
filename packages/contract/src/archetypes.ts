import { z } from 'zod';
import { deletedResponse, description, idParams, pageOf, pageQuery, timestamp } from './common.ts';
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

/** What an evaluation gives. */
const evaluationResult = z.strictObject({
  value: z.unknown(),
  on: z.boolean(),
  off: z.boolean(),
  source: z.enum([
    'unknownFeature',
    'defaultValue',
    'force',
    'override',
    'experiment',
    'prerequisite',
    'cyclicPrerequisite',
  ]),
  ruleId: z.string(),
  experiment: z.record(z.string(), z.unknown()).optional(),
  experimentResult: z.record(z.string(), z.unknown()).optional(),
});

const simulatedEnvironment = z.strictObject({
  env: z.string(),
  enabled: z.boolean(),
  defaultValue: z.unknown(),
  /** Null: the feature is not served in this environment. */
  result: evaluationResult.nullable(),
  /** What came of each rule until one decided: what happened, and to which rule. */
  log: z.array(z.tuple([z.string(), z.record(z.string(), z.unknown())])),
});

export const simulatedFeature = z
  .strictObject({
    featureId: z.string(),
    /** The revision whose content was evaluated. */
    version: z.int(),
    environments: z.array(simulatedEnvironment),
  })
  .meta({ id: 'SimulatedFeature' });
export type SimulatedFeature = z.output<typeof simulatedFeature>;

export const simulateArchetype = operation({
  id: 'simulateArchetype',
  method: 'POST',
  path: `${path}/{id}/simulate`,
  tag: 'archetypes',
  summary: 'Evaluate features for an archetype, in each environment, and say why each value comes about',
  description:
    'One feature, or page by page all that are not archived. `version` takes the content of one of its revisions, `evalDate` ' +
    'says when schedules are judged; otherwise all is as it is served now. Prerequisites are left out and rules that have some ' +
    'are skipped; with `skipRulesWithPrerequisites: false` such rules count as if their prerequisites held, and with ' +
    '`scrubPrerequisites: false` they are evaluated as in SDKs. Nothing is changed or tracked.',
  permission: 'readData',
  params: idParams,
  query: z.strictObject(pageQuery),
  body: z.strictObject({
    featureId: z.string().optional(),
    version: z.int().min(1).optional(),
    environment: z.string().optional(),
    evalDate: timestamp.optional(),
    scrubPrerequisites: z.boolean().default(true),
    skipRulesWithPrerequisites: z.boolean().default(true),
  }),
  response: pageOf('results', simulatedFeature),
  errors: [404],
});
