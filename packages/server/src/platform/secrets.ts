import { createHash, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { chmod, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Db } from './database/connect.ts';
import type { Settings } from './settings.ts';
import { SettingError } from './settings.ts';

/** What signs and encrypts. */
export interface Secrets {
  readonly jwtSecret: string;
  readonly dataEncryptionKey: Buffer;
}

/** SHA-256: enough for what is itself 32 random bytes, as our keys are; a person's password would need more. */
export const digest = (text: string | Buffer): Buffer => createHash('sha256').update(text).digest();

/** The secrets of the installation: from the settings, else from files of mode 0600 in the data directory, made at the first start. */
export async function readSecrets(settings: Settings): Promise<Secrets> {
  const directory = join(settings.HALYARD_DATA_DIR, 'secrets');
  const jwtSecret = settings.JWT_SECRET ?? (await keptOrNew(directory, 'jwt-secret'));
  const dataEncryptionKey =
    settings.DATA_ENCRYPTION_KEY ?? Buffer.from(await keptOrNew(directory, 'data-encryption-key'), 'base64');
  return { jwtSecret, dataEncryptionKey };
}

/**
 * Holds the secrets against the fingerprints that the database keeps, so that processes which share it cannot run with
 * different ones.
 *
 * @throws SettingError when the database knows other secrets
 */
export async function compareSecrets({ jwtSecret, dataEncryptionKey }: Secrets, db: Db): Promise<void> {
  await compareFingerprint(db, 'JWT_SECRET', digest(jwtSecret));
  await compareFingerprint(db, 'DATA_ENCRYPTION_KEY', digest(dataEncryptionKey));
}

/** Seals what the installation keeps in files, so that it knows its own. */
export const sealingKey = ({ dataEncryptionKey }: Secrets): Buffer =>
  Buffer.from(hkdfSync('sha256', dataEncryptionKey, '', 'sealed files', 32));

/** The secret in a file; where there is none, 32 new bytes. Of two processes that make it at once, one wins for both. */
async function keptOrNew(directory: string, name: string): Promise<string> {
  const file = join(directory, name);
  const read = async () => (await readFile(file, 'utf8')).trim();
  try {
    return await read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, randomBytes(32).toString('base64'), { mode: 0o600, flush: true });
  await chmod(draft, 0o600);
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(draft);
  return read();
}

async function compareFingerprint(db: Db, name: 'JWT_SECRET' | 'DATA_ENCRYPTION_KEY', hash: Buffer): Promise<void> {
  // A hash of the hash: the table must not help anyone who guesses at a weak secret of the operator's.
  const fingerprint = digest(Buffer.concat([Buffer.from(`${name}:`), hash]))
    .toString('hex')
    .slice(0, 16);
  await db
    .insertInto('installation')
    .values({ name: `fingerprint of ${name}`, value: fingerprint })
    .onConflict((on) => on.doNothing())
    .execute();
  const { value } = await db
    .selectFrom('installation')
    .select('value')
    .where('name', '=', `fingerprint of ${name}`)
    .executeTakeFirstOrThrow();
  if (value !== fingerprint) {
    throw new SettingError(
      name,
      'is another one than this database was first used with. Set the same value for every process that uses the database.',
    );
  }
}
