import {
  archiveSavedGroup,
  createCustomField,
  deleteArchetype,
  deleteAttribute,
  deleteCustomField,
  deleteEnvironment,
  deleteEventWebhook,
  deleteFeature,
  deleteFeatureV1,
  deleteNamespace,
  deleteProject,
  deleteSavedGroup,
  deleteSdkConnection,
  deleteSdkWebhook,
  deleteWebhookSecret,
  getArchetype,
  getCodeRefs,
  getCustomField,
  getEventWebhook,
  getEventWebhookLogs,
  getFeature,
  getFeatureKeys,
  getFeatureKeysV1,
  getFeatureV1,
  getNamespace,
  getNamespaceMemberships,
  getProject,
  getSavedGroup,
  getSavedGroupReferences,
  getSdkConnection,
  getSdkPayload,
  getSdkPayloadForEvaluation,
  getSdkWebhook,
  getStaleFeatures,
  getStaleFeaturesV1,
  getVersion,
  getWebhookSecret,
  listArchetypes,
  listAttributes,
  listCodeRefs,
  listCustomFields,
  listEnvironments,
  listEventWebhooks,
  listFeatures,
  listFeaturesV1,
  listMembers,
  listNamespaces,
  listProjects,
  listSavedGroups,
  listSdkConnections,
  listSdkWebhookDeliveries,
  listSdkWebhooks,
  listWebhookSecrets,
  lookupSdkConnectionByKey,
  type Operation,
  operations,
  postArchetype,
  postAttribute,
  postCodeRefs,
  postEnvironment,
  postEventWebhook,
  postFeature,
  postFeatureV1,
  postNamespace,
  postNamespaceRotateSeed,
  postProject,
  postSavedGroup,
  postSdkConnection,
  postSdkWebhook,
  postWebhookSecret,
  putArchetype,
  putAttribute,
  putEnvironment,
  putEventWebhook,
  putNamespace,
  putProject,
  putSdkConnection,
  putSdkWebhook,
  putWebhookSecret,
  revertFeature,
  revertFeatureV1,
  simulateArchetype,
  testEventWebhook,
  testSdkWebhook,
  toggleFeature,
  toggleFeatureV1,
  unarchiveSavedGroup,
  updateCustomField,
  updateFeature,
  updateFeatureV1,
  updateSavedGroup,
} from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WrongInput } from '../testing/client.ts';
import { newConnection, newFeature } from '../testing/objects.ts';
import { startService, type TestOrganization, type TestService } from '../testing/service.ts';

/** What one organization has, for another to reach for. */
interface Belongings {
  readonly project: string;
  readonly environment: string;
  readonly attribute: string;
  readonly namespace: string;
  readonly customField: string;
  readonly archetype: string;
  readonly savedGroup: string;
  readonly feature: string;
  readonly connection: string;
  readonly key: string;
  readonly sdkWebhook: string;
  readonly eventWebhook: string;
  readonly webhookSecret: string;
  readonly owner: string;
}

const codeReferences = { branch: 'main', repoName: 'shop' };
const reference = { filePath: 'Secret plans', startingLineNumber: 1, lines: '', contentHash: '' };

/** How each operation reaches for what belongs to somebody else, and what it must answer. */
type Crossing = (theirs: Belongings) => { status: 200 | 400 | 404; input?: WrongInput };

const feature = { id: 'crossing', defaultValue: 'false' };
const customField = { id: 'own', name: 'Own', type: 'text', required: false, sections: ['feature'] };
const connection = { name: 'Crossing', language: 'javascript', environment: 'production' };

const eventWebhook = {
  name: 'Crossing',
  url: 'https://example.com',
  enabled: false,
  events: ['feature.*'],
  payloadType: 'json' as const,
};

