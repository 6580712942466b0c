import {
  type BodyInputOf,
  createCustomField,
  deleteFeature,
  deleteNamespace,
  deleteProject,
  type Feature,
  postAttribute,
  postNamespace,
  postNamespaceRotateSeed,
  postProject,
  postSavedGroup,
  putAttribute,
  putEnvironment,
  putNamespace,
  putProject,
  putSdkConnection,
  toggleFeature,
  updateCustomField,
  updateFeature,
  updateSavedGroup,
} from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchPayload } from '../../testing/delivery.ts';
import { featureState, inlineExperiment } from '../../testing/flags/states.ts';
import { freshId, newConnection, newEnvironment, newFeature } from '../../testing/objects.ts';
import { startService, type TestOrganization, type TestService } from '../../testing/service.ts';
import { openStream, type TestStream } from '../../testing/streams.ts';
import { featureKind } from '../flags/index.ts';
import type { Actor } from '../record/index.ts';

const actor: Actor = { type: 'system', subtype: 'test' };

/** Connections to everything in production but for what their names say. */
const names = ['all', 'dev', 'inA', 'inB', 'projects', 'tags', 'fields', 'secure', 'old', 'foreign'] as const;
type Name = (typeof names)[number];

/** All that serve a feature of project A in production, and all that serve it anywhere. */
const productionA: readonly Name[] = ['all', 'inA', 'projects', 'tags', 'fields', 'secure', 'old'];
const everywhereA: readonly Name[] = [...productionA, 'dev'];

/** A connection as an SDK sees it. */
interface Watched {
  readonly organization: TestOrganization;
  readonly id: string;
  readonly key: string;
  stream: TestStream;
  /** Id of the last event that came. */
  last: number;
}

/** What a payload is known by. */
interface Seen {
  readonly etag: string | null;
  /** The version of its last change. */
  readonly version: number;
}

type UpdateBody = BodyInputOf<typeof updateFeature>;

