import { z } from 'zod';
import { deletedResponse, description, idParams, pageOf, pageQuery, timestamp } from './common.ts';
import { operation } from './operation.ts';

const levelHint = 'must be at least 0.5 and below 1, such as 0.95';
const thresholdHint = 'must be above 0 and at most 0.5, such as 0.05';

/** Statistics settings that a project may set apart from the organization's. */
const statisticsSettings = z.strictObject({
  // Text in the interface that clients were generated from, so it may not become an enumeration here.
  statsEngine: z
    .string()
    .refine((engine) => engine === 'bayesian' || engine === 'frequentist', 'must be "bayesian" or "frequentist"')
    .optional(),
  confidenceLevel: z.number().min(0.5, levelHint).lt(1, levelHint).optional(),
  pValueThreshold: z.number().positive(thresholdHint).max(0.5, thresholdHint).optional(),
});

export const project = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    dateCreated: timestamp,
    dateUpdated: timestamp,
    description: description.optional(),
    publicId: z.string().optional(),
    settings: statisticsSettings.optional(),
  })
  .meta({ id: 'Project' });
export type Project = z.output<typeof project>;

const projectFields = {
  name: z.string().trim().min(1, 'must not be empty').max(256),
  description,
  publicId: z
    .string()
    .max(256)
    .regex(/^[a-z0-9-]+$/, 'may hold lower-case letters, digits and hyphens only')
    .meta({ pattern: '^[a-z0-9-]+$' }),
  settings: statisticsSettings,
};

const answer = z.strictObject({ project });

export const listProjects = operation({
  id: 'listProjects',
  method: 'GET',
  path: '/v1/projects',
  tag: 'projects',
  summary: 'List the projects, by id',
  permission: 'readData',
  query: z.strictObject(pageQuery),
  response: pageOf('projects', project),
});

export const getProject = operation({
  id: 'getProject',
  method: 'GET',
  path: '/v1/projects/{id}',
  tag: 'projects',
  summary: 'Get one project',
  permission: 'readData',
  params: idParams,
  response: answer,
  errors: [404],
});

export const postProject = operation({
  id: 'postProject',
  method: 'POST',
  path: '/v1/projects',
  tag: 'projects',
  summary: 'Create a project',
  description: 'Without a `publicId` one is made from the name; it appears in SDK payload metadata and is unique.',
  permission: 'createProjects',
  body: z.strictObject(projectFields).partial().required({ name: true }),
  response: answer,
});

export const putProject = operation({
  id: 'putProject',
  method: 'PUT',
  path: '/v1/projects/{id}',
  tag: 'projects',
  summary: 'Change a project; what is left out stays',
  permission: 'manageProjects',
  params: idParams,
  body: z.strictObject(projectFields).partial(),
  response: answer,
  errors: [404, 409],
});

export const deleteProject = operation({
  id: 'deleteProject',
  method: 'DELETE',
  path: '/v1/projects/{id}',
  tag: 'projects',
  summary: 'Delete a project',
  description:
    'The objects in it stay. No scope widens: where the project was the last one of a list, its id stays there and matches nothing.',
  permission: 'deleteProjects',
  params: idParams,
  response: deletedResponse,
  errors: [404, 409],
});