const crossings = new Map<Operation, Crossing>([
  [listProjects, () => ({ status: 200 })],
  [getProject, ({ project }) => ({ status: 404, input: { params: { id: project } } })],
  [postProject, () => ({ status: 200, input: { body: { name: 'Own' } } })],
  [putProject, ({ project }) => ({ status: 404, input: { params: { id: project }, body: { name: 'Taken' } } })],
  [deleteProject, ({ project }) => ({ status: 404, input: { params: { id: project } } })],
  [listEnvironments, () => ({ status: 200 })],
  [postEnvironment, ({ project }) => ({ status: 400, input: { body: { id: 'x', projects: [project] } } })],
  [
    putEnvironment,
    ({ environment }) => ({ status: 404, input: { params: { id: environment }, body: { description: 'Taken' } } }),
  ],
  [deleteEnvironment, ({ environment }) => ({ status: 404, input: { params: { id: environment } } })],
  [listAttributes, ({ project }) => ({ status: 200, input: { query: { projectId: project } } })],
  [
    postAttribute,
    ({ project }) => ({ status: 400, input: { body: { property: 'x', datatype: 'string', projects: [project] } } }),
  ],
  [
    putAttribute,
    ({ attribute }) => ({ status: 404, input: { params: { property: attribute }, body: { description: 'Taken' } } }),
  ],
  [deleteAttribute, ({ attribute }) => ({ status: 404, input: { params: { property: attribute } } })],
  [listCodeRefs, () => ({ status: 200 })],
  [getCodeRefs, ({ feature: id }) => ({ status: 404, input: { params: { id } } })],
  [
    postCodeRefs,
    ({ feature: flagKey }) => ({
      status: 200,
      input: { body: { ...codeReferences, refs: [{ ...reference, flagKey }] }, query: { deleteMissing: true } },
    }),
  ],
  [listNamespaces, () => ({ status: 200 })],
  [postNamespace, () => ({ status: 200, input: { body: { displayName: 'Secret plans', format: 'legacy' } } })],
  ...[getNamespace, deleteNamespace, getNamespaceMemberships, postNamespaceRotateSeed].map(
    (operation): [Operation, Crossing] => [
      operation,
      ({ namespace: id }) => ({ status: 404, input: { params: { id } } }),
    ],
  ),
  [putNamespace, ({ namespace: id }) => ({ status: 404, input: { params: { id }, body: { status: 'inactive' } } })],
  [listCustomFields, ({ project }) => ({ status: 200, input: { query: { projectId: project } } })],
  [createCustomField, ({ project }) => ({ status: 400, input: { body: { ...customField, projects: [project] } } })],
  [getCustomField, ({ customField: id }) => ({ status: 404, input: { params: { id } } })],
  [updateCustomField, ({ customField: id }) => ({ status: 404, input: { params: { id }, body: { name: 'Taken' } } })],
  [deleteCustomField, ({ customField: id }) => ({ status: 404, input: { params: { id } } })],
  [listArchetypes, () => ({ status: 200 })],
  [
    postArchetype,
    ({ project }) => ({ status: 400, input: { body: { name: 'Own', isPublic: true, projects: [project] } } }),
  ],
  [getArchetype, ({ archetype: id }) => ({ status: 404, input: { params: { id } } })],
  [putArchetype, ({ archetype: id }) => ({ status: 404, input: { params: { id }, body: { name: 'Taken' } } })],
  [simulateArchetype, ({ archetype: id }) => ({ status: 404, input: { params: { id }, body: {} } })],
  [deleteArchetype, ({ archetype: id }) => ({ status: 404, input: { params: { id } } })],
  [listSavedGroups, () => ({ status: 200 })],
  [
    postSavedGroup,
    ({ savedGroup }) => ({
      status: 400,
      input: { body: { name: 'Own', condition: `{"$savedGroups":["${savedGroup}"]}` } },
    }),
  ],
  [updateSavedGroup, ({ savedGroup: id }) => ({ status: 404, input: { params: { id }, body: { name: 'Taken' } } })],
  [archiveSavedGroup, ({ savedGroup: id }) => ({ status: 404, input: { params: { id }, body: {} } })],
  ...[getSavedGroup, deleteSavedGroup, unarchiveSavedGroup, getSavedGroupReferences].map(
    (operation): [Operation, Crossing] => [
      operation,
      ({ savedGroup: id }) => ({ status: 404, input: { params: { id } } }),
    ],
  ),
  [listSdkConnections, ({ project }) => ({ status: 200, input: { query: { projectId: project } } })],
  [postSdkConnection, ({ environment }) => ({ status: 400, input: { body: { ...connection, environment } } })],
  [getSdkConnection, ({ connection: id }) => ({ status: 404, input: { params: { id } } })],
  [putSdkConnection, ({ connection: id }) => ({ status: 404, input: { params: { id }, body: { name: 'Taken' } } })],
  [deleteSdkConnection, ({ connection: id }) => ({ status: 404, input: { params: { id } } })],
  [lookupSdkConnectionByKey, ({ key }) => ({ status: 404, input: { params: { key } } })],
  [getSdkPayload, ({ key }) => ({ status: 404, input: { params: { key } } })],
  [getSdkPayloadForEvaluation, ({ key }) => ({ status: 404, input: { params: { key } } })],
  [listSdkWebhooks, ({ connection: id }) => ({ status: 404, input: { params: { id } } })],
  [
    postSdkWebhook,
    ({ connection: id }) => ({
      status: 404,
      input: { params: { id }, body: { name: 'Own', endpoint: 'https://example.com' } },
    }),
  ],
  ...[getSdkWebhook, deleteSdkWebhook, testSdkWebhook, listSdkWebhookDeliveries].map(
    (operation): [Operation, Crossing] => [
      operation,
      ({ connection: id, sdkWebhook: webhookId }) => ({ status: 404, input: { params: { id, webhookId } } }),
    ],
  ),
  [
    putSdkWebhook,
    ({ connection: id, sdkWebhook: webhookId }) => ({
      status: 404,
      input: { params: { id, webhookId }, body: { name: 'Taken' } },
    }),
  ],
  [listEventWebhooks, () => ({ status: 200 })],
  [postEventWebhook, ({ project }) => ({ status: 400, input: { body: { ...eventWebhook, projects: [project] } } })],
  ...[getEventWebhook, deleteEventWebhook, getEventWebhookLogs, testEventWebhook].map(
    (operation): [Operation, Crossing] => [
      operation,
      ({ eventWebhook: id }) => ({ status: 404, input: { params: { id } } }),
    ],
  ),
  [putEventWebhook, ({ eventWebhook: id }) => ({ status: 404, input: { params: { id }, body: { name: 'Taken' } } })],
  [listWebhookSecrets, () => ({ status: 200 })],
  [postWebhookSecret, () => ({ status: 200, input: { body: { key: 'THEIRS', value: 'ours' } } })],
  [getWebhookSecret, ({ webhookSecret: id }) => ({ status: 404, input: { params: { id } } })],
  [putWebhookSecret, ({ webhookSecret: id }) => ({ status: 404, input: { params: { id }, body: { value: 'taken' } } })],
  [deleteWebhookSecret, ({ webhookSecret: id }) => ({ status: 404, input: { params: { id } } })],
  [listMembers, () => ({ status: 200 })],
  [getVersion, () => ({ status: 200 })],
  ...[getStaleFeatures, getStaleFeaturesV1].map((operation): [Operation, Crossing] => [
    operation,
    ({ feature: ids }) => ({ status: 200, input: { query: { ids } } }),
  ]),
  ...[listFeatures, listFeaturesV1].map((operation): [Operation, Crossing] => [
    operation,
    ({ key }) => ({ status: 400, input: { query: { clientKey: key } } }),
  ]),
  ...[getFeatureKeys, getFeatureKeysV1].map((operation): [Operation, Crossing] => [
    operation,
    ({ project }) => ({ status: 200, input: { query: { projectId: project } } }),
  ]),
  ...[postFeature, postFeatureV1].map((operation): [Operation, Crossing] => [
    operation,
    ({ owner }) => ({ status: 400, input: { body: { ...feature, owner } } }),
  ]),
  ...[getFeature, getFeatureV1].map((operation): [Operation, Crossing] => [
    operation,
    ({ feature: id }) => ({ status: 404, input: { params: { id }, query: { withRevisions: 'all' } } }),
  ]),
  ...[updateFeature, updateFeatureV1].map((operation): [Operation, Crossing] => [
    operation,
    ({ feature: id }) => ({ status: 404, input: { params: { id }, body: { description: 'Taken' } } }),
  ]),
  ...[deleteFeature, deleteFeatureV1].map((operation): [Operation, Crossing] => [
    operation,
    ({ feature: id }) => ({ status: 404, input: { params: { id } } }),
  ]),
  ...[revertFeature, revertFeatureV1].map((operation): [Operation, Crossing] => [
    operation,
    ({ feature: id }) => ({ status: 404, input: { params: { id }, body: { revision: 1 } } }),
  ]),
  ...[toggleFeature, toggleFeatureV1].map((operation): [Operation, Crossing] => [
    operation,
    ({ feature: id }) => ({ status: 404, input: { params: { id }, body: { environments: { production: false } } } }),
  ]),
]);

