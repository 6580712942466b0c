import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import type { Db } from './database/connect.ts';
import { compareSecrets, readSecrets, sealingKey } from './secrets.ts';
import { readSettings, SettingError, type Settings } from './settings.ts';

async function loadSecrets(settings: Settings, db: Db) {
  const secrets = await readSecrets(settings);
  await compareSecrets(secrets, db);
  return secrets;
}

describe('the secrets of an installation', () => {
  let directory: string;
  const databases: TestDatabase[] = [];
  const newDatabase = async () => {
    const database = await createDatabase();
    databases.push(database);
    return database.db;
  };
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'halyard-secrets-'));
  });
  afterAll(async () => {
    await rm(directory, { recursive: true, force: true });
    for (const database of databases) await database.drop();
  });

  const settings = (more: Record<string, string> = {}) => readSettings({ HALYARD_DATA_DIR: directory, ...more });

  test('are made at the first start, kept with mode 0600, and the same from then on', async () => {
    const db = await newDatabase();
    const [first, together] = await Promise.all([loadSecrets(settings(), db), loadSecrets(settings(), db)]);
    expect(together).toEqual(first);
    expect(first.jwtSecret.length).toBeGreaterThanOrEqual(32);
    expect(first.dataEncryptionKey).toHaveLength(32);
    expect(await loadSecrets(settings(), db)).toEqual(first);
    for (const name of ['jwt-secret', 'data-encryption-key']) {
      const file = join(directory, 'secrets', name);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect((await readFile(file, 'utf8')).length).toBeGreaterThan(40);
    }
  });

  test('that differ from those a database was first used with stop the start, with one line', async () => {
    const db = await newDatabase();
    await loadSecrets(settings({ JWT_SECRET: 'a'.repeat(32), DATA_ENCRYPTION_KEY: '00'.repeat(32) }), db);
    for (const [name, other] of [
      ['JWT_SECRET', { JWT_SECRET: 'b'.repeat(32), DATA_ENCRYPTION_KEY: '00'.repeat(32) }],
      ['DATA_ENCRYPTION_KEY', { JWT_SECRET: 'a'.repeat(32), DATA_ENCRYPTION_KEY: '11'.repeat(32) }],
    ] as const) {
      const start = loadSecrets(settings(other), db);
      await expect(start).rejects.toThrow(SettingError);
      await expect(start).rejects.toThrow(new RegExp(`^Setting ${name}: .*same value for every process`));
    }
  });

  test('seal files with a key that is neither of them', async () => {
    const secrets = await readSecrets(settings());
    expect(sealingKey(secrets)).toHaveLength(32);
    expect(sealingKey(secrets)).not.toEqual(secrets.dataEncryptionKey);
    expect(sealingKey({ ...secrets, dataEncryptionKey: Buffer.alloc(32) })).not.toEqual(sealingKey(secrets));
  });

  test('are in the database as short fingerprints only', async () => {
    const db = await newDatabase();
    const { jwtSecret, dataEncryptionKey } = await loadSecrets(settings(), db);
    const rows = JSON.stringify(await db.selectFrom('installation').selectAll().execute());
    expect(rows).not.toContain(jwtSecret);
    expect(rows).not.toContain(dataEncryptionKey.toString('hex'));
  });
});
