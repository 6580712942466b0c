import { z } from 'zod';
import { deletedResponse, description, idParams, pageOf, pageQuery, timestamp } from './common.ts';
import { operation } from './operation.ts';

/** Statistics settings that a project may set apart from the organization's. */
const projectSettings = z.strictObject({
  statsEngine: z.string().optional(),
  confidenceLevel: z.number().optional(),
  pValueThreshold: z.number().optional(),
});

export const project = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    dateCreated: timestamp,
    dateUpdated: timestamp,
    description: description.optional(),
    publicId: z.string().optional(),
    settings: projectSettings.optional(),
  })
  .meta({ id: 'Project' });
export type Project = z.output<typeof project>;

const projectFields = {
  name: z.string().trim().min(1, 'must not be empty'),
  description,
  publicId: z
    .string()
    .regex(/^[a-z0-9-]+$/, 'may hold lower-case letters, digits and hyphens only')
    .meta({ pattern: '^[a-z0-9-]+$' }),
  settings: projectSettings,
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
