import {
  deleteEnvironment,
  deleteSdkConnection,
  getSdkConnection,
  listSdkConnections,
  lookupSdkConnectionByKey,
  postProject,
  postSdkConnection,
  putSdkConnection,
} from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newConnection, newEnvironment } from '../../testing/objects.ts';
import { startService, type TestService } from '../../testing/service.ts';
import { connectionKind } from './connection.ts';
import { capabilitiesOf, sdkLanguages } from './sdk-languages.ts';

describe('SDK connections', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const body = (more: object = {}) => ({ name: 'Web', language: 'javascript', environment: 'production', ...more });
  const refused = (more: object) => service.admin.refused(400, postSdkConnection, { body: body(more) });
  const change = (id: string, more: object) => service.admin.call(putSdkConnection, { params: { id }, body: more });

  test('a connection is created with its keys, read, changed and deleted', async () => {
    const { admin } = service;
    const connection = await newConnection(admin, { includeRuleIds: true });
    expect(connection).toMatchObject({
      id: expect.stringMatching(/^sdk_/),
      organization: service.id,
      languages: ['javascript'],
      sdkVersion: '1.8.0',
      project: '',
      projects: [],
      encryptPayload: false,
      includeRuleIds: true,
      key: expect.stringMatching(/^sdk-[A-Za-z0-9]{8,16}$/),
      proxyEnabled: false,
      proxyHost: '',
    });
    const { includeRuleIds: _on, ...switches } = Object.fromEntries(
      Object.entries(connection).filter(([name]) => /^(include|hash|remoteEval|savedGroup)/.test(name)),
    );
    expect(Object.keys(switches)).toHaveLength(12);
    expect(new Set(Object.values(switches))).toEqual(new Set([false]));
    expect(Buffer.from(connection.encryptionKey, 'base64')).toHaveLength(16);
    expect(Buffer.from(connection.proxySigningKey, 'base64')).toHaveLength(32);
    const { id, key } = connection;
    expect((await admin.call(getSdkConnection, { params: { id } })).sdkConnection).toEqual(connection);
    expect((await admin.call(lookupSdkConnectionByKey, { params: { key } })).sdkConnection).toEqual(connection);
    const changed = await change(id, { name: 'Renamed', encryptPayload: true });
    expect(changed.sdkConnection).toEqual({
      ...connection,
      name: 'Renamed',
      encryptPayload: true,
      dateUpdated: changed.sdkConnection.dateUpdated,
    });
    expect(await admin.call(deleteSdkConnection, { params: { id } })).toEqual({ deletedId: id });
    await admin.refused(404, getSdkConnection, { params: { id } });
    await admin.refused(404, lookupSdkConnectionByKey, { params: { key } });
    await admin.refused(404, deleteSdkConnection, { params: { id } });
  });

  test('the keys that encrypt and sign stay out of the audit log', async () => {
    const { id, encryptionKey, proxySigningKey } = await newConnection(service.admin);
    const { audits } = await service.history(id);
    expect(audits.map(({ event }) => event)).toEqual(['sdk-connection.create']);
    const text = JSON.stringify(audits);
    expect(text).not.toContain(encryptionKey);
    expect(text).not.toContain(proxySigningKey);
  });

  test('versions and options must be ones that the language has, also after it is switched [flags M109]', async () => {
    expect((await refused({ sdkVersion: '99.0.0' })).message).toContain('99.0.0');
    expect((await newConnection(service.admin, { sdkVersion: '1.8.0' })).sdkVersion).toBe('1.8.0');
    expect((await refused({ language: 'go', includeVisualExperiments: true })).message).toContain('visualEditor');
    const visual = await newConnection(service.admin, { includeVisualExperiments: true });
    await service.admin.refused(400, putSdkConnection, { params: { id: visual.id }, body: { language: 'go' } });
    const without = await change(visual.id, { language: 'go', includeVisualExperiments: false });
    expect(without.sdkConnection).toMatchObject({ languages: ['go'], sdkVersion: '0.2.9' });
    await refused({ language: 'constructor' });
    await refused({ language: 'ruby', remoteEvalEnabled: true });
    await refused({ sdkVersion: '0.9.3', encryptPayload: true });
    await refused({ sdkVersion: '0.34.0', includeRedirectExperiments: true });
  });

  test('another language begins at its newest version, the same one stays at its own', async () => {
    const { id } = await newConnection(service.admin, { sdkVersion: '1.7.0' });
    expect((await change(id, { language: 'javascript' })).sdkConnection.sdkVersion).toBe('1.7.0');
    const moved = await change(id, { language: 'go', sdkVersion: '0.2.0' });
    expect(moved.sdkConnection).toMatchObject({ languages: ['go'], sdkVersion: '0.2.0' });
    expect((await change(id, { language: 'python' })).sdkConnection.sdkVersion).toBe('2.4.0');
    const params = { id };
    await service.admin.refused(400, putSdkConnection, { params, body: { sdkVersion: '0.2.00' } });
    await change(id, { language: 'javascript', remoteEvalEnabled: true });
    await service.admin.refused(400, putSdkConnection, { params, body: { sdkVersion: '0.28.0' } });
  });

  test('one of old with several languages keeps them until it is given one', async () => {
    const { id, ...made } = await newConnection(service.admin);
    const live = (
      await service.recorder.publish(service.id, { type: 'system', subtype: 'test' }, (states) => {
        const before = states.get(connectionKind, id);
        if (before === null) throw new Error('It has just been made.');
        const { sdkVersion: _, ...state } = before.state;
        const several = { ...state, languages: ['javascript', 'python'] };
        return { publication: { changes: [{ kind: connectionKind, id, state: several }], audit: [] }, result: several };
      })
    ).result;
    const renamed = (await change(id, { name: 'Renamed' })).sdkConnection;
    expect(renamed).toMatchObject({ languages: live.languages, name: 'Renamed', key: made.key });
    await service.admin.refused(400, putSdkConnection, { params: { id }, body: { sdkVersion: '1.8.0' } });
    const { sdkConnection } = await change(id, { language: 'javascript' });
    expect(sdkConnection).toMatchObject({ languages: ['javascript'], sdkVersion: '1.8.0' });
  });

  test('a name has at least three characters [flags M110]', async () => {
    expect((await refused({ name: 'ab' })).message).toContain('3 characters');
    await refused({ name: ' a ' });
    await refused({ name: undefined });
  });

  test.each([
    ['an unknown environment', { environment: 'mars' }, 'mars'],
    ['an unknown project', { projects: ['prj_x'] }, 'prj_x'],
    ['an unknown custom field', { allowedCustomFieldsInMetadata: ['team'] }, 'team'],
    ['a proxy without a host', { proxyEnabled: true }, 'proxyHost'],
    ['a proxy that is no http address', { proxyEnabled: true, proxyHost: 'ftp://proxy.example.com' }, 'proxyHost'],
    ['an unknown key', { colour: 'red' }, 'colour'],
    ['a wrong type', { encryptPayload: 'yes' }, 'encryptPayload'],
  ])('%s is 400 and nothing is stored', async (_, more, named) => {
    const { total } = await service.admin.call(listSdkConnections);
    expect((await refused(more)).message).toContain(named);
    expect((await service.admin.call(listSdkConnections)).total).toBe(total);
  });

  test('the same content changes nothing', async () => {
    const connection = await newConnection(service.admin);
    const version = await service.version();
    expect((await change(connection.id, { name: 'Test', encryptPayload: false })).sdkConnection).toEqual(connection);
    const params = { id: connection.id };
    const sendable = Object.fromEntries(
      Object.entries(connection).filter(([name]) => Object.hasOwn(putSdkConnection.body.shape, name)),
    );
    await service.admin.call(putSdkConnection, { params, body: { ...sendable, language: 'javascript' } });
    expect(await service.version()).toBe(version);
  });

  test('the keys stay what they are, whatever is switched on and off', async () => {
    const connection = await newConnection(service.admin);
    const { encryptionKey, key, proxySigningKey } = connection;
    for (const encryptPayload of [true, false, true]) {
      const { sdkConnection } = await change(connection.id, { encryptPayload, language: 'react' });
      expect(sdkConnection).toMatchObject({ encryptPayload, encryptionKey, key, proxySigningKey });
    }
    const body = { encryptionKey: 'mine' };
    await service.admin.refused(400, putSdkConnection, { params: { id: connection.id }, body });
  });

  test('a commercial feature that is on stays on where it is not granted any more, but is not switched on', async () => {
    const on = await newConnection(service.admin, { encryptPayload: true });
    const off = await newConnection(service.admin);
    const { admin } = await service.another({ ENTITLEMENTS: 'releases' });
    const renamed = { name: 'Renamed', encryptPayload: true };
    await admin.call(putSdkConnection, { params: { id: on.id }, body: renamed });
    await admin.refused(403, putSdkConnection, { params: { id: off.id }, body: renamed });
    await admin.call(putSdkConnection, { params: { id: on.id }, body: { encryptPayload: false } });
    await admin.refused(403, putSdkConnection, { params: { id: on.id }, body: renamed });
  });

  test('the list goes by age and filters by project and proxy', async () => {
    const { admin } = await service.newOrganization('Connections');
    const { project } = await admin.call(postProject, { body: { name: 'One' } });
    const { project: other } = await admin.call(postProject, { body: { name: 'Other' } });
    const first = await newConnection(admin);
    const second = await newConnection(admin, { projects: [project.id] });
    await newConnection(admin, { projects: [other.id], proxyEnabled: true, proxyHost: 'https://proxy.example.com' });
    const list = async (query: Record<string, string> = {}) =>
      (await admin.call(listSdkConnections, { query })).connections.map(({ id }) => id);
    expect(await list()).toHaveLength(3);
    expect((await list()).slice(0, 2)).toEqual([first.id, second.id]);
    expect(await list({ projectId: project.id })).toEqual([first.id, second.id]);
    expect(await list({ projectId: 'prj_unknown' })).toEqual([]);
    expect(await list({ withProxy: '1' })).toHaveLength(1);
    expect(await list({ withProxy: '' })).toHaveLength(3);
    await admin.refused(403, listSdkConnections, { query: { multiOrg: 'true' } });
  });

  test('an environment in use cannot be deleted, even by who does not see the connection [tenancy M76]', async () => {
    const { project } = await service.admin.call(postProject, { body: { name: 'Unseen' } });
    await newEnvironment(service.admin, 'used');
    const connection = await newConnection(service.admin, { environment: 'used', projects: [project.id] });
    const nobody = { project: project.id, role: 'nobody', limitAccessByEnvironment: false, environments: [] };
    const key = await service.withKey({ projectRoles: [nobody] });
    await key.refused(404, getSdkConnection, { params: { id: connection.id } });
    const { message } = await key.refused(400, deleteEnvironment, { params: { id: 'used' } });
    expect(message).toContain('an SDK connection');
    expect(message).not.toContain(connection.id);
  });

  test('where projects are required, none is 400', async () => {
    const { admin, id } = await service.newOrganization('Required');
    await service.setSettings({ requireProjectForSdkConnections: true }, id);
    await admin.refused(400, postSdkConnection, { body: body() });
    const { project } = await admin.call(postProject, { body: { name: 'One' } });
    const connection = await newConnection(admin, { projects: [project.id] });
    await admin.refused(400, putSdkConnection, { params: { id: connection.id }, body: { projects: [] } });
  });

  test('a reader may look but not write', async () => {
    const { id } = await newConnection(service.admin);
    const readonly = await service.withKey({ role: 'readonly' });
    await readonly.call(getSdkConnection, { params: { id } });
    await readonly.refused(403, postSdkConnection, { body: body() });
    await readonly.refused(403, putSdkConnection, { params: { id }, body: { name: 'Other' } });
    await readonly.refused(403, deleteSdkConnection, { params: { id } });
  });
});