/** References that a body may hold, each to something of another organization. */
const references: [string, (theirs: Belongings) => object][] = [
  ['project', ({ project }) => ({ project })],
  ['targeting project', ({ project }) => ({ targetingProjects: [project] })],
  ['environment', ({ environment }) => ({ environments: { [environment]: { enabled: true } } })],
  ['prerequisite', ({ feature: id }) => ({ prerequisites: [id] })],
  ['project of a rule', ({ project }) => ({ rules: [{ type: 'force', value: 'true', projects: [project] }] })],
  [
    'environment of a rule',
    ({ environment }) => ({ rules: [{ type: 'force', value: 'true', environments: [environment] }] }),
  ],
  [
    'prerequisite of a rule',
    ({ feature: id }) => ({
      rules: [{ type: 'force', value: 'true', prerequisites: [{ id, condition: '{"value":true}' }] }],
    }),
  ],
  ['custom field', ({ customField: id }) => ({ customFields: { [id]: 'x' } })],
  [
    'saved group of a rule',
    ({ savedGroup: id }) => ({
      rules: [{ type: 'force', value: 'true', savedGroups: [{ match: 'all', ids: [id] }] }],
    }),
  ],
  [
    'saved group in the condition of a rule',
    ({ savedGroup: id }) => ({ rules: [{ type: 'force', value: 'true', condition: `{"id":{"$inGroup":"${id}"}}` }] }),
  ],
  ['owner', ({ owner }) => ({ owner })],
];

