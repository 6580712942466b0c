import { createHash } from 'node:crypto';
import {
  getFeature,
  getSavedGroup,
  postAttribute,
  postNamespace,
  putAttribute,
  putNamespace,
  type SdkConnection,
  updateFeature,
  updateSavedGroup,
} from '@halyard/contract';
import { decryptText, type Payload } from '@halyard/evaluation';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchPayload, payloadOf } from '../../testing/delivery.ts';
import { newConnection, newEnvironment, newFeature, newSavedGroup, ruleFor } from '../../testing/objects.ts';
import { startService, type TestOrganization, type TestService } from '../../testing/service.ts';
import { openStream } from '../../testing/streams.ts';

describe('saved groups in payloads', () => {
  let service: TestService;
  let organizations = 0;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  /** An organization whose payloads hold nothing but what the test makes. */
  const fresh = async (): Promise<TestOrganization & { payload(of: SdkConnection): Promise<Payload> }> => {
    const organization = await service.newOrganization(`Groups ${++organizations}`);
    return {
      ...organization,
      payload: async ({ key }) => payloadOf(service.url, key, await service.version(organization.id)),
    };
  };
  const references = { savedGroupReferencesEnabled: true };
  const conditionsOf = ({ features }: Payload, id: string) =>
    (features[id]?.rules ?? []).map((rule) => ('condition' in rule ? rule.condition : undefined));

  test('are the lists that the payload asks for, and an empty member where it asks for none [flags M68]', async () => {
    const mine = await fresh();
    const { admin } = mine;
    const connection = await newConnection(admin, references);
    expect((await mine.payload(connection)).savedGroups).toEqual({});

    const values = ['u1'];
    const [direct, negated, inCondition, nested, ...unused] = await Promise.all(
      Array.from({ length: 9 }, () => newSavedGroup(admin, { values })),
    );
    if (direct === undefined || negated === undefined || inCondition === undefined || nested === undefined) {
      throw new Error('They have just been made.');
    }
    const condition = await newSavedGroup(admin, { condition: JSON.stringify({ $savedGroups: [nested.id] }) });
    const [off, elsewhere, archived, unserved] = unused.map(({ id }) => id);
    await newEnvironment(admin, 'dev');
    const rules = [
      ruleFor(direct.id, condition.id),
      { ...ruleFor(), savedGroups: [{ match: 'none' as const, ids: [negated.id] }] },
      { ...ruleFor(), condition: JSON.stringify({ id: { $inGroup: inCondition.id } }) },
      { ...ruleFor(off ?? ''), enabled: false },
      { ...ruleFor(elsewhere ?? ''), environments: ['dev'] },
    ];
    const feature = await newFeature(mine, { rules });
    await newFeature(mine, { archived: true, rules: [ruleFor(archived ?? '')] });
    await newFeature(mine, { environments: { production: { enabled: false } }, rules: [ruleFor(unserved ?? '')] });

    const used = [direct, negated, inCondition, nested].map(({ id }) => id);
    const { savedGroups } = await mine.payload(connection);
    expect(savedGroups).toEqual(Object.fromEntries(used.map((id) => [id, values])));

    await admin.call(updateFeature, { params: { id: feature.id }, body: { rules: [] } });
    expect((await mine.payload(connection)).savedGroups).toEqual({});
    const { key } = await newConnection(admin);
    expect(await payloadOf(service.url, key, 0)).not.toHaveProperty('savedGroups');
  });

  test('stand beside the features for SDKs that know references, and in them for others', async () => {
    const mine = await fresh();
    const { admin } = mine;
    await admin.call(postAttribute, { body: { property: 'age', datatype: 'number' } });
    const { id: group } = await newSavedGroup(admin, { attributeKey: 'age', values: ['18', '30'] });
    const feature = await newFeature(mine, { rules: [ruleFor(group)] });
    const inPlace = { age: { $in: [18, 30] } };

    const aware = await mine.payload(await newConnection(admin, references));
    expect(conditionsOf(aware, feature.id)).toEqual([{ age: { $inGroup: group } }]);
    expect(aware.savedGroups).toEqual({ [group]: [18, 30] });
    expect(Object.keys(aware)).toEqual(['features', 'dateUpdated', 'savedGroups']);
    for (const options of [{}, { ...references, language: 'ruby' as const }]) {
      const connection = await newConnection(admin, options);
      const payload = await mine.payload(connection);
      expect(conditionsOf(payload, feature.id)).toEqual([inPlace]);
      expect(payload).not.toHaveProperty('savedGroups');
    }
  });

  test('are in no answer and no event about a feature, however often it names the group', async () => {
    const mine = await fresh();
    const { admin } = mine;
    const long = Array.from({ length: 1000 }, (_, index) => `somebody-${index}`);
    const { id: group } = await newSavedGroup(admin, { values: long });
    const { id } = await newFeature(mine, { rules: [ruleFor(group), ruleFor(group)] });
    await admin.call(updateFeature, { params: { id }, body: { description: 'Changed' } });

    const { feature } = await admin.call(getFeature, { params: { id } });
    const named = { condition: { id: { $inGroup: group } }, force: true };
    expect(JSON.parse(feature.environments.production?.definition ?? '')).toEqual({
      defaultValue: false,
      rules: [named, named],
    });
    const { events } = await service.history(id);
    expect(events.map(({ event }) => event)).toContain('feature.updated');
    expect(JSON.stringify([feature, events])).not.toContain('somebody');
  });

  test('are unmoved by new names; new values reach every connection, the same ones again none [flags M106]', async () => {
    const mine = await fresh();
    const { admin } = mine;
    const group = await newSavedGroup(admin, { values: ['u1'] });
    const nesting = await newSavedGroup(admin, { condition: JSON.stringify({ $savedGroups: [group.id] }) });
    await newFeature(mine, { rules: [ruleFor(nesting.id)] });
    const connections = await Promise.all(
      [{}, references, { encryptPayload: true }, { ...references, encryptPayload: true }].map((options) =>
        newConnection(admin, options),
      ),
    );
    const bodies = async (version: number) =>
      Promise.all(
        connections.map(async ({ key }) => {
          const headers = { 'X-Service-Min-Config-Version': String(version) };
          const response = await fetchPayload(service.url, key, headers);
          return [response.headers.get('etag'), await response.text()];
        }),
      );
    const change = async (id: string, body: object) => {
      await admin.call(updateSavedGroup, { params: { id }, body });
      return bodies(await service.version(mine.id));
    };
    const revisions = async () => (await service.history(group.id)).revisions.length;

    const before = await bodies(await service.version(mine.id));
    service.clock.advance(1_000);
    expect(await change(group.id, { values: ['u1'], name: 'Test' })).toEqual(before);
    expect(await revisions()).toBe(1);
    expect(await change(group.id, { name: 'Renamed' })).toEqual(before);
    expect(await revisions()).toBe(2);
    expect(await change(nesting.id, { name: 'Renamed' })).toEqual(before);

    const after = await change(group.id, { values: ['u2'] });
    expect(await revisions()).toBe(3);
    for (const [index, [tag, body]] of after.entries()) {
      expect(tag).not.toBe(before[index]?.[0]);
      expect(body).not.toBe(before[index]?.[1]);
    }
  });

  test('and namespaces may be called otherwise without a byte of a payload changing [flags M92]', async () => {
    const mine = await fresh();
    const { admin } = mine;
    const group = await newSavedGroup(admin, { values: ['u1'] });
    await newFeature(mine, { rules: [ruleFor(group.id)] });
    const { namespace } = await admin.call(postNamespace, {
      body: { displayName: 'Checkout', format: 'multiRange', hashAttribute: 'id' },
    });
    const { key } = await newConnection(admin, references);
    const body = async (version: number) => {
      const response = await fetchPayload(service.url, key, { 'X-Service-Min-Config-Version': String(version) });
      expect(response.headers.get('x-service-config-version')).toBe(String(version));
      return response.text();
    };
    const before = await body(await service.version(mine.id));
    service.clock.advance(1_000);
    const renamed = await admin.answer(updateSavedGroup, { params: { id: group.id }, body: { name: 'Other' } });
    expect(await body(renamed.version)).toBe(before);
    const { version } = await admin.answer(putNamespace, {
      params: { id: namespace.id },
      body: { displayName: 'Other' },
    });
    expect(await body(version)).toBe(before);
  });

  test('are told to streams when their values change, and become numbers when their attribute does', async () => {
    const mine = await fresh();
    const { admin } = mine;
    await admin.call(postAttribute, { body: { property: 'age', datatype: 'string' } });
    const { id: group } = await newSavedGroup(admin, { attributeKey: 'age', values: ['18'] });
    await newFeature(mine, { rules: [ruleFor(group)] });
    const connection = await newConnection(admin, references);
    expect((await mine.payload(connection)).savedGroups).toEqual({ [group]: ['18'] });
    const stream = await openStream(service.url, connection.key);
    await stream.next();
    await admin.call(updateSavedGroup, { params: { id: group }, body: { values: ['18', 'old'] } });
    expect((JSON.parse((await stream.next()).data) as Payload).savedGroups).toEqual({ [group]: ['18', 'old'] });
    await admin.call(putAttribute, { params: { property: 'age' }, body: { datatype: 'number' } });
    expect((JSON.parse((await stream.next()).data) as Payload).savedGroups).toEqual({ [group]: [18] });
    stream.close();
    // What has become no number may stay, but not come in.
    await admin.call(updateSavedGroup, { params: { id: group }, body: { name: 'Other' } });
    await admin.refused(400, updateSavedGroup, { params: { id: group }, body: { values: ['old'] } });
    expect((await admin.call(getSavedGroup, { params: { id: group } })).savedGroup.values).toEqual(['18', 'old']);
  });

  test('are hashed and encrypted as the connection asks; users are found in them by every way of asking', async () => {
    const mine = await fresh();
    const { admin } = mine;
    await service.setSettings({ secureAttributeSalt: 'salt' }, mine.id);
    await admin.call(postAttribute, { body: { property: 'email', datatype: 'secureString' } });
    const email = 'alice@example.com';
    const hashed = createHash('sha256').update(`salt${email}`).digest('hex');
    const { id: group } = await newSavedGroup(admin, { attributeKey: 'email', values: [email] });
    const { id } = await newFeature(mine, { rules: [ruleFor(group)] });
    const secure = { hashSecureAttributes: true };

    const plain = await mine.payload(await newConnection(admin, { ...references, ...secure }));
    expect(plain.savedGroups).toEqual({ [group]: [hashed] });
    expect(conditionsOf(plain, id)).toEqual([{ email: { $inGroup: group } }]);
    expect(conditionsOf(await mine.payload(await newConnection(admin, secure)), id)).toEqual([
      { email: { $in: [hashed] } },
    ]);
    const secret = await newConnection(admin, { ...references, ...secure, encryptPayload: true });
    const encrypted = await mine.payload(secret);
    expect(encrypted).not.toHaveProperty('savedGroups');
    expect(decryptText(encrypted.encryptedSavedGroups ?? '', secret.encryptionKey)).toBe(
      JSON.stringify(plain.savedGroups),
    );

    const remote = await newConnection(admin, { ...references, ...secure, remoteEvalEnabled: true });
    const headers = {
      'content-type': 'application/json',
      'X-Service-Min-Config-Version': String(await service.version(mine.id)),
    };
    const post = async (path: string, body: object, key: string): Promise<unknown> => {
      const response = await fetch(`${service.url}${path}`, {
        method: 'POST',
        headers: { ...headers, authorization: `Bearer ${key}` },
        body: JSON.stringify(body),
      });
      expect(response.status).toBe(200);
      return response.json();
    };
    for (const [address, isIn] of [
      [email, true],
      ['bob@example.com', false],
    ] as const) {
      // SDKs hash the attribute themselves; OpenFeature knows nothing of that.
      const attributes = { email: createHash('sha256').update(`salt${address}`).digest('hex') };
      const evaluated = (await post(`/api/eval/${remote.key}`, { attributes }, '')) as Payload;
      expect(evaluated.features[id]?.defaultValue).toBe(isIn);
      expect(evaluated).not.toHaveProperty('savedGroups');
      const context = { targetingKey: 'u1', email: address };
      const flag = await post(`/ofrep/v1/evaluate/flags/${id}`, { context }, secret.key);
      expect(flag).toMatchObject({ value: isIn });
    }
  });
});