describe('connections of a hosted installation', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({
      HOSTED: 'true',
      MULTI_ORGANIZATION: 'true',
      API_RATE_LIMIT_MAX: '0',
      ENTITLEMENTS: 'cloud-proxy',
    });
  });
  afterAll(() => service.stop());

  test.each([
    'http://localhost:3000',
    'http://10.0.0.1',
    'http://[::1]',
    'http://169.254.169.254/',
    'http://proxy',
    'http://2130706433',
    'http://a.internal',
  ])('have no proxy at %s', async (proxyHost) => {
    const input = { name: 'Web', language: 'javascript', environment: 'production', proxyEnabled: true, proxyHost };
    await service.admin.refused(400, postSdkConnection, { body: input });
  });

  test('have one at a public host', async () => {
    const proxy = { proxyEnabled: true, proxyHost: 'https://proxy.example.com' };
    expect(await newConnection(service.admin, proxy)).toMatchObject(proxy);
  });

  test('without the commercial feature an option cannot be switched on', async () => {
    for (const [option, entitlement] of [
      ['encryptPayload', 'encrypt-features-endpoint'],
      ['hashSecureAttributes', 'hash-secure-attributes'],
      ['remoteEvalEnabled', 'remote-evaluation'],
    ] as const) {
      const input = { name: 'Web', language: 'javascript', environment: 'production', [option]: true };
      const { details } = await service.admin.refused(403, postSdkConnection, { body: input });
      expect(details).toEqual({ reason: 'entitlement_required', entitlement });
    }
  });
});

