import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { rateLimit, readSettings, SettingError, settingsTable } from './settings.ts';

describe('settings', () => {
  test('have their standard values where nothing is set, an empty variable counting as nothing', () => {
    expect(readSettings({})).toMatchObject({
      PORT: 3100,
      HOST: '127.0.0.1',
      MULTI_ORGANIZATION: false,
      ENTITLEMENTS: 'all',
      LOG_LEVEL: 'info',
    });
    expect(readSettings({ PORT: '', API_HOST: '' })).toEqual(readSettings({}));
  });

  test('are read as what they are', () => {
    expect(
      readSettings({
        PORT: '0',
        API_HOST: 'https://flags.example.com/api/',
        HALYARD_ADMIN_EMAIL: 'Admin@Example.com',
        DATA_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
        ENTITLEMENTS: 'ramp-schedules, releases,',
        API_ALLOW_SKIP_PAGINATION: '1',
        CACHE_CONTROL_MAX_AGE: '0',
        HALYARD_UPSTREAM: 'https://flags.example.com/',
        HALYARD_EDGE_CLIENT_KEYS: 'sdk-a, sdk-b,sdk-a,',
      }),
    ).toMatchObject({
      PORT: 0,
      API_HOST: 'https://flags.example.com/api',
      HALYARD_ADMIN_EMAIL: 'admin@example.com',
      DATA_ENCRYPTION_KEY: Buffer.alloc(32, 1),
      ENTITLEMENTS: ['ramp-schedules', 'releases'],
      API_ALLOW_SKIP_PAGINATION: true,
      CACHE_CONTROL_MAX_AGE: 0,
      HALYARD_UPSTREAM: 'https://flags.example.com',
      HALYARD_EDGE_CLIENT_KEYS: ['sdk-a', 'sdk-b'],
    });
  });

  test.each([
    ['PORT', '65536'],
    ['PORT', '3100x'],
    ['PORT', '-1'],
    ['HOST', 'not a host'],
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['DATABASE_URL', 'nonsense'],
    ['API_HOST', 'flags.example.com'],
    ['APP_ORIGIN', 'ftp://example.com'],
    ['SECRET_API_KEY', 'with space'],
    ['SECRET_API_KEY', 'with:colon'],
    ['HALYARD_ADMIN_EMAIL', 'nobody'],
    ['MULTI_ORGANIZATION', 'perhaps'],
    ['ENTITLEMENTS', 'zork'],
    ['ENTITLEMENTS', 'releases,All'],
    ['API_RATE_LIMIT_MAX', '-5'],
    ['JWT_SECRET', 'short'],
    ['DATA_ENCRYPTION_KEY', 'abc'],
    ['LOG_LEVEL', 'loud'],
    ['SSE_LIFETIME_SECONDS', '0'],
    ['HALYARD_UPSTREAM', 'flags.example.com'],
    ['HALYARD_EDGE_CLIENT_KEYS', ' , '],
    ['HALYARD_EDGE_CLIENT_KEYS', 'sdk-a,secret_b'],
    ['HALYARD_EDGE_CLIENT_KEYS', 'sdk-a sdk-b'],
    ['HALYARD_EDGE_SECRET_KEY', 'sdk-a'],
    ['HALYARD_EDGE_SECRET_KEY', 'with space'],
    ['OUTBOUND_ALLOW_PRIVATE_HOSTS', 'perhaps'],
    ['WEBHOOKS', '[{"url": "https://example.com", "signingKey": '],
    ['WEBHOOKS', '{"url": "https://example.com", "signingKey": "k"}'],
    ['WEBHOOKS', '[{"signingKey": "k"}]'],
    ['WEBHOOKS', '[{"url": "ftp://example.com", "signingKey": "k"}]'],
    ['WEBHOOKS', '[{"url": "https://example.com"}]'],
    ['WEBHOOKS', '[{"url": "https://example.com", "signingKey": "k", "payloadFormat": "xml"}]'],
    ['WEBHOOKS', '[{"url": "https://example.com", "signingKey": "k", "method": "TRACE"}]'],
    ['WEBHOOKS', '[{"url": "https://example.com", "signingKey": "k", "headers": {"Host": "x"}}]'],
    ['WEBHOOKS', '[{"url": "https://example.com", "signingKey": "k", "colour": "red"}]'],
  ])('%s cannot be %j, and the refusal is one line that names it', (name, value) => {
    const read = () => readSettings({ [name]: value });
    expect(read).toThrow(SettingError);
    expect(read).toThrow(new RegExp(`^Setting ${name}: [^\\n]+\\.$`));
  });

  test('a refusal does not repeat a secret', () => {
    for (const name of [
      'JWT_SECRET',
      'DATA_ENCRYPTION_KEY',
      'DATABASE_URL',
      'SECRET_API_KEY',
      'HALYARD_EDGE_SECRET_KEY',
      'WEBHOOKS',
    ]) {
      expect(() => readSettings({ [name]: 'hunter2 hunter2' })).toThrow(/^(?!.*hunter2)/);
    }
    const webhook = JSON.stringify([{ url: 'nonsense', signingKey: 'hunter2' }]);
    expect(() => readSettings({ WEBHOOKS: webhook })).toThrow(/^(?!.*hunter2).*\[0\.url\]/);
  });

  test('server-wide webhooks have a format of their own where they name none', () => {
    const bare = { url: 'https://example.com/hook', signingKey: 'k' };
    const { WEBHOOKS: read } = readSettings({
      WEBHOOKS: JSON.stringify([
        bare,
        { ...bare, sendPayload: true },
        { ...bare, method: 'GET', sendPayload: true },
        { ...bare, payloadFormat: 'edgeConfig', payloadKey: 'flags', headers: { 'X-A': '1' } },
      ]),
    });
    expect(read).toEqual([
      { ...bare, method: 'POST', headers: {}, payloadFormat: 'standard-no-payload', payloadKey: 'sdk_payload' },
      { ...bare, method: 'POST', headers: {}, payloadFormat: 'standard', payloadKey: 'sdk_payload' },
      { ...bare, method: 'GET', headers: {}, payloadFormat: 'none', payloadKey: 'sdk_payload' },
      { ...bare, method: 'POST', headers: { 'X-A': '1' }, payloadFormat: 'edgeConfig', payloadKey: 'flags' },
    ]);
  });

  test('running for the public implies several organizations and a rate limit', () => {
    expect(readSettings({ HOSTED: 'true' }).MULTI_ORGANIZATION).toBe(true);
    expect(rateLimit(readSettings({ HOSTED: 'true' }))).toBe(60);
    expect(rateLimit(readSettings({ HOSTED: 'true', API_RATE_LIMIT_MAX: '0' }))).toBeNull();
    expect(rateLimit(readSettings({ API_RATE_LIMIT_MAX: '5' }))).toBe(5);
    expect(rateLimit(readSettings({}))).toBeNull();
  });

  test('the operator’s page tells every one of them, with its standard value', () => {
    const page = readFileSync(new URL('../../../../docs/operating.md', import.meta.url), 'utf8');
    for (const [name, { about }] of Object.entries(settingsTable)) {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\``));
      expect(row, `docs/operating.md has no row for ${name}`).toBeDefined();
      expect(row).toContain(about);
    }
  });
});
