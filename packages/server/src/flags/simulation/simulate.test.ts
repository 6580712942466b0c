import {
  type BodyInputOf,
  postArchetype,
  postFeature,
  postProject,
  postSavedGroup,
  type ResponseOf,
  simulateArchetype,
  updateFeature,
} from '@halyard/contract';
import { compilePayload } from '@halyard/evaluation';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Client } from '../../../testing/client.ts';
import { payloadOf } from '../../../testing/delivery.ts';
import { freshId, newConnection, newEnvironment, newFeature } from '../../../testing/objects.ts';
import { startService, type TestOrganization, type TestService } from '../../../testing/service.ts';

type Simulated = ResponseOf<typeof simulateArchetype>;
type Body = BodyInputOf<typeof simulateArchetype>;

describe('simulating an archetype', () => {
  let service: TestService;
  let organization: TestOrganization;
  let id: string;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());
  beforeEach(async () => {
    organization = await service.newOrganization(freshId());
    id = await newArchetype({ id: 'u1', country: 'DE' });
  });

  const newArchetype = async (attributes: Record<string, unknown>, more: object = {}): Promise<string> => {
    const body = { name: 'Someone', isPublic: true, attributes, ...more };
    return (await organization.admin.call(postArchetype, { body })).archetype.id;
  };
  const simulate = (
    body: Body = {},
    { query = {}, client = organization.admin }: { query?: Record<string, number>; client?: Client } = {},
  ): Promise<Simulated> => client.call(simulateArchetype, { params: { id }, query, body });
  const refused = async (status: number, body: object, archetype = id) =>
    (await organization.admin.refused(status, simulateArchetype, { params: { id: archetype }, body })).message;
  /** Of the only feature. */
  const environments = async (body: Body) => (await simulate(body)).results[0]?.environments ?? [];
  const values = async (body: Body) => (await environments(body)).map(({ env, result }) => [env, result?.value]);

  const german = { type: 'force' as const, value: 'true', condition: '{"country":"DE"}' };
  const needy = (feature: string) => ({
    type: 'force' as const,
    value: 'true',
    prerequisites: [{ id: feature, condition: '{"value":true}' }],
  });

  test('gives the value of a feature in each environment, and says how it came about', async () => {
    await newEnvironment(organization.admin, 'dev', { defaultState: false });
    const { id: featureId } = await newFeature(organization, { rules: [german] });
    const { results, total } = await simulate({ featureId });
    expect(total).toBe(1);
    expect(results).toEqual([
      {
        featureId,
        version: 1,
        environments: [
          {
            env: 'production',
            enabled: true,
            defaultValue: false,
            result: { value: true, on: true, off: false, source: 'force', ruleId: expect.stringMatching(/^fr_/) },
            log: [
              ['The rule applies: it decides the value.', { ruleId: expect.stringMatching(/^fr_/), type: 'force' }],
            ],
          },
          {
            env: 'dev',
            enabled: false,
            defaultValue: false,
            result: null,
            log: [['Not served: the feature is off in this environment.', {}]],
          },
        ],
      },
    ]);
    expect(await values({ featureId, environment: 'dev' })).toEqual([['dev', undefined]]);
  });

  test('takes all features that are not archived, page by page, oldest first', async () => {
    const features = ['a', 'b', 'c', 'd'];
    for (const feature of features) await newFeature(organization, { id: feature, rules: [german] });
    await newFeature(organization, { id: 'archived', archived: true });
    const first = await simulate({}, { query: { limit: 3 } });
    expect(first).toMatchObject({ limit: 3, offset: 0, count: 3, total: 4, hasMore: true, nextOffset: 3 });
    expect(first.results.map(({ featureId }) => featureId)).toEqual(['a', 'b', 'c']);
    expect(first.results.every((one) => one.environments[0]?.result?.value === true)).toBe(true);
    const second = await simulate({}, { query: { limit: 3, offset: 3 } });
    expect(second.results.map(({ featureId }) => featureId)).toEqual(['d']);
    await organization.admin.refused(400, simulateArchetype, { params: { id }, query: { limit: 101 }, body: {} });
    expect(await environments({ featureId: 'archived' })).toMatchObject([{ result: null }]);
  });

  test('takes the content of a revision', async () => {
    const { admin } = organization;
    const { id: featureId } = await newFeature(organization, { rules: [german], description: 'First' });
    await admin.call(updateFeature, { params: { id: featureId }, body: { rules: [], defaultValue: 'true' } });
    await admin.call(updateFeature, { params: { id: featureId }, body: { archived: true } });
    const of = async (version: number) => {
      const { results } = await simulate({ featureId, version });
      return results.map((one) => [
        one.version,
        one.environments[0]?.result?.source,
        one.environments[0]?.defaultValue,
      ]);
    };
    expect(await of(1)).toEqual([[1, 'force', false]]);
    expect(await of(2)).toEqual([[2, 'defaultValue', true]]);
    expect(await of(3)).toEqual([[3, undefined, true]]);
    expect(await refused(404, { featureId, version: 4 })).toContain('4');
    expect(await refused(400, { version: 1 })).toContain('featureId');
  });

  test('judges schedules at the date that is asked for, else as they are served', async () => {
    const now = service.clock.now().getTime();
    const day = 86_400_000;
    const at = (days: number) => new Date(now + days * day).toISOString();
    const scheduleRules = [
      { timestamp: at(1), enabled: true },
      { timestamp: at(3), enabled: false },
    ];
    const { id: featureId } = await newFeature(organization, { rules: [{ ...german, scheduleRules }] });
    expect(await values({ featureId })).toEqual([['production', false]]);
    for (const [days, value] of [
      [0, false],
      [1, true],
      [2, true],
      [3, false],
    ] as const) {
      expect(await values({ featureId, evalDate: at(days) })).toEqual([['production', value]]);
    }
    const [{ log } = { log: [] }] = await environments({ featureId, evalDate: at(4) });
    expect(log[0]?.[0]).toContain('schedule');
  });

  test('leaves prerequisites out, takes them for held, or evaluates them', async () => {
    await newFeature(organization, { id: 'parent', rules: [{ ...german, condition: '{"country":"AT"}' }] });
    await newFeature(organization, { id: 'gated', prerequisites: ['parent'], rules: [german] });
    await newFeature(organization, { id: 'ruled', rules: [needy('parent')] });
    const of = async (featureId: string, body: Body) => {
      const [one] = await environments({ featureId, ...body });
      return [one?.result?.value, one?.log.at(0)?.[0]];
    };
    const truly = { scrubPrerequisites: false };
    expect(await of('gated', {})).toEqual([true, expect.stringContaining('applies')]);
    expect(await of('gated', truly)).toEqual([null, expect.stringContaining('does not hold')]);
    expect(await of('ruled', {})).toEqual([false, expect.stringContaining('leaves out')]);
    expect(await of('ruled', { skipRulesWithPrerequisites: false })).toEqual([
      true,
      expect.stringContaining('applies'),
    ]);
    expect(await of('ruled', truly)).toEqual([false, expect.stringContaining('prerequisite of the rule')]);
    id = await newArchetype({ country: 'AT' });
    expect(await of('ruled', truly)).toEqual([true, expect.stringContaining('applies')]);
  });

  test('leaves prerequisites out also where they can never hold', async () => {
    await newFeature(organization, { id: 'dark' });
    await newFeature(organization, { id: 'gated', prerequisites: ['dark'], rules: [german] });
    await newFeature(organization, { id: 'ruled', rules: [needy('dark')] });
    const of = async (featureId: string, body: Body) => (await values({ featureId, ...body }))[0]?.[1];
    expect(await of('gated', {})).toBe(true);
    expect(await of('ruled', { skipRulesWithPrerequisites: false })).toBe(true);
    expect(await of('gated', { scrubPrerequisites: false })).toBeUndefined();
    expect(await of('ruled', { scrubPrerequisites: false })).toBe(false);
  });

  test('gives what SDKs get', async () => {
    const { admin } = organization;
    const rules = [{ type: 'rollout' as const, value: 'true', coverage: 0.5, hashAttribute: 'id' }];
    await newFeature(organization, { id: 'parent', rules });
    const { id: featureId } = await newFeature(organization, { rules: [needy('parent'), ...rules] });
    const { key } = await newConnection(admin);
    const { evaluate } = compilePayload(await payloadOf(service.url, key, await service.version(organization.id)));
    const served = [];
    const simulated = [];
    for (let user = 0; user < 20; user++) {
      const attributes = { id: `user-${user}` };
      id = await newArchetype(attributes);
      served.push(evaluate(featureId, { attributes }).value);
      simulated.push((await values({ featureId, scrubPrerequisites: false }))[0]?.[1]);
    }
    expect(simulated).toEqual(served);
    expect(new Set(simulated)).toEqual(new Set([true, false]));
  });

  test('knows who is in a saved group', async () => {
    const { savedGroup } = await organization.admin.call(postSavedGroup, {
      body: { name: 'Ours', type: 'list', attributeKey: 'id', values: ['u1', 'u2'] },
    });
    const savedGroupTargeting = [{ matchType: 'all' as const, savedGroups: [savedGroup.id] }];
    const { id: featureId } = await newFeature(organization, {
      rules: [{ type: 'force', value: 'true', savedGroupTargeting }],
    });
    expect(await values({ featureId })).toEqual([['production', true]]);
    id = await newArchetype({ id: 'u3' });
    expect(await values({ featureId })).toEqual([['production', false]]);
  });

  test.each<[string, number, object, string]>([
    ['an unknown feature', 404, { featureId: 'nowhere' }, 'nowhere'],
    ['an unknown environment', 400, { environment: 'mars' }, 'mars'],
    ['a date that is none', 400, { evalDate: 'tomorrow' }, 'evalDate'],
    ['a version that is none', 400, { featureId: 'f', version: 0 }, 'version'],
    ['a text for a switch', 400, { scrubPrerequisites: 'no' }, 'scrubPrerequisites'],
    ['an unknown key', 400, { attributes: {} }, 'attributes'],
  ])('for %s is %i', async (_, status, body, named) => {
    expect(await refused(status, body)).toContain(named);
  });

  test('is for whoever may read archetype and feature', async () => {
    const { admin } = organization;
    const { project } = await admin.call(postProject, { body: { name: 'Secret' } });
    const { project: own } = await admin.call(postProject, { body: { name: 'Own' } });
    const secret = await newFeature(organization, { project: project.id });
    await newFeature(organization, { id: 'ours', project: own.id });
    const role = { project: project.id, role: 'nobody', limitAccessByEnvironment: false, environments: [] };
    const client = await service.withKey({ role: 'readonly', projectRoles: [role] }, organization.id);
    const { results, total } = await simulate({}, { client });
    expect([results.map(({ featureId }) => featureId), total]).toEqual([['ours'], 1]);
    await client.refused(404, simulateArchetype, { params: { id }, body: { featureId: secret.id } });
    id = await newArchetype({}, { projects: [project.id] });
    await client.refused(404, simulateArchetype, { params: { id }, body: {} });
    await admin.refused(404, simulateArchetype, { params: { id: 'sam_unknown' }, body: {} });
  });

  test('changes and tells nothing', async () => {
    const { id: featureId } = await newFeature(organization, { rules: [german] });
    const version = await service.version(organization.id);
    const before = await service.history(featureId);
    await simulate({ featureId });
    expect(await service.version(organization.id)).toBe(version);
    expect(await service.history(featureId)).toEqual(before);
  });

  test('comes to an end also where an expression would search for ages', async () => {
    id = await newArchetype({ text: `${'a'.repeat(90_000)}!` });
    const condition = '{"text":{"$regex":"a*a*a*a*b$"}}';
    const { id: slow } = await newFeature(organization, { rules: [{ ...german, condition }] });
    const { id: quick } = await newFeature(organization, { defaultValue: 'true' });
    const { results } = await simulate({});
    expect(results.map((one) => [one.featureId, one.environments[0]?.result?.value])).toEqual([
      [slow, undefined],
      [quick, true],
    ]);
    expect(results[0]?.environments[0]?.log[0]?.[0]).toContain('too long');
    const { headers } = await organization.admin.refused(429, simulateArchetype, { params: { id }, body: {} });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('simulating where it is switched off', () => {
  test('is 403, and 404 for what cannot be seen', async () => {
    const service = await startService({ ENTITLEMENTS: 'archetypes' });
    const { admin, owner } = service;
    const { archetype } = await admin.call(postArchetype, { body: { name: 'Someone', isPublic: true } });
    await admin.call(postFeature, { body: { id: 'f', defaultValue: 'true', owner: owner.id } });
    const params = { id: archetype.id };
    const { details } = await admin.refused(403, simulateArchetype, { params, body: { featureId: 'f' } });
    expect(details).toMatchObject({ entitlement: 'simulate' });
    await admin.refused(404, simulateArchetype, { params, body: { featureId: 'nowhere' } });
    await service.stop();
  });
});
