import { z } from 'zod';
import { deletedResponse, description, idParams, pageOf, pageQuery } from './common.ts';
import { operation } from './operation.ts';

const status = z.enum(['active', 'inactive']);
/** One range of the namespace, or several of a space that has a seed of its own. */
const format = z.enum(['legacy', 'multiRange']);

export const namespace = z
  .strictObject({
    /** Also the name that stands in namespace values. */
    id: z.string(),
    displayName: z.string(),
    description,
    status,
    format,
    /** Whose hash decides, unless the namespace value names another; of `multiRange` only. */
    hashAttribute: z.string().optional(),
    /** What is hashed along with it; of `multiRange` only. */
    seed: z.string().optional(),
  })
  .meta({ id: 'Namespace' });
export type Namespace = z.output<typeof namespace>;

export const namespaceExperimentMember = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    trackingKey: z.string(),
    status: z.enum(['draft', 'running', 'stopped']),
    /** What of the namespace its latest phase claims. */
    ranges: z.array(z.tuple([z.number(), z.number()])),
  })
  .meta({ id: 'NamespaceExperimentMember' });
export type NamespaceExperimentMember = z.output<typeof namespaceExperimentMember>;

const displayName = z.string().trim().min(1, 'must not be empty').max(256);
const hashAttribute = z.string().min(1, 'must not be empty: name an attribute, such as "id"').max(256);
const seed = z.string().min(1, 'must not be empty: leave it out to have one made').max(256);
const answer = z.strictObject({ namespace });
const path = '/v1/namespaces';
const tag = 'namespaces';

export const listNamespaces = operation({
  id: 'listNamespaces',
  method: 'GET',
  path,
  tag,
  summary: 'List the namespaces, by id',
  permission: 'readData',
  query: z.strictObject(pageQuery),
  response: pageOf('namespaces', namespace),
});

export const postNamespace = operation({
  id: 'postNamespace',
  method: 'POST',
  path,
  tag,
  summary: 'Create a namespace',
  description:
    'The format is `multiRange` unless said otherwise, and stays what it is. `multiRange` needs a `hashAttribute` and gets a seed of its own.',
  permission: 'manageNamespaces',
  body: z.strictObject({
    displayName,
    description: description.optional(),
    status: status.optional(),
    format: format.optional(),
    hashAttribute: hashAttribute.optional(),
  }),
  response: answer,
  errors: [409],
});

export const getNamespace = operation({
  id: 'getNamespace',
  method: 'GET',
  path: `${path}/{id}`,
  tag,
  summary: 'Get one namespace',
  permission: 'readData',
  params: idParams,
  response: answer,
  errors: [404],
});

export const putNamespace = operation({
  id: 'putNamespace',
  method: 'PUT',
  path: `${path}/{id}`,
  tag,
  summary: 'Change a namespace; what is left out stays',
  description:
    'Another `hashAttribute` puts users into other buckets. The status says only whether people are offered the namespace; rules in it go on.',
  permission: 'manageNamespaces',
  params: idParams,
  body: z.strictObject({ displayName, description, status, hashAttribute }).partial(),
  response: answer,
  errors: [404, 409],
});

export const deleteNamespace = operation({
  id: 'deleteNamespace',
  method: 'DELETE',
  path: `${path}/{id}`,
  tag,
  summary: 'Delete a namespace that nothing is in any more',
  permission: 'manageNamespaces',
  params: idParams,
  response: deletedResponse,
  errors: [404, 409],
});

export const getNamespaceMemberships = operation({
  id: 'getNamespaceMemberships',
  method: 'GET',
  path: `${path}/{id}/memberships`,
  tag,
  summary: 'List the experiments whose latest phase is in a namespace',
  permission: 'readData',
  params: idParams,
  query: z.strictObject(pageQuery),
  response: pageOf('experiments', namespaceExperimentMember),
  errors: [404],
});

export const postNamespaceRotateSeed = operation({
  id: 'postNamespaceRotateSeed',
  method: 'POST',
  path: `${path}/{id}/rotateSeed`,
  tag,
  summary: 'Give a namespace another seed, which puts users into other buckets',
  description: 'The one in `seed`, or a new one.',
  permission: 'manageNamespaces',
  params: idParams,
  body: z.strictObject({ seed: seed.optional() }).default({}),
  response: answer,
  errors: [404, 409],
});
