import {
  type BodyInputOf,
  type Feature,
  getFeature,
  getFeatureV1,
  listFeaturesV1,
  postEnvironment,
  postFeatureV1,
  postNamespace,
  postProject,
  putEnvironment,
  type ResponseOf,
  toggleFeatureV1,
  updateFeature,
  updateFeatureV1,
} from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { payloadOf } from '../../../testing/delivery.ts';
import { forceV1, listed, newFeatureV1, type RuleV1, ruleIds, sentBack } from '../../../testing/flags/v1.ts';
import { freshId, newConnection, newEnvironment, newFeature } from '../../../testing/objects.ts';
import { startService, type TestService } from '../../../testing/service.ts';
import { type FeatureState, featureKind, type StoredRule } from '../feature.ts';

type UpdateBody = BodyInputOf<typeof updateFeatureV1>;

describe('writing features through v1', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
    await newEnvironment(service.admin, 'dev', { defaultState: true });
  });
  afterAll(() => service.stop());

  const body = (more: object = {}) => ({ id: freshId(), defaultValue: 'false', owner: service.owner.id, ...more });
  const create = (more: object) => newFeatureV1(service, more);
  const update = (id: string, asked: UpdateBody): Promise<ResponseOf<typeof updateFeatureV1>> =>
    service.admin.call(updateFeatureV1, { params: { id }, body: asked });
  const get = async (id: string) => (await service.admin.call(getFeatureV1, { params: { id } })).feature;
  const getV2 = async (id: string): Promise<Feature> =>
    (await service.admin.call(getFeature, { params: { id } })).feature;
  /** The rules of v2 with where they apply. */
  const scopes = async (id: string) =>
    (await getV2(id)).rules.map((rule) => [rule.id, ...(rule.allEnvironments ? ['all'] : (rule.environments ?? []))]);
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
  const served = async (id: string, environment = 'production') => {
    const { key } = await newConnection(service.admin, { environment, includeRuleIds: true });
    return (await payloadOf(service.url, key, await service.version())).features[id];
  };

  describe('creating', () => {
    test('the rules of each environment are shown as they came, and v2 has one list of them', async () => {
      const feature = await create({
        id: 'first-v1',
        environments: listed({ production: [forceV1('a'), forceV1('b')], dev: [forceV1('a')] }),
      });
      expect(feature).toMatchObject({
        id: 'first-v1',
        valueType: 'boolean',
        revision: { version: 1, createdBy: 'API' },
      });
      expect(ruleIds(feature)).toEqual({ production: ['a', 'b'], dev: ['a'] });
      expect(feature.environments.dev?.rules[0]).toEqual({
        id: 'a',
        type: 'force',
        value: 'true',
        description: '',
        condition: '',
        enabled: true,
        scheduleRules: [],
        scheduleType: 'none',
        savedGroupTargeting: [],
        prerequisites: [],
        allProjects: true,
      });
      expect(await scopes('first-v1')).toEqual([
        ['a', 'all'],
        ['b', 'production'],
      ]);
      expect(await get('first-v1')).toEqual(feature);
    });

    test('an environment that is left out takes its default state; one that is named says its rules as well', async () => {
      const { environments } = await create({});
      expect([environments.dev?.enabled, environments.production?.enabled]).toEqual([true, true]);
      const off = { enabled: false, rules: [] };
      const none = await create({ environments: { dev: off, production: off } });
      expect(Object.values(none.environments).map(({ enabled }) => enabled)).toEqual([false, false]);
      const refused = await service.admin.refused(400, postFeatureV1, {
        body: body({ environments: { production: { enabled: true } } }),
      });
      expect(refused.message).toContain('[environments.production.rules] is required');
    });

    test('the definition of an environment is derived, whatever is sent', async () => {
      const { environments } = await create({
        environments: { production: { enabled: true, rules: [], definition: '{"defaultValue":42}' } },
      });
      expect(environments.production?.definition).toBe('{"defaultValue":false}');
    });

    test('the same id with different values is two rules, which SDKs know by the one id [flags M61]', async () => {
      const { id } = await create({
        environments: listed({ production: [forceV1('a')], dev: [forceV1('a', { value: 'false' })] }),
      });
      expect(await scopes(id)).toEqual([
        ['a__production', 'production'],
        ['a__dev', 'dev'],
      ]);
      expect((await served(id))?.rules).toEqual([{ id: 'a', force: true }]);
      expect((await served(id, 'dev'))?.rules).toEqual([{ id: 'a', force: false }]);
    });

    test('the same id twice in a list is two rules, of which the second is numbered [flags M62]', async () => {
      const feature = await create({
        environments: listed({ production: [forceV1('a'), forceV1('a')], dev: [forceV1('a')] }),
      });
      expect(ruleIds(feature)).toEqual({ production: ['a__production', 'a__production__2'], dev: ['a__dev'] });
    });

    test('what does not apply or cannot be is refused, and nothing is stored', async () => {
      const { total } = await service.admin.call(listFeaturesV1);
      const before = await service.version();
      const production = (...rules: object[]) => ({ environments: { production: { enabled: true, rules } } });
      const force = { type: 'force', value: 'true' };
      const rollout = { type: 'rollout', value: 'true', coverage: 0.5, hashAttribute: 'id' };
      const experiment = { type: 'experiment', condition: '' };
      for (const [wrong, message] of [
        [{ colour: 1 }, '[colour] is not known here'],
        [{ rules: [] }, '[rules] is not known here'],
        [{ defaultValueConfig: 'x' }, '[defaultValueConfig]'],
        [{ environments: { production: { enabled: true, rules: [], colour: 1 } } }, '[environments.production.colour]'],
        [production({ ...force, colour: 1 }), '[environments.production.rules.0.colour]'],
        [production({ ...force, environments: ['dev'] }), '[environments.production.rules.0.environments]'],
        [production({ ...force, allEnvironments: true }), '[environments.production.rules.0.allEnvironments]'],
        [production({ ...force, config: 'x' }), '[environments.production.rules.0.config]'],
        [production({ type: 'magic' }), 'must be one of "force", "rollout", "experiment-ref", "experiment"'],
        [production({ type: 'safe-rollout' }), 'must be one of'],
        [production({ type: 'force' }), '[environments.production.rules.0.value] is required'],
        [production({ ...rollout, coverage: 2 }), 'must be from 0 to 1'],
        [production({ ...rollout, hashAttribute: '' }), 'must not be empty'],
        [production({ ...rollout, hashVersion: 3 }), '[environments.production.rules.0.hashVersion]'],
        [production({ type: 'experiment' }), '[environments.production.rules.0.condition] is required'],
        [production({ ...experiment, savedGroupTargeting: [] }), 'savedGroupTargeting] is not known here'],
        [production({ ...experiment, savedGroups: [] }), 'savedGroups] is not known here'],
        [
          production({ ...experiment, namespace: { enabled: true, name: 'ns', range: [0] } }),
          '[environments.production.rules.0.namespace.range]',
        ],
        [
          production({ ...experiment, namespace: { enabled: true, name: 'ns', range: [0.5, 0.5] } }),
          'rule 1 in production claims [0.5, 0.5] of a namespace',
        ],
        [
          production({ ...experiment, namespace: { enabled: true, name: 'ns-missing', range: [0, 0.5] } }),
          'rule 1 in production names the unknown namespace "ns-missing"',
        ],
        [production({ ...force, id: 'x'.repeat(257) }), 'at most 256'],
        [{ environments: { mars: { enabled: true, rules: [] } } }, 'Unknown environment in environments: "mars"'],
        [{ environments: { dev: { enabled: true, rules: [], defaultValue: 'true' } } }, 'no default value of its own'],
        [production({ ...force, condition: '{' }), 'rule 1 in production'],
        [
          production({ ...force, id: 'x', prerequisites: [{ id: 'missing', condition: '{"value":true}' }] }),
          '"missing"',
        ],
        [production({ ...force, savedGroups: [{ match: 'all', ids: ['grp_missing'] }] }), 'unknown saved group'],
        [production({ ...force, projects: ['prj_missing'] }), 'prj_missing'],
        [production({ type: 'experiment-ref', variations: [], experimentId: 'exp_missing' }), 'unknown experiment'],
        [{ baseConfig: 'missing' }, 'Unknown config'],
        [{ customFields: { missing: 'x' } }, 'custom field'],
        [{ owner: 'u_missing' }, 'u_missing'],
        [{ project: 'prj_missing' }, 'prj_missing'],
        [{ prerequisites: ['missing'] }, 'missing'],
        [{ jsonSchema: '{}' }, 'boolean feature'],
        [{ id: 'a.b' }, 'must be 1 to 256'],
        [
          { valueType: 'number', ...production({ ...force, value: 'x' }), defaultValue: '1' },
          'in production must be a number',
        ],
      ] as const) {
        const refused = await service.admin.refused(400, postFeatureV1, { body: body(wrong) });
        expect(refused.message).toContain(message);
        expect(refused.headers.get('deprecation')).toBe('true');
      }
      expect((await service.admin.call(listFeaturesV1)).total).toBe(total);
      expect(await service.version()).toBe(before);
    });

    test.each([
      [[{ enabled: true, timestamp: '2030-01-01T00:00:00.000Z' }]],
      [[true, false, true].map((enabled) => ({ enabled, timestamp: '2030-01-01T00:00:00.000Z' }))],
      [[true, true].map((enabled) => ({ enabled, timestamp: '2030-01-01T00:00:00.000Z' }))],
      [[true, false].map((enabled) => ({ enabled, timestamp: null }))],
      [[true, false].map((enabled) => ({ enabled, timestamp: '2030-01-01T00:00:00.000+01:00' }))],
    ])('the schedule %j is refused before anything else of the feature is judged', async (scheduleRules) => {
      const rules = [forceV1('a', { scheduleRules })];
      for (const environments of [
        { dev: { enabled: true, rules } },
        { dev: { enabled: true, rules: [], draft: { rules } } },
      ]) {
        const { message } = await service.admin.refused(400, postFeatureV1, {
          body: body({ environments, project: 'prj_missing', owner: 'u_missing' }),
        });
        expect(message).toMatch(/scheduleRules of rule 1 \("a"\) in dev/);
      }
    });

    test('an id is used once, also where two ask for it at the same time', async () => {
      const id = freshId();
      const answers = await Promise.all(
        [1, 2].map(() => service.admin.request(postFeatureV1, { body: { ...body(), id } })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      expect((await service.history(id)).revisions).toHaveLength(1);
    });

    test('who may only read may not', async () => {
      const reader = await service.withKey({ role: 'readonly' });
      await reader.refused(403, postFeatureV1, { body: body() });
    });
  });

  describe('inline experiments', () => {
    const experiment = {
      type: 'experiment' as const,
      id: 'x',
      description: 'Which one?',
      condition: '{"country":"DE"}',
      enabled: true,
      trackingKey: 'colours',
      hashAttribute: 'id',
      fallbackAttribute: 'deviceId',
      disableStickyBucketing: true,
      bucketVersion: 2,
      minBucketVersion: 1,
      coverage: 0.8,
      prerequisites: [],
      scheduleRules: [
        { enabled: true, timestamp: null },
        { enabled: false, timestamp: '2100-01-01T00:00:00.000Z' },
      ],
      scheduleType: 'schedule' as const,
      allProjects: true,
    };
    const values = [
      { value: 'red', weight: 0.3, name: 'Red' },
      { value: 'blue', weight: 0.7 },
    ];
    const withRule = (rule: RuleV1) =>
      create({ valueType: 'string', defaultValue: 'none', environments: listed({ production: [rule] }) });

    test('come in with everything they say, are shown in both versions, and are served', async () => {
      const { namespace } = await service.admin.call(postNamespace, {
        body: { displayName: 'Checkout', format: 'legacy' },
      });
      const whole = { ...experiment, namespace: { enabled: true, name: namespace.id, range: [0, 0.5] } };
      const { id, environments } = await withRule({ ...whole, values });
      const shown = { ...whole, value: values };
      expect(environments.production?.rules).toEqual([shown]);
      const { rules } = await getV2(id);
      expect(rules).toEqual([{ ...shown, allEnvironments: false, environments: ['production'] }]);
      expect((await served(id))?.rules).toEqual([
        {
          id: 'x',
          condition: { country: 'DE' },
          variations: ['red', 'blue'],
          coverage: 0.8,
          weights: [0.3, 0.7],
          meta: [{ key: '0', name: 'Red' }, { key: '1' }],
          key: 'colours',
          hashAttribute: 'id',
          fallbackAttribute: 'deviceId',
          disableStickyBucketing: true,
          bucketVersion: 2,
          minBucketVersion: 1,
          namespace: [namespace.id, 0, 0.5],
        },
      ]);
    });

    test('`values` wins over `value`; the key is the feature’s id where none is given', async () => {
      const bare = { type: 'experiment' as const, condition: '' };
      const both = await withRule({ ...bare, values, value: [{ value: 'grey', weight: 1 }] });
      expect(both.environments.production?.rules).toMatchObject([{ trackingKey: both.id, value: values, coverage: 1 }]);
      const old = await withRule({ ...bare, trackingKey: '', value: values });
      expect(old.environments.production?.rules).toMatchObject([{ trackingKey: old.id, value: values }]);
    });

    test('one without values is accepted and read back, and nothing of it is served', async () => {
      for (const more of [{}, { values: [] }, { value: [] }]) {
        const { id, environments } = await withRule({ type: 'experiment', condition: '', ...more });
        expect(environments.production?.rules).toMatchObject([{ type: 'experiment', value: [] }]);
        expect(await served(id)).toEqual({ defaultValue: 'none' });
      }
    });

    test('a list of v2 that has one is 400 and changes nothing; one without it removes it', async () => {
      const { id } = await create({
        environments: listed({ production: [forceV1('a'), { type: 'experiment', condition: '', id: 'x' }] }),
      });
      const before = await getV2(id);
      const history = await service.history(id);
      const { message } = await service.admin.refused(400, updateFeature, {
        params: { id },
        body: { rules: before.rules },
      });
      expect(message).toContain('/v1/features');
      expect(await getV2(id)).toEqual(before);
      expect(await service.history(id)).toEqual(history);
      const rules = [{ id: 'a', type: 'force' as const, value: 'true' }];
      await service.admin.call(updateFeature, { params: { id }, body: { rules } });
      expect(ruleIds(await get(id))).toEqual({ production: ['a'], dev: ['a'] });
    });

    test('their values are held against the type and the schema of the feature', async () => {
      const asked = {
        valueType: 'number',
        defaultValue: '1',
        environments: listed({
          production: [{ type: 'experiment', condition: '', id: 'x', values: [{ value: 'red', weight: 1 }] }],
        }),
      };
      const { message } = await service.admin.refused(400, postFeatureV1, { body: body(asked) });
      expect(message).toContain('Variation 1 of rule 1 ("x") in production must be a number');
      const low = await service.admin.refused(400, postFeatureV1, {
        body: body({
          ...asked,
          jsonSchema: '{"type":"number","minimum":1}',
          environments: listed({
            production: [{ type: 'experiment', condition: '', id: 'x', values: [{ value: '0', weight: 1 }] }],
          }),
        }),
      });
      expect(low.message).toContain('Variation 1');
    });
  });

  describe('updating', () => {
    const everything = () =>
      listed({
        production: [
          forceV1('shared', { condition: '{"country":"DE"}', description: 'Germany' }),
          { type: 'rollout', id: 'share', value: 'true', coverage: 0.4, hashAttribute: 'id' },
          { type: 'experiment', id: 'x', condition: '', values: [{ value: 'true', weight: 1 }] },
          forceV1('other', { value: 'true' }),
        ],
        dev: [
          forceV1('shared', { condition: '{"country":"DE"}', description: 'Germany' }),
          { type: 'rollout', id: 'share', value: 'true', coverage: 0.4, hashAttribute: 'id' },
          forceV1('other', { value: 'false' }),
        ],
      });

    test('sending back the environments as they were read changes nothing [flags M20]', async () => {
      const { id } = await create({ environments: everything() });
      await service.admin.call(updateFeature, {
        params: { id },
        body: { description: 'with a rule that waits' },
      });
      await rewrite(id, (state) => ({
        ...state,
        rules: state.rules.flatMap((rule): StoredRule[] => {
          if (rule.type !== 'rollout') return [rule];
          const { seed: _seed, hashVersion: _version, ...old } = rule;
          return [old, { ...old, id: 'pending', allEnvironments: false, environments: [] }];
        }),
      }));
      const before = { v1: await get(id), v2: await getV2(id), history: await service.history(id) };
      expect(before.v2.rules.map((rule) => rule.id)).toEqual([
        'shared',
        'share',
        'pending',
        'x',
        'other__production',
        'other__dev',
      ]);
      const { feature } = await update(id, { environments: sentBack(before.v1) });
      expect(feature).toEqual(before.v1);
      // Also without what is derived, and when only one environment is sent.
      const { enabled, rules } = sentBack(before.v1).dev ?? {};
      await update(id, { environments: { dev: { enabled, rules } } });
      expect({ v1: await get(id), v2: await getV2(id), history: await service.history(id) }).toEqual(before);
    });

    test('touching one environment leaves the rules of the others as they are, to the byte [flags M21]', async () => {
      const { id } = await create({ environments: everything() });
      await rewrite(id, (state) => ({
        ...state,
        rules: [
          ...state.rules,
          ...state.rules
            .slice(0, 1)
            .map((rule) => ({ ...rule, id: 'pending', allEnvironments: false, environments: [] })),
        ],
      }));
      const before = await get(id);
      const pending = (await getV2(id)).rules.filter((rule) => rule.id === 'pending');
      await update(id, {
        environments: { production: { rules: [forceV1('new'), forceV1('shared', { value: 'false' })] } },
      });
      const after = await get(id);
      expect(JSON.stringify(after.environments.dev)).toBe(JSON.stringify(before.environments.dev));
      expect(after.environments.production?.enabled).toBe(true);
      expect(ruleIds(after).production).toEqual(['new', 'shared__production']);
      expect((await getV2(id)).rules.filter((rule) => rule.id === 'pending')).toEqual(pending);
    });

    test('a switch alone leaves the rules of its environment alone [flags M22]', async () => {
      const { id, environments } = await create({ environments: everything() });
      const { feature } = await update(id, { environments: { production: { enabled: false } } });
      expect(feature.environments.production).toMatchObject({
        enabled: false,
        rules: environments.production?.rules,
      });
      expect((await service.history(id)).revisions).toHaveLength(2);
    });

    test('swapping two shared rules in one environment does so there and nowhere else [flags M23]', async () => {
      const { id } = await create({
        environments: listed({ production: [forceV1('a'), forceV1('b')], dev: [forceV1('a'), forceV1('b')] }),
      });
      const version = (await get(id)).revision.version;
      const { feature } = await update(id, { environments: { production: { rules: [forceV1('b'), forceV1('a')] } } });
      expect(feature.revision.version).toBe(version + 1);
      const stems = (list: string[] = []) => list.map((rule) => rule.split('__')[0]);
      expect(stems(ruleIds(feature).production)).toEqual(['b', 'a']);
      expect(ruleIds(feature).dev).toEqual(['a', 'b']);
      expect((await served(id))?.rules).toMatchObject([{ id: 'b' }, { id: 'a' }]);
      expect((await served(id, 'dev'))?.rules).toMatchObject([{ id: 'a' }, { id: 'b' }]);
    });

    test('editing a shared rule in one environment leaves the others a rule of their own, which no new one gets [flags M24]', async () => {
      const organization = await service.newOrganization('Growing');
      const { admin } = organization;
      await newEnvironment(admin, 'dev');
      const { id } = await newFeatureV1(organization, {
        environments: listed({ production: [forceV1('a')], dev: [forceV1('a')] }),
      });
      const rulesNow = async () =>
        (await admin.call(getFeature, { params: { id } })).feature.rules.map((rule) => ({
          id: rule.id,
          scope: rule.allEnvironments ? 'all' : rule.environments,
        }));
      expect(await rulesNow()).toEqual([{ id: 'a', scope: 'all' }]);
      await admin.call(updateFeatureV1, {
        params: { id },
        body: { environments: { dev: { rules: [forceV1('a', { value: 'false' })] } } },
      });
      expect(await rulesNow()).toEqual([
        { id: 'a', scope: ['production'] },
        { id: 'a__dev', scope: ['dev'] },
      ]);
      await newEnvironment(admin, 'later');
      expect(ruleIds((await admin.call(getFeatureV1, { params: { id } })).feature).later).toEqual([]);
    });

    test('a rule added on top in one environment leaves the shared ones below shared, and all', async () => {
      const { id } = await create({ environments: listed({ production: [forceV1('a')], dev: [forceV1('a')] }) });
      await update(id, { environments: { production: { rules: [forceV1('top'), forceV1('a')] } } });
      expect(await scopes(id)).toEqual([
        ['top', 'production'],
        ['a', 'all'],
      ]);
    });

    test('what a rollout leaves out that decides about buckets is kept, whichever of its ids is sent', async () => {
      const rollout = (more: object = {}): RuleV1 => ({
        type: 'rollout',
        id: 'r',
        value: 'true',
        coverage: 0.5,
        hashAttribute: 'id',
        ...more,
      });
      const { id } = await create({
        environments: listed({ production: [rollout({ seed: 'kept', hashVersion: 1 })], dev: [rollout()] }),
      });
      expect(ruleIds(await get(id))).toEqual({ production: ['r__production'], dev: ['r__dev'] });
      const { feature } = await update(id, {
        environments: {
          production: { rules: [rollout({ coverage: 0.6 }), rollout({ id: undefined })] },
          dev: { rules: [rollout({ id: 'r__dev', coverage: 0.6, seed: '' })] },
        },
      });
      expect(feature.environments.production?.rules).toMatchObject([
        { seed: 'kept', hashVersion: 1, coverage: 0.6 },
        { seed: expect.stringMatching(/^fr_/), hashVersion: 2 },
      ]);
      expect(feature.environments.dev?.rules).toMatchObject([{ seed: 'r', hashVersion: 2, coverage: 0.6 }]);
    });

    test('a rollout of old without seed and hash version keeps everyone’s bucket', async () => {
      const rule = { type: 'rollout' as const, id: 'r', value: 'true', coverage: 0.5, hashAttribute: 'id' };
      const { id } = await create({ environments: listed({ production: [rule] }) });
      await rewrite(id, (state) => ({
        ...state,
        rules: state.rules.map((stored) => {
          if (stored.type !== 'rollout') return stored;
          const { seed: _seed, hashVersion: _version, ...old } = stored;
          return old;
        }),
      }));
      const { feature } = await update(id, { environments: { production: { rules: [{ ...rule, coverage: 0.6 }] } } });
      expect(feature.environments.production?.rules).toMatchObject([{ seed: id, hashVersion: 1, coverage: 0.6 }]);
    });

    test('other fields change, and what is left out stays', async () => {
      const { id } = await create({ tags: ['aa'], environments: everything() });
      const before = await get(id);
      const { feature } = await update(id, { description: 'New', environments: {} });
      expect(feature).toMatchObject({ description: 'New', tags: ['aa'], revision: { version: 2 } });
      expect(feature.environments).toEqual(before.environments);
      const { audits, events } = await service.history(id);
      expect(audits.map(({ event }) => event)).toEqual(['feature.create', 'feature.update']);
      expect(events.map(({ event }) => event)).toEqual([
        'feature.created',
        'feature.revision.published',
        'feature.updated',
      ]);
    });

    test('the default value may be changed beside environments that were read before', async () => {
      const created = await create({ environments: everything() });
      const { feature } = await update(created.id, { defaultValue: 'true', environments: sentBack(created) });
      expect(feature.environments.dev?.defaultValue).toBe('true');
    });

    test('bad bodies are refused and change nothing', async () => {
      const { id } = await create({ valueType: 'number', defaultValue: '1', environments: listed({ dev: [] }) });
      const before = { feature: await get(id), history: await service.history(id) };
      const dev = (...rules: object[]) => ({ environments: { dev: { rules } } });
      const force = { type: 'force', value: '1' };
      for (const [status, wrong, message] of [
        [400, { id: 'other' }, '[id] is not known here'],
        [400, { valueType: 'string' }, '[valueType] is not known here'],
        [400, { colour: 1 }, '[colour]'],
        [400, { rules: [] }, '[rules]'],
        [400, { environments: { dev: { rule: [] } } }, '[environments.dev.rule]'],
        [400, { environments: { dev: { draft: { enabled: true } } } }, '[environments.dev.draft.rules] is required'],
        [400, { environments: { mars: {} } }, 'Unknown environment'],
        [400, { environments: { mars: { draft: { rules: [] } } } }, 'Unknown environment'],
        [400, { environments: { dev: { defaultValue: '2' } } }, 'no default value of its own'],
        [400, dev({ ...force, value: 'x' }), 'in dev must be a number'],
        [400, dev({ ...force, condition: '[' }), 'rule 1 in dev'],
        [400, dev({ ...force, scheduleRules: [{ enabled: true, timestamp: null }] }), 'scheduleRules of rule 1 in dev'],
        [400, { environments: { dev: { draft: { rules: [{ ...force, value: 'x' }] } } } }, 'must be a number'],
        [400, { jsonSchema: '{"type":"number","minimum":5}', ...dev(force) }, 'Value'],
        [400, { jsonSchema: '{' }, 'JSON'],
        [400, { defaultValue: 'x' }, 'must be a number'],
        [400, { baseConfig: 'x' }, 'Unknown config'],
        [400, { holdout: { id: 'hld_x', value: '1' } }, 'Unknown holdout'],
        [400, { owner: 'nobody@example.com' }, 'nobody@example.com'],
        [400, { project: 'prj_x' }, 'prj_x'],
        [400, dev({ type: 'experiment-ref', experimentId: 'exp_x', variations: [] }), 'unknown experiment'],
        [422, { jsonSchema: '{"type":"number","minimum":5}' }, 'schema-validation'],
      ] as const) {
        const refused = await service.admin.refused(status, updateFeatureV1, { params: { id }, body: wrong });
        expect(refused.message).toContain(message);
      }
      expect({ feature: await get(id), history: await service.history(id) }).toEqual(before);
      await service.admin.refused(404, updateFeatureV1, { params: { id: 'missing' }, body: {} });
    });

    test('values that a body does not bring and that do not fit their schema are a gate, not an error of the body', async () => {
      const rule = (value: string): RuleV1 => forceV1('a', { value });
      const { id } = await create({
        valueType: 'number',
        defaultValue: '1',
        environments: listed({ production: [rule('1')], dev: [rule('7')] }),
      });
      await update(id, { jsonSchema: '{"type":"number","minimum":0}' });
      const schema = '{"type":"number","minimum":1,"maximum":5}';
      const { gates } = await service.admin.refused(422, updateFeatureV1, {
        params: { id },
        body: { jsonSchema: schema, environments: { production: { rules: [rule('2')] } } },
      });
      expect(gates).toMatchObject([{ type: 'schema-validation', override: 'skipSchemaValidation' }]);
      const { bypassedGates } = await update(id, {
        jsonSchema: schema,
        skipSchemaValidation: true,
        environments: { production: { rules: [rule('2')] } },
      });
      expect(bypassedGates).toMatchObject([{ type: 'schema-validation', via: 'skipSchemaValidation' }]);
    });

    test('who may only read may change nothing, whatever is asked', async () => {
      const { id } = await create({});
      const reader = await service.withKey({ role: 'readonly' });
      for (const asked of [{}, { description: 'x' }, { environments: { dev: { rules: [] } } }, { archived: true }]) {
        await reader.refused(403, updateFeatureV1, { params: { id }, body: asked });
      }
      const draft = { environments: { dev: { draft: { rules: [forceV1('a')] } } } };
      await reader.refused(403, updateFeatureV1, { params: { id }, body: draft });
      await reader.refused(403, toggleFeatureV1, { params: { id }, body: { environments: { dev: false } } });
    });

    test('of writers at the same time each applies or is told that it lost', async () => {
      const { id } = await create({});
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          service.admin.request(updateFeatureV1, {
            params: { id },
            body: { environments: { dev: { rules: [forceV1(`r${index}`)] } } },
          }),
        ),
      );
      const won = answers.filter(({ status }) => status === 200).length;
      expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
      expect((await get(id)).revision.version).toBe(1 + won);
      expect(ruleIds(await get(id)).dev).toHaveLength(1);
    });
  });

  describe('where the feature cannot serve, or follows another environment', () => {
    test('an environment of other projects keeps what is stored for it, and a rule for all that serve is for all', async () => {
      const { admin } = service;
      const [own, other] = await Promise.all(
        ['Own', 'Other'].map(async (name) => (await admin.call(postProject, { body: { name } })).project.id),
      );
      const organization = { admin, owner: service.owner };
      await admin.call(postEnvironment, { body: { id: 'elsewhere', projects: [other ?? ''] } });
      const { id } = await newFeatureV1(organization, {
        project: own ?? '',
        environments: listed({ production: [forceV1('a')], dev: [forceV1('a')] }),
      });
      expect(await scopes(id)).toEqual([['a', 'all']]);
      const wide = await newFeatureV1(organization, {
        project: own ?? '',
        environments: listed({ production: [forceV1('a')], dev: [forceV1('a')], elsewhere: [forceV1('a')] }),
      });
      expect(await scopes(wide.id)).toEqual([['a', 'production', 'dev', 'elsewhere']]);
      expect(ruleIds(await get(wide.id))).toEqual({ production: ['a'], dev: ['a'], elsewhere: [] });
      await update(wide.id, { environments: sentBack(await get(wide.id)) });
      await update(wide.id, { environments: { dev: { rules: [forceV1('b'), forceV1('a')] } } });
      expect(await scopes(wide.id)).toEqual([
        ['b', 'dev'],
        ['a', 'production', 'dev', 'elsewhere'],
      ]);
      await admin.call(putEnvironment, { params: { id: 'elsewhere' }, body: { projects: [] } });
    });

    test('an environment that follows its parent is shown with its rules, and changes nothing when sent back', async () => {
      const organization = await service.newOrganization('Followers');
      const { admin } = organization;
      const { id } = await newFeatureV1(organization, { environments: listed({ production: [forceV1('a')] }) });
      const two = await newFeature(organization, {
        rules: [{ type: 'force', value: 'true', environments: ['production'] }],
      });
      await newEnvironment(admin, 'canary', { parent: 'production' });
      const read = async (feature: string) => (await admin.call(getFeatureV1, { params: { id: feature } })).feature;
      const before = await read(two.id);
      expect(before.environments.canary).toEqual(before.environments.production);
      const write = async (feature: string, environments: UpdateBody['environments']) =>
        (await admin.call(updateFeatureV1, { params: { id: feature }, body: { environments } })).feature;
      expect(await write(two.id, sentBack(before))).toEqual(before);
      // Whoever is switched keeps the rules that were followed.
      const off = await write(two.id, { canary: { enabled: false } });
      expect(off.environments.canary).toMatchObject({ enabled: false, rules: before.environments.production?.rules });
      // A list of its own does not move the parent, and the parent does not move it any more.
      await write(id, { canary: { rules: [] } });
      expect(ruleIds(await read(id))).toEqual({ production: ['a'], canary: [] });
      expect((await read(id)).environments.canary?.enabled).toBe(true);
    });
  });
});