/** Those that a rule of v1 may hold, in the list of an environment. */
const referencesInLists: [string, (theirs: Belongings) => object][] = [
  ['project', ({ project }) => ({ projects: [project] })],
  ['prerequisite', ({ feature: id }) => ({ prerequisites: [{ id, condition: '{"value":true}' }] })],
  ['saved group', ({ savedGroup }) => ({ savedGroups: [{ match: 'all', ids: [savedGroup] }] })],
  [
    'namespace',
    ({ namespace: name }) => ({
      type: 'experiment',
      condition: '',
      value: [],
      namespace: { enabled: true, name, range: [0, 1] },
    }),
  ],
];

describe('organizations', () => {
  let service: TestService;
  let mine: TestOrganization;
  let theirs: Belongings;

  beforeAll(async () => {
    service = await startService();
    mine = await service.newOrganization('Mine');
    const other = await service.newOrganization('Theirs');
    const { project } = await other.admin.call(postProject, {
      body: { name: 'Secret plans', publicId: 'secret-plans' },
    });
    await other.admin.call(postEnvironment, { body: { id: 'their-environment', description: 'Secret plans' } });
    await other.admin.call(postAttribute, {
      body: { property: 'theirAttribute', datatype: 'string', description: 'Secret plans' },
    });
    const { namespace } = await other.admin.call(postNamespace, {
      body: { displayName: 'Secret plans', format: 'legacy' },
    });
    await other.admin.call(createCustomField, {
      body: { id: 'their-field', name: 'Secret plans', type: 'text', required: false, sections: ['feature'] },
    });
    const { archetype } = await other.admin.call(postArchetype, {
      body: { name: 'Secret plans', isPublic: true, attributes: { plan: 'Secret plans' } },
    });
    const { savedGroup } = await other.admin.call(postSavedGroup, {
      body: { name: 'Secret plans', attributeKey: 'id', values: ['secret plans'] },
    });
    const { id } = await newFeature(other, {
      id: 'their-feature',
      description: 'Secret plans',
      tags: ['secret plans'],
    });
    await other.admin.call(postCodeRefs, { body: { ...codeReferences, refs: [{ ...reference, flagKey: id }] } });
    const { id: connectionId, key } = await newConnection(other.admin, { name: 'Secret plans' });
    const { sdkWebhook } = await other.admin.call(postSdkWebhook, {
      params: { id: connectionId },
      body: { name: 'Secret plans', endpoint: 'https://example.com', disabled: true },
    });
    const { eventWebhook: told } = await other.admin.call(postEventWebhook, {
      body: { ...eventWebhook, name: 'Secret plans' },
    });
    const { webhookSecret } = await other.admin.call(postWebhookSecret, {
      body: { key: 'THEIRS', value: 'Secret plans', description: 'Secret plans' },
    });
    theirs = {
      project: project.id,
      environment: 'their-environment',
      attribute: 'theirAttribute',
      namespace: namespace.id,
      customField: 'their-field',
      archetype: archetype.id,
      savedGroup: savedGroup.id,
      feature: id,
      connection: connectionId,
      key,
      sdkWebhook: sdkWebhook.id,
      eventWebhook: told.id,
      webhookSecret: webhookSecret.id,
      owner: other.owner.id,
    };
  });
  afterAll(() => service.stop());

  /** Everything that is stored of the other organization. */
  const stored = async () => {
    const { id } = await service.db
      .selectFrom('organization')
      .select('id')
      .where('name', '=', 'Theirs')
      .executeTakeFirstOrThrow();
    return {
      states: await service.db
        .selectFrom('published_state')
        .selectAll()
        .where('organization', '=', id)
        .orderBy('version')
        .orderBy('ordinal')
        .execute(),
      plain: await service.db
        .selectFrom('plain_object')
        .selectAll()
        .where('organization', '=', id)
        .orderBy('id')
        .execute(),
      references: await service.db.selectFrom('code_reference').selectAll().where('organization', '=', id).execute(),
      audits: await service.db.selectFrom('audit').selectAll().where('organization', '=', id).orderBy('id').execute(),
      revisions: await service.db.selectFrom('revision').selectAll().where('organization', '=', id).execute(),
      events: await service.db.selectFrom('event').selectAll().where('organization', '=', id).orderBy('id').execute(),
    };
  };

  test('every operation that is served is tried', () => {
    expect([...crossings.keys()].map(({ id }) => id).sort()).toEqual(operations.map(({ id }) => id).sort());
  });

  test.each(operations.map((operation) => [operation.id, operation] as const))(
    '%s neither shows nor touches what is another’s',
    async (_, operation) => {
      const before = await stored();
      const { status, input } = crossings.get(operation)?.(theirs) ?? { status: 200 };
      const response = await mine.admin.request(operation, input);
      const text = await response.text();
      expect([response.status, text]).toEqual([status, expect.any(String)]);
      for (const secret of [
        'Secret plans',
        'secret plans',
        theirs.key,
        ...(status === 200 ? Object.values(theirs) : []),
      ]) {
        if (input !== undefined && JSON.stringify(input).includes(secret)) continue;
        expect(text).not.toContain(secret);
      }
      expect(await stored()).toEqual(before);
    },
  );

  test.each(references)('a %s of another organization is unknown', async (_, body) => {
    const before = await stored();
    const input = { body: { ...feature, owner: mine.owner.id, ...body(theirs) } };
    await mine.admin.refused(400, postFeature, input);
    expect(await stored()).toEqual(before);
  });

  test.each(referencesInLists)('a %s of another organization is unknown in a rule of v1', async (_, rule) => {
    const before = await stored();
    const rules = [{ type: 'force', value: 'true', ...rule(theirs) }];
    const draft = { rules };
    for (const entry of [
      { enabled: true, rules },
      { enabled: true, rules: [], draft },
    ]) {
      const body = { ...feature, owner: mine.owner.id, environments: { production: entry } };
      await mine.admin.refused(400, postFeatureV1, { body });
    }
    expect(await stored()).toEqual(before);
  });

  test('an environment of another organization is unknown in v1', async () => {
    const environments = { [theirs.environment]: { enabled: true, rules: [] } };
    await mine.admin.refused(400, postFeatureV1, { body: { ...feature, owner: mine.owner.id, environments } });
  });

  test('the same ids can be used by both', async () => {
    const { id } = await newFeature(mine, { id: 'their-feature', description: 'Ours' });
    expect((await mine.admin.call(getFeature, { params: { id } })).feature.description).toBe('Ours');
    const { project } = await mine.admin.call(postProject, { body: { name: 'x', publicId: 'secret-plans' } });
    expect(project.publicId).toBe('secret-plans');
  });

  test('payloads hold features of their own organization only', async () => {
    const { key } = await newConnection(mine.admin);
    const own = await newFeature(mine, { id: 'own-feature' });
    const read = async (of: string) =>
      Object.keys(((await (await fetch(`${service.url}/api/features/${of}`)).json()) as { features: object }).features);
    await expect.poll(() => read(key)).toContain(own.id);
    expect(await read(theirs.key)).toEqual([theirs.feature]);
  });
});