describe('what SDKs understand', () => {
  test('of several languages what all have in common at their standard versions; an unknown one counts as other [flags M90]', () => {
    const both = capabilitiesOf(['javascript', 'python'], undefined);
    // JavaScript 0.31.0 and Python 1.0.0: what the older has is all that both have, and Python 1.0.0 refuses unknown keys.
    expect([...both].sort()).toEqual(['bucketingV2', 'encryption']);
    const loose = capabilitiesOf(['javascript', 'other'], undefined);
    expect([...loose].sort()).toEqual(['bucketingV2', 'looseUnmarshalling', 'namespacesV2']);
    expect(capabilitiesOf(['cobol'], '1.0.0')).toEqual(capabilitiesOf(['other'], undefined));
    expect(capabilitiesOf([], undefined)).toEqual(capabilitiesOf(['other'], undefined));
  });

  test('rises with the version, by number and not by text', () => {
    expect(capabilitiesOf(['java'], '0.9.9').has('remoteEval')).toBe(false);
    expect(capabilitiesOf(['java'], '0.9.92').has('remoteEval')).toBe(true);
    expect(capabilitiesOf(['java'], '0.10.10').has('caseInsensitiveMembership')).toBe(true);
    expect(capabilitiesOf(['javascript'], undefined)).toEqual(capabilitiesOf(['javascript'], '0.31.0'));
    for (const [name, { versions }] of sdkLanguages) {
      const sizes = versions.toReversed().map((version) => capabilitiesOf([name], version).size);
      expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
      expect(new Set(versions).size).toBe(versions.length);
    }
  });

  test('the version lists are whole', () => {
    const versionsOf = (name: string) => sdkLanguages.get(name)?.versions ?? [];
    expect(versionsOf('javascript').slice(0, 9)).toEqual([
      '1.8.0',
      '1.7.0',
      '1.6.5',
      '1.6.4',
      '1.6.3',
      '1.6.2',
      '1.6.1',
      '1.6.0',
      '1.5.1',
    ]);
    expect(versionsOf('react')).toContain('0.2.5');
    expect(versionsOf('android')).not.toContain('1.1.52');
    expect(versionsOf('edge-cloudflare')).not.toContain('0.2.3');
    expect(versionsOf('edge-cloudflare')).toContain('0.1.15');
  });
});