describe('what changes which payload', () => {
  let service: TestService;
  let a: string;
  let b: string;
  const watched = new Map<Name, Watched>();

  beforeAll(async () => {
    service = await startService({ SSE_LIFETIME_SECONDS: '600' });
    const { admin } = service;
    const newProject = async (name: string) => (await admin.call(postProject, { body: { name } })).project.id;
    [a, b] = [await newProject('A'), await newProject('B')];
    await newEnvironment(admin, 'dev', { defaultState: true });
    await admin.call(createCustomField, {
      body: { id: 'team', name: 'Team', type: 'text', required: false, sections: ['feature'] },
    });
    await service.setSettings({ secureAttributeSalt: 'salt', restApiBypassesReviews: true });
    const foreign = await service.newOrganization('Foreign');
    await newFeature(foreign);
    const options: Record<Name, Parameters<typeof newConnection>[1]> = {
      all: {},
      dev: { environment: 'dev' },
      inA: { projects: [a] },
      inB: { projects: [b] },
      projects: { includeProjectIdInMetadata: true },
      tags: { includeTagsInMetadata: true },
      fields: { includeCustomFieldsInMetadata: true, allowedCustomFieldsInMetadata: ['team'] },
      secure: { hashSecureAttributes: true },
      old: { language: 'python', sdkVersion: '1.0.0' },
      foreign: {},
    };
    for (const name of names) {
      const organization = name === 'foreign' ? foreign : service;
      const { id, key } = await newConnection(organization.admin, options[name]);
      watched.set(name, { organization, id, key, stream: await openStream(service.url, key), last: 0 });
    }
  });
  afterAll(async () => {
    for (const { stream } of watched.values()) stream.close();
    await service.stop();
  });

  const connection = (name: Name): Watched => {
    const found = watched.get(name);
    if (found === undefined) throw new Error(`There is no connection ${name}.`);
    return found;
  };

  /** The payload as it is once everything that has landed so far is in it. */
  const see = async ({ organization, key }: Watched): Promise<Seen> => {
    const version = await service.version(organization.id);
    const response = await fetchPayload(service.url, key, { 'X-Service-Min-Config-Version': String(version) });
    await response.arrayBuffer();
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('X-Service-Config-Version'))).toBeGreaterThanOrEqual(version);
    return {
      etag: response.headers.get('etag'),
      version: Number(response.headers.get('X-Service-Payload-Version')),
    };
  };
  const seeAll = async (): Promise<Map<Name, Seen>> =>
    new Map(await Promise.all(names.map(async (name) => [name, await see(connection(name))] as const)));

  /** Takes the events up to the last change of each payload. */
  const settle = async (): Promise<Map<Name, Seen>> => {
    const seen = await seeAll();
    for (const [name, { version }] of seen) {
      const one = connection(name);
      while (one.last < version) one.last = Number((await one.stream.next()).id);
    }
    return seen;
  };

  /** Changes a connection. Its stream ends with that, and begins again where it ended. */
  const changeConnection = async (name: Name, body: BodyInputOf<typeof putSdkConnection>): Promise<void> => {
    const one = connection(name);
    await service.admin.call(putSdkConnection, { params: { id: one.id }, body });
    await one.stream.ended;
    one.stream = await openStream(service.url, one.key, { 'Last-Event-ID': String(one.last) });
  };

  const create = (body: Parameters<typeof newFeature>[1] = {}): Promise<Feature> =>
    newFeature(service, { project: a, ...body });
  const update = (id: string, body: UpdateBody) => service.admin.call(updateFeature, { params: { id }, body });
  const force = (more: object = {}) => ({ type: 'force', value: 'true', ...more }) as const;
  /** Publishes a feature of project A with an inline experiment in a namespace. */
  const publishIn = async (namespace: string) => {
    const rules = [inlineExperiment({ namespace: { enabled: true, name: namespace, ranges: [[0, 0.5]] } })];
    const state = featureState({ project: a, rules }, ['production', 'dev'], service.clock.now());
    await service.recorder.publish(service.id, actor, () => ({
      publication: { changes: [{ kind: featureKind, id: freshId(), state }], audit: [] },
      result: null,
    }));
  };
  const newNamespace = async (displayName: string) =>
    (await service.admin.call(postNamespace, { body: { displayName, hashAttribute: 'company' } })).namespace.id;

  const newGroup = async (body: Partial<BodyInputOf<typeof postSavedGroup>>) =>
    (await service.admin.call(postSavedGroup, { body: { name: 'Group', owner: service.owner.id, ...body } })).savedGroup
      .id;
  const updateGroup = (id: string, body: BodyInputOf<typeof updateSavedGroup>) =>
    service.admin.call(updateSavedGroup, { params: { id }, body });
  const targeting = (id: string) => create({ rules: [force({ savedGroups: [{ match: 'all', ids: [id] }] })] });

  /** What happens, whose payload it changes, and how it happens once everything for it is prepared. */
  type Row = readonly [change: string, whose: readonly Name[], prepare: () => Promise<() => Promise<unknown>>];

  /** An update of a feature of project A. */
  const updated = (
    change: string,
    whose: readonly Name[],
    body: () => UpdateBody,
    before: () => Parameters<typeof newFeature>[1] = () => ({}),
  ): Row => [
    change,
    whose,
    async () => {
      const { id } = await create(before());
      return () => update(id, body());
    },
  ];

  const rows: readonly Row[] = [
    // Features
    updated('default value', everywhereA, () => ({ defaultValue: 'true' })),
    updated('archiving', everywhereA, () => ({ archived: true })),
    updated(
      'bringing back',
      everywhereA,
      () => ({ archived: false }),
      () => ({ archived: true }),
    ),
    updated(
      'an edit of an archived feature',
      [],
      () => ({ defaultValue: 'true' }),
      () => ({ archived: true }),
    ),
    updated('another project', ['inA', 'inB', 'projects'], () => ({ project: b })),
    updated('no project any more', ['inA', 'projects'], () => ({ project: '' })),
    updated('one more targeting project', ['inB', 'projects'], () => ({ targetingProjects: [b] })),
    updated('every project targeted', ['inB', 'projects'], () => ({ targetingAllProjects: true })),
    updated('tags', ['tags'], () => ({ tags: ['checkout'] })),
    updated('a custom field that is served', ['fields'], () => ({ customFields: { team: 'payments' } })),
    updated('description and owner', [], () => ({ description: 'Words', owner: service.owner.email })),
    updated('nothing at all', [], () => ({ defaultValue: 'false', archived: false, project: a })),
    [
      'a prerequisite that nobody meets',
      everywhereA,
      async () => {
        const [parent, child] = [await create(), await create()];
        return () => update(child.id, { prerequisites: [parent.id] });
      },
    ],
    [
      'a feature that another requires',
      everywhereA,
      async () => {
        const parent = await create();
        const child = await create({ project: b });
        await update(child.id, { targetingAllProjects: true, prerequisites: [parent.id] });
        return () => update(parent.id, { defaultValue: 'true' });
      },
    ],
    [
      'creation',
      ['dev'],
      async () => async () => create({ environments: { production: { enabled: false }, dev: { enabled: true } } }),
    ],
    [
      'deletion',
      productionA,
      async () => {
        const { id } = await create({ environments: { dev: { enabled: false } } });
        return () => service.admin.call(deleteFeature, { params: { id } });
      },
    ],
    [
      'deletion of an archived feature',
      [],
      async () => {
        const { id } = await create({ archived: true });
        return () => service.admin.call(deleteFeature, { params: { id } });
      },
    ],
    [
      'the switch of one environment',
      ['dev'],
      async () => {
        const { id } = await create();
        return () => service.admin.call(toggleFeature, { params: { id }, body: { environments: { dev: false } } });
      },
    ],

    // Rules
    updated('a rule for one environment', ['dev'], () => ({
      rules: [force({ allEnvironments: false, environments: ['dev'] })],
    })),
    updated(
      'a rule for one project',
      ['all', 'inB', 'projects', 'tags', 'fields', 'secure', 'old', 'dev'],
      () => ({
        targetingProjects: [b],
        rules: [force({ allProjects: false, projects: [b] })],
      }),
      () => ({ targetingProjects: [b], environments: { production: { enabled: true }, dev: { enabled: true } } }),
    ),
    updated(
      'another value of a rule',
      productionA,
      () => ({ rules: [force({ id: 'one', value: 'true', allEnvironments: false, environments: ['production'] })] }),
      () => ({ rules: [force({ id: 'one', value: 'false', allEnvironments: false, environments: ['production'] })] }),
    ),
    updated(
      'a rule switched off',
      everywhereA,
      () => ({ rules: [force({ id: 'one', enabled: false })] }),
      () => ({
        rules: [force({ id: 'one' })],
      }),
    ),
    updated(
      'a rule removed',
      everywhereA,
      () => ({ rules: [] }),
      () => ({ rules: [force()] }),
    ),
    updated('a rule of coverage 0', [], () => ({
      rules: [{ type: 'rollout', value: 'true', coverage: 0, hashAttribute: 'id' }],
    })),
    updated(
      'another order of rules',
      ['dev'],
      () => ({
        rules: [
          force({ id: 'two', value: 'false', allEnvironments: false, environments: ['dev'] }),
          force({ id: 'one' }),
        ],
      }),
      () => ({
        rules: [
          force({ id: 'one' }),
          force({ id: 'two', value: 'false', allEnvironments: false, environments: ['dev'] }),
        ],
      }),
    ),
    [
      'the boundary of a schedule',
      everywhereA,
      async () => {
        const start = new Date(service.clock.now().getTime() + 3_600_000).toISOString();
        const scheduleRules = [
          { timestamp: start, enabled: true },
          { timestamp: null, enabled: false },
        ];
        await create({ rules: [force({ scheduleRules })] });
        return async () => {
          service.clock.advance(3_700_000);
          await service.app.runJobs();
        };
      },
    ],

    // What features are compiled with
    [
      'the datatype of an attribute',
      ['secure'],
      async () => {
        await service.admin.call(postAttribute, { body: { property: 'email', datatype: 'string' } });
        await create({ rules: [force({ condition: '{"email":"alice@example.com"}' })] });
        const params = { property: 'email' };
        return () => service.admin.call(putAttribute, { params, body: { datatype: 'secureString' } });
      },
    ],
    [
      'words about an attribute',
      [],
      async () => {
        const params = { property: 'email' };
        return () => service.admin.call(putAttribute, { params, body: { description: 'Where to write' } });
      },
    ],
    [
      'the salt of secure attributes',
      ['secure'],
      async () => () => service.setSettings({ secureAttributeSalt: 'pepper', restApiBypassesReviews: true }),
    ],
    [
      'the projects of an environment',
      ['dev'],
      async () => {
        await create({ project: b });
        return () => service.admin.call(putEnvironment, { params: { id: 'dev' }, body: { projects: [a] } });
      },
    ],
    [
      'words about an environment',
      [],
      async () => () => service.admin.call(putEnvironment, { params: { id: 'dev' }, body: { description: 'Ours' } }),
    ],
    [
      'the public id of a project',
      ['projects'],
      async () => {
        await create();
        return () => service.admin.call(putProject, { params: { id: a }, body: { publicId: 'renamed' } });
      },
    ],
    [
      'the name of a project',
      [],
      async () => () => service.admin.call(putProject, { params: { id: a }, body: { name: 'Other' } }),
    ],
    [
      'the end of a project',
      ['projects'],
      async () => {
        const { project } = await service.admin.call(postProject, { body: { name: 'Ending' } });
        await create({ project: project.id, environments: { dev: { enabled: false } } });
        return () => service.admin.call(deleteProject, { params: { id: project.id } });
      },
    ],
    [
      'a custom field that goes out of use',
      ['fields'],
      async () => {
        await create({ customFields: { team: 'search' } });
        return () => service.admin.call(updateCustomField, { params: { id: 'team' }, body: { active: false } });
      },
    ],
    [
      'the values of a saved group',
      everywhereA,
      async () => {
        const id = await newGroup({ attributeKey: 'id', values: ['one'] });
        await targeting(id);
        return () => updateGroup(id, { values: ['one', 'two'] });
      },
    ],
    [
      'the values of a saved group that another nests',
      everywhereA,
      async () => {
        const id = await newGroup({ attributeKey: 'id', values: ['one'] });
        await targeting(await newGroup({ condition: JSON.stringify({ $savedGroups: [id] }) }));
        return () => updateGroup(id, { values: ['two'] });
      },
    ],
    [
      'the name of a saved group, and the values of one that nothing targets by',
      [],
      async () => {
        const [used, unused] = [
          await newGroup({ attributeKey: 'id', values: ['one'] }),
          await newGroup({ attributeKey: 'id', values: ['one'] }),
        ];
        await targeting(used);
        return async () => {
          await updateGroup(used, { name: 'Renamed' });
          await updateGroup(unused, { values: ['two'] });
        };
      },
    ],
    [
      'the seed of a namespace',
      everywhereA.filter((name) => name !== 'old'),
      async () => {
        const id = await newNamespace('Seeded');
        await publishIn(id);
        return () => service.admin.call(postNamespaceRotateSeed, { params: { id }, body: {} });
      },
    ],
    [
      'the hash attribute of a namespace',
      everywhereA.filter((name) => name !== 'old'),
      async () => {
        const id = await newNamespace('Hashed');
        await publishIn(id);
        return () => service.admin.call(putNamespace, { params: { id }, body: { hashAttribute: 'device' } });
      },
    ],
    [
      'the name and status of a namespace',
      [],
      async () => {
        const id = await newNamespace('Named');
        await publishIn(id);
        const body = { displayName: 'Renamed', description: 'Words', status: 'inactive' } as const;
        return () => service.admin.call(putNamespace, { params: { id }, body });
      },
    ],
    [
      'the seed of a namespace that nothing is in, and its end',
      [],
      async () => {
        const params = { id: await newNamespace('Empty') };
        return async () => {
          await service.admin.call(postNamespaceRotateSeed, { params, body: {} });
          await service.admin.call(deleteNamespace, { params });
        };
      },
    ],

    // Connections
    ['rule ids in a payload', ['all'], async () => () => changeConnection('all', { includeRuleIds: true })],
    [
      'tags in a payload',
      ['projects'],
      async () => () => changeConnection('projects', { includeTagsInMetadata: true }),
    ],
    ['encryption', ['tags'], async () => () => changeConnection('tags', { encryptPayload: true })],
    [
      'references to saved groups',
      ['dev'],
      async () => () => changeConnection('dev', { savedGroupReferencesEnabled: true }),
    ],
    [
      'experiments in a payload',
      ['inA'],
      async () => () => changeConnection('inA', { includeVisualExperiments: true }),
    ],
    ['a newer SDK', ['old'], async () => () => changeConnection('old', { sdkVersion: '1.1.0' })],
    ['another environment', ['inB'], async () => () => changeConnection('inB', { environment: 'dev' })],
    [
      'another language',
      ['secure'],
      async () => () => changeConnection('secure', { language: 'python', sdkVersion: '1.0.0' }),
    ],
    ['the projects of a connection', ['fields'], async () => () => changeConnection('fields', { projects: [b] })],
    ['the name of a connection', [], async () => () => changeConnection('all', { name: 'Renamed' })],
  ];

  test.each(rows)('%s: %j', async (_, whose, prepare) => {
    const act = await prepare();
    const before = await settle();
    await act();
    const after = await settle();
    const changed = names.filter((name) => after.get(name)?.etag !== before.get(name)?.etag);
    const told = names.filter((name) => after.get(name)?.version !== before.get(name)?.version);
    expect(changed.toSorted()).toEqual([...whose].sort());
    expect(told).toEqual(changed);
    const version = await service.version();
    for (const name of told) expect([name, after.get(name)?.version]).toEqual([name, version]);
    // Had another stream been told, its event would be waiting.
    for (const name of names) expect([name, connection(name).stream.waiting()]).toEqual([name, 0]);
  });
});
