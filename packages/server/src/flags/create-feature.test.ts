import { getFeature, listFeatures, postFeature, postProject, updateFeature } from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshId, newEnvironment, newFeature } from '../../testing/objects.ts';
import { startService, type TestService } from '../../testing/service.ts';

describe('creating a feature', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
    await newEnvironment(service.admin, 'dev', { defaultState: true });
    await newEnvironment(service.admin, 'staging');
  });
  afterAll(() => service.stop());

  const body = (more: object = {}) => ({ id: freshId(), defaultValue: 'false', owner: service.owner.id, ...more });
  const refused = (more: object) => service.admin.refused(400, postFeature, { body: body(more) });

  test('it is live at once, as version 1, with everything that was not said filled in', async () => {
    const feature = await newFeature(service, { id: 'first' });
    expect(feature).toEqual({
      id: 'first',
      dateCreated: feature.dateCreated,
      dateUpdated: feature.dateCreated,
      archived: false,
      description: '',
      owner: service.owner.id,
      ownerEmail: service.owner.email,
      project: '',
      targetingAllProjects: false,
      targetingProjects: [],
      valueType: 'boolean',
      defaultValue: 'false',
      tags: [],
      prerequisites: [],
      customFields: {},
      rules: [],
      environments: {
        production: { enabled: true, defaultValue: 'false', definition: '{"defaultValue":false}' },
        dev: { enabled: true, defaultValue: 'false', definition: '{"defaultValue":false}' },
        staging: { enabled: false, defaultValue: 'false' },
      },
      revision: {
        id: expect.stringMatching(/^frev_/),
        version: 1,
        comment: 'Created via REST API',
        date: feature.dateCreated,
        createdBy: { type: 'api_key', id: 'SECRET_API_KEY', name: 'SECRET_API_KEY' },
        publishedBy: { type: 'api_key', id: 'SECRET_API_KEY', name: 'SECRET_API_KEY' },
      },
    });
    expect((await service.admin.call(getFeature, { params: { id: 'first' } })).feature).toEqual(feature);
  });

  test('a key that the interface does not know is 400 and nothing is stored, in the body and in a rule [flags M1]', async () => {
    const { total } = await service.admin.call(listFeatures);
    expect((await refused({ colour: 'red' })).message).toContain('[colour]');
    const rule = { type: 'force', value: 'true', colour: 'red' };
    expect((await refused({ rules: [rule] })).message).toContain('[rules.0.colour]');
    expect((await service.admin.call(listFeatures)).total).toBe(total);
  });

  test('an environment that is not mentioned takes its default state [flags M2]', async () => {
    const organization = await service.newOrganization('Defaults');
    await newEnvironment(organization.admin, 'dev', { defaultState: true });
    await newEnvironment(organization.admin, 'live', { defaultState: false });
    const { environments } = await newFeature(organization);
    expect(environments.dev?.enabled).toBe(true);
    expect(environments.live?.enabled).toBe(false);
    const off = await newFeature(organization, {
      environments: { dev: { enabled: false }, production: { enabled: false } },
    });
    expect(Object.values(off.environments).map(({ enabled }) => enabled)).toEqual([false, false, false]);
  });

  test('it may have more tags than a statement of the database has parameters', async () => {
    const tags = Array.from({ length: 70_000 }, (_, index) => `label-${index}`);
    const { id } = await newFeature(service, { tags });
    expect((await service.admin.call(getFeature, { params: { id } })).feature.tags).toEqual(tags);
    await service.db.deleteFrom('tag').where('id', 'like', 'label-%').execute();
  });

  test('a project that the caller cannot see is as unknown as one that does not exist, wherever it is named', async () => {
    const { project } = await service.admin.call(postProject, { body: { name: 'Hidden' } });
    const hidden = { project: project.id, role: 'nobody', limitAccessByEnvironment: false, environments: [] };
    const key = await service.withKey({ projectRoles: [hidden] });
    const { id } = await newFeature(service);
    const rule = { type: 'force' as const, value: 'true', allProjects: false };
    const naming = (named: string) => [
      { rules: [{ ...rule, projects: [named] }] },
      { targetingProjects: [named] },
      { project: named },
    ];
    const unknown = 'prj_unknown';
    for (const [index, asked] of naming(project.id).entries()) {
      const { message } = await key.refused(400, updateFeature, { params: { id }, body: asked });
      const other = await key.refused(400, updateFeature, { params: { id }, body: naming(unknown)[index] ?? {} });
      expect(message).toBe(other.message.replace(unknown, project.id));
    }
    // What names it already stays as it is.
    const before = await newFeature(service, { rules: [{ ...rule, projects: [project.id] }] });
    const kept = { ...rule, id: before.rules[0]?.id ?? '', projects: [project.id], description: 'Mine' };
    await key.call(updateFeature, { params: { id: before.id }, body: { rules: [kept] } });
  });

  test('tags of a refused creation do not come into existence [flags M4]', async () => {
    await refused({ tags: ['never-1'], project: 'prj_unknown' });
    const readonly = await service.withKey({ role: 'readonly' });
    await readonly.refused(403, postFeature, { body: body({ tags: ['never-2'] }) });
    await newFeature(service, { tags: ['known', 'known'] });
    const tags = await service.db.selectFrom('tag').select('id').where('organization', '=', service.id).execute();
    expect(tags.map(({ id }) => id)).toEqual(['known']);
  });

  test.each(['a-b_1', 'A', '0'])('the id %j is accepted', async (id) => {
    expect((await newFeature(service, { id })).id).toBe(id);
  });

  test('ids hold letters, digits, hyphens and underscores only, and are never used twice [flags M5]', async () => {
    for (const id of ['a.b', 'a:b', 'a|b', 'a b', 'a/b', 'é', '$x', '', 'x'.repeat(257), '__proto__ ']) {
      expect((await refused({ id })).message).toContain('feature id');
    }
    const { id } = await newFeature(service, { archived: true });
    expect((await refused({ id })).message).toContain(id);
  });

  test('a feature can be called like a member that every object has', async () => {
    for (const id of ['constructor', 'toString', 'hasOwnProperty']) {
      expect((await newFeature(service, { id })).id).toBe(id);
      expect((await service.admin.call(getFeature, { params: { id } })).feature.id).toBe(id);
    }
    await service.admin.refused(404, getFeature, { params: { id: 'valueOf' } });
  });

  test('the one name that cannot be a key of JSON is no id: a payload that holds it could not be read everywhere', async () => {
    expect((await refused({ id: '__proto__' })).message).toContain('[id] must not be "__proto__"');
  });

  test('a new id must match the organization’s expression; an old one stays editable [flags M6]', async () => {
    const { id } = await newFeature(service, { id: 'Abc' });
    await service.setSettings({ featureRegexValidator: '^[a-z_]+$', featureKeyExample: 'my_flag' });
    const { message } = await refused({ id: 'Abd' });
    expect(message).toContain('^[a-z_]+$');
    expect(message).toContain('my_flag');
    const changed = await service.admin.call(updateFeature, { params: { id }, body: { description: 'Still here' } });
    expect(changed.feature.description).toBe('Still here');
    await service.setSettings({ featureRegexValidator: '((' });
    await newFeature(service, { id: 'Abe' });
    await service.setSettings({});
  });

  test('what is named twice in a list of ids is there once', async () => {
    const { id } = await newFeature(service);
    const twice = { prerequisites: [id, id] };
    const dependent = await newFeature(service, twice);
    expect(dependent.prerequisites).toEqual([id]);
    const params = { id: dependent.id };
    const { feature } = await service.admin.call(updateFeature, { params, body: twice });
    expect(feature).toEqual(dependent);
  });

  test('a feature is boolean unless it says otherwise, and booleans are coerced [flags M7]', async () => {
    expect(await newFeature(service, { defaultValue: 'yes' })).toMatchObject({
      valueType: 'boolean',
      defaultValue: 'true',
    });
    expect((await newFeature(service, { defaultValue: '' })).defaultValue).toBe('false');
    expect((await newFeature(service, { defaultValue: 'false' })).defaultValue).toBe('false');
  });

  test('numbers are written in plain digits [flags M8]', async () => {
    for (const defaultValue of ['1e3', '.5', '+1', '1.', '', 'NaN', '0x1', ' 1']) {
      await refused({ valueType: 'number', defaultValue });
    }
    const huge = await refused({ valueType: 'number', defaultValue: '9'.repeat(400) });
    expect(huge.message).toContain('too large');
    expect((await newFeature(service, { valueType: 'number', defaultValue: '-0.50' })).defaultValue).toBe('-0.50');
    expect((await newFeature(service, { valueType: 'number', defaultValue: '0' })).defaultValue).toBe('0');
  });

  test('lenient JSON is stored as strict JSON; strict JSON stays as it is written [flags M9]', async () => {
    const json = (defaultValue: string) => newFeature(service, { valueType: 'json', defaultValue });
    expect((await json('{a:1}')).defaultValue).toBe('{"a":1}');
    expect((await json("{'a': [1, 2,],}")).defaultValue).toBe('{"a":[1,2]}');
    expect((await json('{ "a" :  null }')).defaultValue).toBe('{ "a" :  null }');
    expect((await json('0')).defaultValue).toBe('0');
    for (const [defaultValue, why] of [
      ['nope{', 'is not JSON'],
      ['', 'is not JSON'],
      ['{a:Infinity}', 'number that JSON cannot express'],
      ['[NaN]', 'number that JSON cannot express'],
      ['[1e400]', 'number that JSON cannot express'],
      ['['.repeat(5000) + ']'.repeat(5000), 'deeper than 64 levels'],
    ] as const) {
      expect((await refused({ valueType: 'json', defaultValue })).message).toContain(why);
    }
  });

  test('values of rules are checked like the default value, and messages name them', async () => {
    const rule = { type: 'force', value: 'x' };
    expect((await refused({ valueType: 'number', defaultValue: '1', rules: [rule] })).message).toMatch(
      /Value of rule 1/,
    );
    const feature = await newFeature(service, { rules: [{ type: 'force', value: 'yes' }] });
    expect(feature.rules[0]).toMatchObject({ value: 'true' });
  });

  test('an owner is named by id or e-mail, in any letter case; an unknown one is 400 [flags M12]', async () => {
    const byEmail = await newFeature(service, { owner: service.owner.email.toUpperCase() });
    expect(byEmail).toMatchObject({ owner: service.owner.id, ownerEmail: service.owner.email });
    expect((await refused({ owner: 'u_x' })).message).toContain('u_x');
    await refused({ owner: 'nobody@example.com' });
    expect((await refused({ owner: undefined })).message).toContain('owner');
    // An owner of old that is an e-mail is shown as one.
    await service.recorder.publish(service.id, { type: 'system' }, (states) => {
      const [live] = states.all({ name: 'feature', label: 'feature' });
      if (live === undefined) throw new Error('there is a feature');
      const state = { ...(live.state as object), owner: 'old@example.com' };
      return {
        publication: { changes: [{ kind: { name: 'feature', label: 'feature' }, id: live.id, state }], audit: [] },
        result: null,
      };
    });
    const { features } = await service.admin.call(listFeatures, { query: { limit: 1 } });
    expect(features[0]).toMatchObject({ owner: 'old@example.com', ownerEmail: 'old@example.com' });
  });

  test('the owner is the member whose role the key assumes, where it assumes one [tenancy M23]', async () => {
    const member = await service.newMember('dana@example.com');
    const key = await service.withKey({});
    const headers = { 'X-Service-Requested-By': 'Dana@Example.com' };
    const { feature } = await key.call(postFeature, { body: body({ owner: undefined }), headers });
    expect(feature.owner).toBe(member);
    expect(feature.revision.createdBy).toMatchObject({
      type: 'api_key',
      id: member,
      requestedBy: { id: member, email: 'dana@example.com' },
      assumedRole: true,
    });
    const itself = await service.withKey({ requesterPermissions: 'key' });
    await itself.refused(400, postFeature, { body: body({ owner: undefined }), headers });
  });

  test.each([
    ['an unknown environment', { environments: { nowhere: { enabled: true } } }, 'nowhere'],
    ['an unknown project', { project: 'prj_x' }, 'prj_x'],
    ['an unknown targeting project', { targetingProjects: ['prj_y'] }, 'prj_y'],
    ['an unknown project of a rule', { rules: [{ type: 'force', value: 'true', projects: ['prj_z'] }] }, 'prj_z'],
    ['an unknown environment of a rule', { rules: [{ type: 'force', value: 'true', environments: ['mars'] }] }, 'mars'],
    [
      'an unknown environment beside all of them',
      { rules: [{ type: 'force', value: 'true', allEnvironments: true, environments: ['venus'] }] },
      'venus',
    ],
    [
      'an unknown project beside all of them',
      { rules: [{ type: 'force', value: 'true', allProjects: true, projects: ['prj_q'] }] },
      'prj_q',
    ],
    ['an unknown prerequisite', { prerequisites: ['nothing'] }, 'nothing'],
    ['an unknown config', { valueType: 'json', defaultValue: '{}', baseConfig: 'base' }, 'base'],
    ['an unknown config of the default', { valueType: 'json', defaultValue: '{}', defaultValueConfig: 'c1' }, 'c1'],
    ['an unknown config of a rule', { rules: [{ type: 'force', value: 'true', config: 'c2' }] }, 'c2'],
    ['an unknown custom field', { customFields: { team: 'a' } }, 'team'],
    [
      'an unknown saved group',
      { rules: [{ type: 'force', value: 'true', savedGroups: [{ match: 'all', ids: ['grp_1'] }] }] },
      'grp_1',
    ],
    [
      'an unknown saved group in the older form',
      {
        rules: [{ type: 'force', value: 'true', savedGroupTargeting: [{ matchType: 'any', savedGroups: ['grp_2'] }] }],
      },
      'grp_2',
    ],
    [
      'an unknown saved group in a condition',
      { rules: [{ type: 'force', value: 'true', condition: '{"$savedGroups":["grp_3"]}' }] },
      'grp_3',
    ],
    [
      'an unknown group operand',
      { rules: [{ type: 'force', value: 'true', condition: '{"id":{"$inGroup":"grp_4"}}' }] },
      'grp_4',
    ],
    ['an unknown experiment', { rules: [{ type: 'experiment-ref', variations: [], experimentId: 'exp_1' }] }, 'exp_1'],
    [
      'an unknown safe rollout',
      {
        rules: [
          { type: 'safe-rollout', controlValue: 'a', variationValue: 'b', hashAttribute: 'id', safeRolloutId: 'sr_1' },
        ],
      },
      'sr_1',
    ],
    [
      'an unknown bandit',
      { rules: [{ type: 'contextual-bandit-ref', variations: [], contextualBanditId: 'cb_1' }] },
      'cb_1',
    ],
    ['an unknown ramp schedule', { rules: [{ type: 'force', value: 'true', rampScheduleId: 'rs_1' }] }, 'rs_1'],
    ['an inline experiment', { rules: [{ type: 'experiment', condition: '' }] }, 'v1'],
    ['an empty tag', { tags: [''] }, 'tags.0'],
    ['a long tag', { tags: ['known', 'x'.repeat(65)] }, 'tags.1'],
    [
      'a rollout by no attribute',
      { rules: [{ type: 'rollout', value: 'true', coverage: 0.5, hashAttribute: '' }] },
      'hashAttribute',
    ],
    [
      'a rule id of which SDKs would know nothing',
      { rules: [{ id: '__dev', type: 'force', value: 'true' }] },
      'rule 1 ("__dev") begins with "__"',
    ],
    ['an unknown rule type', { rules: [{ type: 'lottery', value: 'true' }] }, 'lottery'],
    ['a config inside a value', { valueType: 'json', defaultValue: '{"$extends":["@config:base"]}' }, 'baseConfig'],
  ])('%s is 400, says what was wrong, and nothing is stored', async (_, more, named) => {
    const id = freshId();
    expect((await refused({ id, ...more })).message).toContain(named);
    await service.admin.refused(404, getFeature, { params: { id } });
  });

  test.each([
    ['no JSON', '{"country":'],
    ['a list', '[]'],
    ['a text', '"DE"'],
    ['an unknown operator', '{"age":{"$greater":1}}'],
    ['$or without a list', '{"$or":{"a":1}}'],
    ['$in without a list', '{"a":{"$in":"b"}}'],
    ['an unknown operator beside attributes', '{"$greater":1}'],
    ['an unknown operator below a logical one', '{"$or":[{"$not":{"$greater":1}}]}'],
    ['a broken regular expression', '{"a":{"$regex":"("}}'],
    ['an exploding one of another language', '{"a":{"$regex":"(?i)^(a+)+$"}}'],
    ['an exploding regular expression', '{"a":{"$regex":"^(a+)+$"}}'],
    ['5,000 levels', `${'{"$not":'.repeat(5000)}{}${'}'.repeat(5000)}`],
    ['a deep value', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`],
    ['about a number that JSON cannot express', '{"a":1e400}'],
    ['about such a number further inside', '{"$or":[{"a":{"$in":[1,[-1e400]]}}]}'],
  ])('a condition that is %s is 400', async (_, condition) => {
    const { message } = await refused({ rules: [{ type: 'force', value: 'true', condition }] });
    expect(message).toContain('condition of rule 1');
    expect(message.length).toBeLessThan(2_000);
  });

  test.each([
    ['nothing', ''],
    ['everyone', '{}'],
    ['nested logic', '{"$or":[{"country":"DE"},{"$not":{"age":{"$lt":18}}}],"plan":{"$in":["pro","team"]}}'],
    ['an element', '{"tags":{"$elemMatch":{"$eq":"beta"}},"items":{"$elemMatch":{"id":{"$gt":1}}}}'],
    ['a harmless expression', '{"email":{"$regex":"^[^@]+@example\\\\.com$"},"ua":{"$regexi":"iphone|ipad"}}'],
    ['an expression of another language', '{"email":{"$regex":"(?i)a"}}'],
    ['more of other languages', '{"a":{"$regex":"(?P<x>a++)(?P=x)(?>b)"}}'],
    ['a value with a dollar', '{"price":{"$amount":1,"currency":"$"}}'],
  ])('a condition of %s is kept as it is written', async (_, condition) => {
    const feature = await newFeature(service, { rules: [{ type: 'force', value: 'true', condition }] });
    expect(feature.rules[0]?.condition).toBe(condition);
  });

  test('where a project is required, none is 400', async () => {
    await service.setSettings({ requireProjectForFeatures: true });
    expect((await refused({})).message).toContain('project');
    await service.setSettings({});
  });

  test('where attributes must be registered, others are 400, in conditions and as hash attributes', async () => {
    await service.setSettings({ requireRegisteredAttributes: { isOn: true, requireProjectScoping: false } });
    const condition = '{"$or":[{"shoeSize":44},{"deviceType":"mobile"}]}';
    expect((await refused({ rules: [{ type: 'force', value: 'true', condition }] })).message).toContain('shoeSize');
    const rollout = { type: 'rollout', value: 'true', coverage: 0.5, hashAttribute: 'shoeSize' };
    expect((await refused({ rules: [rollout] })).message).toContain('shoeSize');
    await newFeature(service, { rules: [{ type: 'rollout', value: 'true', coverage: 0.5, hashAttribute: 'id' }] });
    await service.setSettings({});
  });

  test('two that create the same id at once: one succeeds, the other learns that it exists', async () => {
    const id = freshId();
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => service.admin.request(postFeature, { body: body({ id }) })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
  });
});

describe('commercial features', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ ENTITLEMENTS: 'releases' });
  });
  afterAll(() => service.stop());

  test.each([
    ['prerequisites', { prerequisites: ['other'] }],
    [
      'prerequisite-targeting',
      { rules: [{ type: 'force', value: 'true', prerequisites: [{ id: 'other', condition: '{"value":true}' }] }] },
    ],
    [
      'schedule-feature-flag',
      {
        rules: [
          {
            type: 'force',
            value: 'true',
            scheduleRules: [
              { timestamp: '2030-01-01T00:00:00.000Z', enabled: true },
              { timestamp: null, enabled: false },
            ],
          },
        ],
      },
    ],
    ['json-validation', { valueType: 'number', defaultValue: '1', jsonSchema: '{"type":"number"}' }],
  ])('without %s its use is 403 and names it', async (entitlement, more) => {
    const { message, details } = await service.admin.refused(403, postFeature, {
      body: { id: freshId(), defaultValue: 'false', owner: service.owner.id, ...more },
    });
    expect(message).toContain(entitlement);
    expect(details).toEqual({ reason: 'entitlement_required', entitlement });
  });
});
