import { getFeature, postFeature, postProject, updateFeature } from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshId, newFeature } from '../../testing/objects.ts';
import { startService, type TestService } from '../../testing/service.ts';

describe('the schema of a feature’s values', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const refused = (more: object) =>
    service.admin.refused(400, postFeature, {
      body: { id: freshId(), valueType: 'json', defaultValue: '{}', owner: service.owner.id, ...more },
    });
  const withName = JSON.stringify({ type: 'object', required: ['name'], properties: { name: { type: 'string' } } });
  const named = (defaultValue = '{"name":"a"}') =>
    newFeature(service, { valueType: 'json', defaultValue, jsonSchema: withName });

  test.each([
    ['no JSON', '{'],
    ['no object', '[]'],
    ['no schema', '{"type":"nonsense"}'],
    ['a reference to nowhere', '{"$ref":"https://example.com/schema.json"}'],
    ['a broken pattern', '{"type":"string","pattern":"(("}'],
    ['asynchronous', '{"$async":true,"type":"number"}'],
    ['asynchronous below', '{"$ref":"#/definitions/n","definitions":{"n":{"$async":true,"type":"number"}}}'],
    ['about what is never checked', '{"type":"object","properties":{"__proto__":{"type":"string"}}}'],
    ['5,000 levels deep', `${'{"not":'.repeat(5000)}{}${'}'.repeat(5000)}`],
    ['very long', `{"description":"${'x'.repeat(100_000)}"}`],
  ])('one that is %s is 400', async (_, jsonSchema) => {
    expect((await refused({ jsonSchema })).message).toMatch(/^The jsonSchema (?!.*stack)/);
  });

  test('the schema of a number or text says so, by its type or by its choices', async () => {
    const number = (jsonSchema: string) => refused({ valueType: 'number', defaultValue: '1', jsonSchema });
    await number('{"type":"string"}');
    await number('{"minimum":1}');
    await number('{"enum":[1,"two"]}');
    for (const jsonSchema of ['{"type":"integer"}', '{"type":"number","minimum":0}', '{"enum":[1,2]}']) {
      await newFeature(service, { valueType: 'number', defaultValue: '1', jsonSchema });
    }
    await newFeature(service, { valueType: 'string', defaultValue: 'a', jsonSchema: '{"enum":["a","b"]}' });
    await refused({ valueType: 'string', defaultValue: 'a', jsonSchema: '{"type":"number"}' });
  });

  test('unknown keywords and formats are no errors, and newer drafts are understood', async () => {
    for (const jsonSchema of [
      '{"type":"object","x-editor":"table","properties":{"a":{"format":"colour"}}}',
      '{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}',
      '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}',
      '{"$schema":"http://json-schema.org/draft-04/schema#","type":"object"}',
    ]) {
      const feature = await newFeature(service, { valueType: 'json', defaultValue: '{}', jsonSchema });
      expect(feature.defaultValue).toBe('{}');
    }
  });

  test('a boolean feature takes no schema: 400 on creation, without effect on update [flags M49]', async () => {
    await refused({ valueType: 'boolean', defaultValue: 'true', jsonSchema: '{"type":"boolean"}' });
    const { id } = await newFeature(service);
    const { feature } = await service.admin.call(updateFeature, { params: { id }, body: { jsonSchema: '{' } });
    expect(feature.revision.version).toBe(1);
  });

  test('values that do not fit are 400 and named', async () => {
    const { message } = await refused({
      defaultValue: '{"name":1}',
      jsonSchema: withName,
      rules: [{ type: 'force', value: '{}' }],
    });
    expect(message).toContain('The default value does not fit');
    expect(message).toContain('/name must be string');
    expect(message).toContain('Value of rule 1');
  });

  test('a value has the properties that it holds, not those that every object inherits', async () => {
    const typed = '{"type":"object","properties":{"constructor":{"type":"string"},"toString":{"type":"string"}}}';
    const { id } = await newFeature(service, { valueType: 'json', defaultValue: '{"label":"x"}', jsonSchema: typed });
    const update = { params: { id }, body: { defaultValue: '{"constructor":1}' } };
    expect((await service.admin.refused(400, updateFeature, update)).message).toContain('/constructor must be string');
    const { message } = await refused({ jsonSchema: '{"type":"object","required":["toString"]}' });
    expect(message).toContain("must have required property 'toString'");
    const closed = '{"type":"object","additionalProperties":false}';
    await refused({ defaultValue: '{"__proto__":5}', jsonSchema: closed });
  });

  test('a sparse value is held against the schema together with the default', async () => {
    const { id } = await named();
    const rule = { type: 'force', value: '{"extra":1}' };
    await service.admin.refused(400, updateFeature, { params: { id }, body: { rules: [rule] } });
    const { feature } = await service.admin.call(updateFeature, {
      params: { id },
      body: { rules: [{ type: 'force', value: '{"extra":1}', sparse: true }] },
    });
    expect(feature.rules).toHaveLength(1);
  });

  test('a value that does not fit the schema of the same request is 400, and the schema is not stored [flags M47]', async () => {
    const { id } = await newFeature(service, { valueType: 'json', defaultValue: '{}' });
    await service.admin.refused(400, updateFeature, {
      params: { id },
      body: { defaultValue: '{}', jsonSchema: withName },
    });
    const { feature } = await service.admin.call(getFeature, { params: { id }, query: { withRevisions: 'all' } });
    expect(feature.revisions).toHaveLength(1);
    expect(feature.revisions?.[0]?.metadata).not.toHaveProperty('jsonSchema');
  });

  test('a new schema that stored values do not fit is a gate, which skipSchemaValidation clears for those who may', async () => {
    const { id } = await newFeature(service, { valueType: 'json', defaultValue: '{}' });
    const input = { params: { id }, body: { jsonSchema: withName } };
    const { gates, warnings } = await service.admin.refused(422, updateFeature, input);
    expect(gates).toEqual([
      {
        type: 'schema-validation',
        severity: 'warning',
        messages: [expect.stringContaining("must have required property 'name'")],
        override: 'skipSchemaValidation',
        requiresPermission: 'bypassApprovalFeatures',
        resolution: null,
      },
    ]);
    expect(warnings).toEqual([]);
    const body = { jsonSchema: withName, skipSchemaValidation: true };
    const { bypassedGates, feature } = await service.admin.call(updateFeature, { params: { id }, body });
    expect(bypassedGates).toEqual([{ type: 'schema-validation', outcome: 'bypassed', via: 'skipSchemaValidation' }]);
    expect(feature.revision.version).toBe(2);
    // The older form of the flag, in the query; a body value wins over it.
    const other = await newFeature(service, { valueType: 'json', defaultValue: '{}' });
    const query = { skipSchemaValidation: true };
    await service.admin.refused(422, updateFeature, {
      params: { id: other.id },
      query,
      body: { jsonSchema: withName, skipSchemaValidation: false },
    });
    await service.admin.call(updateFeature, { params: { id: other.id }, query, body: { jsonSchema: withName } });
  });

  test('where the organization only warns, ignoreWarnings clears it', async () => {
    const organization = await service.newOrganization('Warns');
    await service.setSettings({ blockPublishOnSchemaError: false }, organization.id);
    const { id } = await newFeature(organization, { valueType: 'json', defaultValue: '{}' });
    const { gates, warnings } = await organization.admin.refused(422, updateFeature, {
      params: { id },
      body: { jsonSchema: withName },
    });
    expect(gates?.[0]).toMatchObject({ override: 'ignoreWarnings', requiresPermission: null });
    expect(warnings).toHaveLength(1);
    const { bypassedGates } = await organization.admin.call(updateFeature, {
      params: { id },
      body: { jsonSchema: withName, ignoreWarnings: true },
    });
    expect(bypassedGates?.[0]?.via).toBe('ignoreWarnings');
  });

  test('skipSchemaValidation without the bypass permission for the whole organization has no effect [flags M48]', async () => {
    const { project } = await service.admin.call(postProject, { body: { name: 'Limited' } });
    const { id } = await newFeature(service, {
      project: project.id,
      valueType: 'json',
      defaultValue: '{"name":"a"}',
      jsonSchema: withName,
    });
    const adminThere = { project: project.id, role: 'admin', limitAccessByEnvironment: false, environments: [] };
    const key = await service.withKey({ role: 'readonly', projectRoles: [adminThere] });
    const body = { defaultValue: '{}', skipSchemaValidation: true };
    await key.refused(400, updateFeature, { params: { id }, body });
    await service.admin.call(updateFeature, { params: { id }, body });
  });

  test('an empty schema text removes the schema', async () => {
    const { id } = await named();
    const update = (body: object) => service.admin.call(updateFeature, { params: { id }, body });
    expect((await update({ jsonSchema: '' })).feature).not.toHaveProperty('jsonSchema.enabled', true);
    expect((await update({ defaultValue: '{}' })).feature.defaultValue).toBe('{}');
  });

  test('a schema that takes any time to check is refused; whoever sends many of them waits for themselves alone', async () => {
    const other = await service.newOrganization('Bystanders');
    const exploding = JSON.stringify({ type: 'string', pattern: '^(a+)+$' });
    let running = 0;
    const attack = async (length: number) => {
      running++;
      const answer = await service.admin.request(postFeature, {
        body: {
          id: freshId(),
          valueType: 'string',
          defaultValue: `${'a'.repeat(length)}!`,
          owner: service.owner.id,
          jsonSchema: exploding,
        },
      });
      running--;
      const { message } = (await answer.json()) as { message: string };
      return { status: answer.status, message, retryAfter: answer.headers.get('retry-after') };
    };
    const attacks = Array.from({ length: 12 }, (_, index) => attack(40 + index));
    await newFeature(other, { valueType: 'json', defaultValue: '{"name":"a"}', jsonSchema: withName });
    expect(running).toBeGreaterThan(0);

    const answers = await Promise.all(attacks);
    const refusals = answers.filter(({ status }) => status === 400);
    expect(refusals.length).toBeGreaterThan(0);
    for (const { message } of refusals)
      expect(message).toBe('The values cannot be checked against the jsonSchema: checking takes too long.');
    const turnedAway = answers.filter(({ status }) => status === 503);
    expect(turnedAway.length).toBe(answers.length - refusals.length);
    expect(turnedAway.length).toBeGreaterThan(0);
    for (const { retryAfter } of turnedAway) expect(Number(retryAfter)).toBeGreaterThan(0);
    await named();
  });
});
