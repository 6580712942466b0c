import {
  deleteProject,
  type Feature,
  getFeature,
  postProject,
  type ResponseOf,
  toggleFeature,
  updateFeature,
} from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { payloadOf } from '../../testing/delivery.ts';
import { inlineExperiment } from '../../testing/flags/states.ts';
import { freshId, newConnection, newEnvironment, newFeature } from '../../testing/objects.ts';
import { startService, type TestService } from '../../testing/service.ts';
import { type FeatureState, featureKind, type StoredRule } from './feature.ts';

type Landed = ResponseOf<typeof updateFeature>;

describe('updating a feature', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
    await newEnvironment(service.admin, 'dev', { defaultState: true });
  });
  afterAll(() => service.stop());

  const update = (id: string, body: object): Promise<Landed> =>
    service.admin.call(updateFeature, { params: { id }, body });
  const get = async (id: string): Promise<Feature> =>
    (await service.admin.call(getFeature, { params: { id } })).feature;
  /** Changes the stored state past the interface, as rows of old may be. */
  const rewrite = (id: string, change: (state: FeatureState) => FeatureState) =>
    service.recorder.publish(service.id, { type: 'system' }, (states) => {
      const live = states.get(featureKind, id);
      if (live === null) throw new Error(`there is no ${id}`);
      return {
        publication: { changes: [{ kind: featureKind, id, state: change(live.state) }], audit: [] },
        result: null,
      };
    });

  test('what the body names changes, the rest stays, and a revision is published', async () => {
    const { id } = await newFeature(service, { description: 'Old', tags: ['aa'] });
    const { feature, bypassedGates } = await update(id, { description: 'New' });
    expect(feature).toMatchObject({ description: 'New', tags: ['aa'], revision: { version: 2 } });
    expect(bypassedGates).toBeUndefined();
    expect(await get(id)).toEqual(feature);
    expect((await service.history(id)).revisions).toHaveLength(2);
  });

  test('the same content changes nothing: no revision, no event, the same date', async () => {
    const created = await newFeature(service, {
      description: 'Same',
      tags: ['aa'],
      rules: [{ type: 'force', value: 'true' }],
    });
    const before = await service.history(created.id);
    const { feature } = await update(created.id, {
      description: 'Same',
      tags: ['aa'],
      defaultValue: 'false',
      owner: service.owner.email,
      archived: false,
      environments: { production: { enabled: true } },
    });
    expect(feature).toEqual(created);
    expect(await service.history(created.id)).toEqual(before);
  });

  test('sending back the rules as they were read creates no revision and emits nothing [flags M19]', async () => {
    const { id } = await newFeature(service, {
      rules: [
        { type: 'force', value: 'true', condition: '{"country":"DE"}', description: 'Germany' },
        { type: 'rollout', value: 'true', coverage: 0.5, hashAttribute: 'id', environments: ['dev'] },
        {
          type: 'force',
          value: 'false',
          scheduleRules: [
            { timestamp: '2030-01-01T00:00:00.000Z', enabled: true },
            { timestamp: null, enabled: false },
          ],
        },
      ],
    });
    const { rules } = await get(id);
    const before = await service.history(id);
    const { feature } = await update(id, { rules });
    expect(feature.rules).toEqual(rules);
    expect(feature.revision.version).toBe(1);
    expect(await service.history(id)).toEqual(before);

    const inline = inlineExperiment({ id: 'fr_inline', trackingKey: id, values: [{ value: 'true', weight: 1 }] });
    await rewrite(id, (state) => ({ ...state, rules: [...state.rules, inline] }));
    const withInline = await get(id);
    expect(withInline.rules.at(-1)).toMatchObject({ type: 'experiment', id: 'fr_inline' });
    const refused = await service.admin.refused(400, updateFeature, {
      params: { id },
      body: { rules: withInline.rules },
    });
    expect(refused.message).toContain('v1');
    expect(await get(id)).toEqual(withInline);
    // A list without it removes it.
    expect((await update(id, { rules })).feature.rules).toEqual(rules);
  });

  test('an empty rule list removes all rules, an absent one keeps them [flags M25]', async () => {
    const { id } = await newFeature(service, { rules: [{ type: 'force', value: 'true' }] });
    expect((await update(id, { description: 'x' })).feature.rules).toHaveLength(1);
    expect((await update(id, { rules: [] })).feature.rules).toEqual([]);
  });

  test('a rollout keeps its seed and hash version; new ones hash for themselves [flags M26]', async () => {
    const rollout = (more: object = {}) => ({
      type: 'rollout' as const,
      value: 'true',
      coverage: 0.5,
      hashAttribute: 'id',
      ...more,
    });
    const { id, rules } = await newFeature(service, {
      rules: [rollout({ seed: 'kept', hashVersion: 1 }), rollout(), rollout()],
    });
    expect(rules[0]).toMatchObject({ seed: 'kept', hashVersion: 1 });
    for (const rule of rules.slice(1)) expect(rule).toMatchObject({ seed: rule.id, hashVersion: 2 });
    const [first, second] = rules;
    const { feature } = await update(id, {
      rules: [
        rollout({ id: first?.id, coverage: 0.6 }),
        rollout({ id: second?.id, seed: '' }),
        rollout({ id: 'fr_new' }),
      ],
    });
    expect(feature.rules[0]).toMatchObject({ seed: 'kept', hashVersion: 1, coverage: 0.6 });
    expect(feature.rules[1]).toMatchObject({ seed: second?.id, hashVersion: 2 });
    expect(feature.rules[2]).toMatchObject({ seed: 'fr_new', hashVersion: 2 });

    // A rule of old without either buckets on the feature's id with version 1, and goes on doing so.
    await rewrite(id, (state) => ({
      ...state,
      rules: state.rules
        .slice(0, 1)
        .map(
          ({ seed: _seed, hashVersion: _version, ...rule }: StoredRule & { seed?: string; hashVersion?: number }) =>
            rule as StoredRule,
        ),
    }));
    const legacy = (await get(id)).rules[0];
    expect(legacy).toMatchObject({ seed: id, hashVersion: 1 });
    const sentBack = await update(id, { rules: [rollout({ id: legacy?.id, coverage: 0.7 })] });
    expect(sentBack.feature.rules[0]).toMatchObject({ seed: id, hashVersion: 1, coverage: 0.7 });
  });

  test('an edit that does not touch who is bucketed how changes nobody', async () => {
    const connection = await newConnection(service.admin, { includeRuleIds: true });
    const { id } = await newFeature(service, {
      rules: [{ type: 'rollout', value: 'true', coverage: 0.37, hashAttribute: 'id' }],
    });
    const served = async () => (await payloadOf(service.url, connection.key, await service.version())).features[id];
    const before = await served();
    expect(before?.rules).toHaveLength(1);
    const rules = (await get(id)).rules.map((rule) => ({ ...rule, description: 'Said otherwise' }));
    await update(id, { description: 'Other words', tags: ['tt'], rules });
    expect(await served()).toEqual(before);
  });

  test('a rule scoped to no environment is served nowhere, but shown and kept [flags M27]', async () => {
    const connection = await newConnection(service.admin);
    const { id, rules } = await newFeature(service, { rules: [{ type: 'force', value: 'true', environments: [] }] });
    expect(rules[0]).toMatchObject({ allEnvironments: false, environments: [] });
    const { version } = await service.admin.answer(updateFeature, { params: { id }, body: { description: 'x' } });
    expect((await payloadOf(service.url, connection.key, version)).features[id]).toEqual({ defaultValue: false });
    expect((await get(id)).rules).toEqual(rules);
    const { events } = await service.history(id);
    const updated = events.find(({ event }) => event === 'feature.updated');
    const environments = { production: { rules: [] }, dev: { rules: [] } };
    expect(updated?.data).toMatchObject({ data: { object: { environments } } });
  });

  test('"all environments" wins over a list beside it; denied without a list means nowhere [flags M28]', async () => {
    const { rules } = await newFeature(service, {
      rules: [
        { type: 'force', value: 'true', allEnvironments: true, environments: ['dev'] },
        { type: 'force', value: 'true', allEnvironments: false },
        { type: 'force', value: 'true', environments: ['dev'] },
      ],
    });
    expect(rules.map(({ allEnvironments, environments }) => ({ allEnvironments, environments }))).toEqual([
      { allEnvironments: true, environments: undefined },
      { allEnvironments: false, environments: [] },
      { allEnvironments: false, environments: ['dev'] },
    ]);
  });

  test('a rule scoped to no project is never served, not even to connections of all projects [flags M29]', async () => {
    const connection = await newConnection(service.admin);
    const { id } = await newFeature(service, {
      rules: [{ type: 'force', value: 'true', allProjects: false, projects: [] }],
    });
    const { version } = await service.admin.answer(updateFeature, { params: { id }, body: { description: 'x' } });
    expect((await payloadOf(service.url, connection.key, version)).features[id]).toEqual({ defaultValue: false });
  });

  test('deleting the last project of a scope never widens it [flags M30, tenancy M78]', async () => {
    const { admin } = service;
    const { project } = await admin.call(postProject, { body: { name: 'Doomed' } });
    const connection = await newConnection(admin, { projects: [project.id] });
    const everything = await newConnection(admin);
    const inside = await newFeature(service, { project: project.id });
    const scoped = await newFeature(service, { rules: [{ type: 'force', value: 'true', projects: [project.id] }] });
    await newEnvironment(admin, 'narrow', { projects: [project.id], defaultState: true });
    const narrow = await newConnection(admin, { environment: 'narrow' });
    const everywhere = await newFeature(service, {
      targetingAllProjects: true,
      rules: [{ type: 'force', value: 'true', projects: [project.id] }],
    });
    const { version } = await admin.answer(deleteProject, { params: { id: project.id } });

    expect(await get(inside.id)).toMatchObject({ project: '', revision: { version: 2 } });
    expect((await get(scoped.id)).rules[0]).toMatchObject({ allProjects: false, projects: [project.id] });
    expect((await payloadOf(service.url, connection.key, version)).features).toEqual({});
    expect((await payloadOf(service.url, narrow.key, version)).features).toEqual({});
    const { features } = await payloadOf(service.url, everything.key, version);
    expect(features[scoped.id]).toEqual({ defaultValue: false });
    expect(features[everywhere.id]).toEqual({ defaultValue: false });
    // What names the deleted project stays editable as long as the list is not touched.
    const rules = (await get(scoped.id)).rules.map((rule) => ({ ...rule, description: 'Edited' }));
    expect((await update(scoped.id, { rules })).feature.rules[0]).toMatchObject({
      projects: [project.id],
      description: 'Edited',
    });
  });

  test('targeting all projects clears the list, and the own project is never in it [flags M31]', async () => {
    const { admin } = service;
    const make = async (name: string) => (await admin.call(postProject, { body: { name } })).project.id;
    const [own, second, third] = [await make('Own'), await make('Second'), await make('Third')];
    const { id, targetingProjects } = await newFeature(service, {
      project: own,
      targetingProjects: [own, second, second, ''],
    });
    expect(targetingProjects).toEqual([second]);
    expect((await update(id, { targetingProjects: [third, second] })).feature.targetingProjects).toEqual([
      third,
      second,
    ]);
    expect((await update(id, { project: second })).feature).toMatchObject({
      project: second,
      targetingProjects: [third],
    });
    expect((await update(id, { targetingAllProjects: true })).feature).toMatchObject({
      targetingAllProjects: true,
      targetingProjects: [],
    });
    expect((await update(id, { targetingAllProjects: false })).feature.targetingProjects).toEqual([]);
  });

  test('archiving takes a feature out of payloads; editing it while archived reaches none of them [flags M34]', async () => {
    const connection = await newConnection(service.admin);
    const { id } = await newFeature(service);
    const archive = await service.admin.answer(updateFeature, { params: { id }, body: { archived: true } });
    expect((await payloadOf(service.url, connection.key, archive.version)).features[id]).toBeUndefined();
    const { dateUpdated } = await payloadOf(service.url, connection.key, archive.version);
    const edit = await service.admin.answer(updateFeature, { params: { id }, body: { defaultValue: 'true' } });
    expect((await payloadOf(service.url, connection.key, edit.version)).dateUpdated).toBe(dateUpdated);
    const back = await service.admin.answer(updateFeature, { params: { id }, body: { archived: false } });
    expect((await payloadOf(service.url, connection.key, back.version)).features[id]).toEqual({ defaultValue: true });
  });

  test('moving a feature needs the right to publish in both projects [flags M35]', async () => {
    const { admin } = service;
    const { project: from } = await admin.call(postProject, { body: { name: 'From' } });
    const { project: to } = await admin.call(postProject, { body: { name: 'To' } });
    const { id } = await newFeature(service, { project: from.id });
    const adminIn = (project: string) => ({
      project,
      role: 'admin',
      limitAccessByEnvironment: false,
      environments: [],
    });
    const one = await service.withKey({ role: 'readonly', projectRoles: [adminIn(from.id)] });
    expect((await one.refused(403, updateFeature, { params: { id }, body: { project: to.id } })).message).toContain(
      to.id,
    );
    const other = await service.withKey({ role: 'readonly', projectRoles: [adminIn(to.id)] });
    expect((await other.refused(403, updateFeature, { params: { id }, body: { project: to.id } })).message).toContain(
      from.id,
    );
    const both = await service.withKey({ role: 'readonly', projectRoles: [adminIn(from.id), adminIn(to.id)] });
    expect((await both.call(updateFeature, { params: { id }, body: { project: to.id } })).feature.project).toBe(to.id);
  });

  test('the base config cannot be set afterwards; sending what is there is accepted [flags M36]', async () => {
    const { id } = await newFeature(service, { valueType: 'json', defaultValue: '{}' });
    await update(id, { baseConfig: null });
    await service.admin.refused(400, updateFeature, { params: { id }, body: { baseConfig: 'other' } });
  });

  test('the id and the value type are no part of an update', async () => {
    const { id } = await newFeature(service);
    for (const body of [{ id: 'other' }, { valueType: 'string' }, { nonsense: 1 }]) {
      await service.admin.refused(400, updateFeature, { params: { id }, body });
    }
    await service.admin.refused(404, updateFeature, { params: { id: 'missing' }, body: {} });
  });

  test('a reader may not write, and is told so before anything else is judged', async () => {
    const { id } = await newFeature(service);
    const readonly = await service.withKey({ role: 'readonly' });
    for (const body of [{ description: 'x' }, { defaultValue: 'nonsense' }, { rules: [] }, { archived: true }, {}]) {
      await readonly.refused(403, updateFeature, { params: { id }, body });
    }
    await readonly.refused(403, toggleFeature, { params: { id }, body: { environments: { production: false } } });
    expect((await readonly.call(getFeature, { params: { id } })).feature.id).toBe(id);
  });

  test('of parallel updates from the same base each either applies or is told that it lost [flags M41]', async () => {
    const { id } = await newFeature(service, { valueType: 'string', defaultValue: 'start' });
    const values = Array.from({ length: 8 }, (_, index) => `v${index}`);
    const answers = await Promise.all(
      values.map((defaultValue) => service.admin.request(updateFeature, { params: { id }, body: { defaultValue } })),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(won.length).toBeGreaterThan(0);
    const { revision } = await get(id);
    // Every update that was told it applied is one revision; none overwrote another unseen.
    expect(revision.version).toBe(1 + won.length);
    const { revisions } = await service.history(id);
    expect(revisions.map(({ base_version: base, version }) => version - base)).toEqual(revisions.map(() => 1));
  });

  test('archiving what others require is a warning that holders of the bypass permission pass', async () => {
    const { id } = await newFeature(service);
    await newFeature(service, { prerequisites: [id] });
    const { bypassedGates } = await update(id, { archived: true });
    expect(bypassedGates).toEqual([
      { type: 'archive-dependents', outcome: 'bypassed', via: 'bypassApprovalPermission' },
    ]);
    await update(id, { archived: false });
    const acknowledged = await update(id, { archived: true, ignoreWarnings: true });
    expect(acknowledged.bypassedGates).toEqual([
      { type: 'archive-dependents', outcome: 'bypassed', via: 'ignoreWarnings' },
    ]);
  });

  test('each rule has an id of its own', async () => {
    const rule = { id: 'fr_a', type: 'force' as const, value: 'true' };
    const { rules } = await newFeature(service, {
      rules: [rule, rule, { ...rule, environments: ['dev'] }, { ...rule, environments: ['dev', 'production'] }],
    });
    expect(rules.map(({ id }) => id)).toEqual(['fr_a', 'fr_a__all__2', 'fr_a__dev__2', 'fr_a__dup__2']);
  });

  test('rollouts that are sent alike hash on their own, and are sent back without a change', async () => {
    const rollout = { id: 'fr_a', type: 'rollout' as const, value: 'true', coverage: 0.5, hashAttribute: 'id' };
    const { id, rules, revision } = await newFeature(service, { rules: [rollout, rollout] });
    expect(rules).toMatchObject([
      { id: 'fr_a', seed: 'fr_a' },
      { id: 'fr_a__all__2', seed: 'fr_a__all__2' },
    ]);
    const { feature } = await update(id, { rules: [rollout, rollout] });
    expect(feature.revision.version).toBe(revision.version);
  });

  test('features that would require each other are refused, directly and through rules', async () => {
    const [a, b, c] = [freshId(), freshId(), freshId()];
    await newFeature(service, { id: a });
    await newFeature(service, { id: b, prerequisites: [a] });
    await newFeature(service, {
      id: c,
      rules: [{ type: 'force', value: 'true', prerequisites: [{ id: b, condition: '{"value":true}' }] }],
    });
    const refused = await service.admin.refused(400, updateFeature, {
      params: { id: a },
      body: { prerequisites: [c] },
    });
    expect(refused.message).toContain(`"${a}" → "${c}" → "${b}" → "${a}"`);
    const chain = Array.from({ length: 15 }, freshId);
    for (const [index, id] of chain.entries()) {
      await newFeature(service, { id, prerequisites: chain.slice(Math.max(0, index - 1), index) });
    }
    const long = await service.admin.refused(400, updateFeature, {
      params: { id: chain[0] ?? '' },
      body: { prerequisites: chain.slice(-1) },
    });
    expect(long.message).toContain('… (6 more)');
    expect(long.message).not.toContain(chain[7]);
    await service.admin.refused(400, updateFeature, { params: { id: a }, body: { prerequisites: [a] } });
    expect((await get(a)).prerequisites).toEqual([]);
  });

  test('features that require each other in different environments only do not go in a circle', async () => {
    const [a, b] = [freshId(), freshId()];
    const requiring = (id: string, environment: string) => [
      {
        type: 'force' as const,
        value: 'true',
        environments: [environment],
        prerequisites: [{ id, condition: '{"value":true}' }],
      },
    ];
    await newFeature(service, { id: a });
    await newFeature(service, { id: b, rules: requiring(a, 'dev') });
    await update(a, { rules: requiring(b, 'production') });
    const body = { rules: requiring(b, 'dev') };
    const refused = await service.admin.refused(400, updateFeature, { params: { id: a }, body });
    expect(refused.message).toContain(`"${a}" → "${b}" → "${a}"`);
  });

  test.each([
    '{"country":"DE"}',
    '{',
    '{}',
    '',
    '{"$or":1}',
    '{"valued":true}',
    '{"value":1e400}',
    '{"$or":[{"value":true},{"$not":{"country":"DE"}}]}',
  ])('the condition %j on a prerequisite is 400', async (condition) => {
    const { id } = await newFeature(service);
    const rules = [{ type: 'force', value: 'true', prerequisites: [{ id, condition }] }];
    const target = await newFeature(service);
    await service.admin.refused(400, updateFeature, { params: { id: target.id }, body: { rules } });
  });

  test('audit and events tell what changed, in the transaction of the change', async () => {
    const { id } = await newFeature(service, { tags: ['aa'] });
    await update(id, { defaultValue: 'true', tags: ['bb'] });
    const { audits, events } = await service.history(id);
    expect(audits.map(({ event }) => event)).toEqual(['feature.create', 'feature.update']);
    const { pre, post } = JSON.parse(audits[1]?.details ?? '{}') as { pre: FeatureState; post: FeatureState };
    expect([pre.defaultValue, post.defaultValue]).toEqual(['false', 'true']);
    expect(events.map(({ event }) => event)).toEqual([
      'feature.created',
      'feature.revision.published',
      'feature.updated',
    ]);
    const updated = events[2]?.data as {
      tags: string[];
      environments: string[];
      data: { previous_attributes: object; changes: { modified: { key: string }[] } };
    };
    expect(updated).toMatchObject({
      event: 'feature.updated',
      object: 'feature',
      api_version: '2024-07-31',
      containsSecrets: false,
      user: { type: 'api_key', apiKey: 'SECRET_API_KEY' },
      tags: ['aa', 'bb'],
      environments: expect.arrayContaining(['production', 'dev']),
      data: { object: { id, defaultValue: 'true' }, previous_attributes: { defaultValue: 'false', tags: ['aa'] } },
    });
    expect(updated.data.changes.modified.map(({ key }) => key).sort()).toEqual([
      'defaultValue',
      'environments',
      'revision',
      'tags',
    ]);
  });
});
