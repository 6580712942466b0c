import { z } from 'zod';
import { deletedResponse, description, idParams, usableAsKey } from './common.ts';
import { operation } from './operation.ts';

export const environment = z
  .strictObject({
    id: z.string(),
    description: z.string(),
    toggleOnList: z.boolean(),
    defaultState: z.boolean(),
    projects: z.array(z.string()),
    parent: z.string().optional(),
  })
  .meta({ id: 'Environment' });
export type Environment = z.output<typeof environment>;

const changeable = {
  description: description.optional(),
  toggleOnList: z.boolean().optional(),
  defaultState: z.boolean().optional(),
  projects: z.array(z.string()).optional(),
};

const environmentId = z
  .string()
  .max(64)
  .regex(/^[A-Za-z0-9_-]+$/, 'must not be empty and may hold letters, digits, hyphens and underscores only')
  .refine(...usableAsKey)
  .meta({ pattern: '^[A-Za-z0-9_-]+$' });

const answer = z.strictObject({ environment });

export const listEnvironments = operation({
  id: 'listEnvironments',
  method: 'GET',
  path: '/v1/environments',
  tag: 'environments',
  summary: 'List the environments in the order of the organization',
  permission: 'readData',
  response: z.strictObject({ environments: z.array(environment) }),
});

export const postEnvironment = operation({
  id: 'postEnvironment',
  method: 'POST',
  path: '/v1/environments',
  tag: 'environments',
  summary: 'Create an environment; it comes last',
  description:
    'Existing features follow the `parent` until they are first changed in the new environment; without one they are off there.',
  permission: 'manageEnvironments',
  body: z.strictObject({ id: environmentId, ...changeable, parent: z.string().optional() }),
  response: answer,
  errors: [409],
});

export const putEnvironment = operation({
  id: 'putEnvironment',
  method: 'PUT',
  path: '/v1/environments/{id}',
  tag: 'environments',
  summary: 'Change an environment; what is left out stays',
  permission: 'manageEnvironments',
  params: idParams,
  body: z.strictObject(changeable),
  response: answer,
  errors: [404, 409],
});

export const deleteEnvironment = operation({
  id: 'deleteEnvironment',
  method: 'DELETE',
  path: '/v1/environments/{id}',
  tag: 'environments',
  summary: 'Delete an environment that no SDK connection uses',
  permission: 'manageEnvironments',
  params: idParams,
  response: deletedResponse,
  errors: [404, 409],
});
