import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { isEmailAddress } from './email-address.ts';
import { type EntitlementName, entitlementNames } from './entitlement-names.ts';
import { quotedList } from './errors.ts';
import { parseServerWebhooks } from './server-webhooks.ts';

/** A setting whose value cannot be used. The message is one line that says which, why and what would do. */
export class SettingError extends Error {
  constructor(name: string, problem: string) {
    super(`Setting ${name}: ${problem}`);
    this.name = 'SettingError';
  }
}

type Parse<Value> = (text: string) => Value;
interface Setting<Value> {
  readonly parse: Parse<Value>;
  readonly standard: Value;
  /** For `docs/operating.md`. */
  readonly about: string;
}

const setting = <Value>(parse: Parse<Value>, standard: Value, about: string): Setting<Value> => ({
  parse,
  standard,
  about,
});
const optional = <Value>(parse: Parse<Value>, about: string): Setting<Value | undefined> => ({
  parse,
  standard: undefined,
  about,
});

const text: Parse<string> = (value) => value;

const integer =
  (least: number, most: number): Parse<number> =>
  (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < least || number > most) {
      throw new Error(`must be a whole number from ${least} to ${most}`);
    }
    return number;
  };

const onOff: Parse<boolean> = (value) => {
  if (['true', '1', 'on'].includes(value)) return true;
  if (['false', '0', 'off'].includes(value)) return false;
  throw new Error('must be true or false');
};

const oneOf =
  <const Value extends string>(...values: Value[]): Parse<Value> =>
  (value) => {
    const known = values.find((candidate) => candidate === value);
    if (known === undefined) throw new Error(`must be one of ${values.join(', ')}`);
    return known;
  };

const httpAddress: Parse<string> = (value) => {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw new Error('must be an http(s) address');
  return value.replace(/\/+$/, '');
};

const databaseAddress: Parse<string> = (value) => {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    throw new Error('must look like postgresql://user:password@host:5432/database');
  }
  return value;
};

const emailAddress: Parse<string> = (value) => {
  if (!isEmailAddress(value)) throw new Error('must be an e-mail address');
  return value.toLowerCase();
};

const listeningAddress: Parse<string> = (value) => {
  if (isIP(value) === 0 && !/^[A-Za-z0-9.-]+$/.test(value)) throw new Error('must be a host name or an IP address');
  return value;
};

const longSecret: Parse<string> = (value) => {
  if (value.length < 32) throw new Error('must have at least 32 characters');
  return value;
};

const encryptionKey: Parse<Buffer> = (value) => {
  const key = /^[0-9a-f]{64}$/i.test(value) ? Buffer.from(value, 'hex') : Buffer.from(value, 'base64');
  if (key.length !== 32) throw new Error('must be 32 bytes, written as 64 hexadecimal digits or as base64');
  return key;
};

const secretKey: Parse<string> = (value) => {
  if (value === 'dev' && process.env.NODE_ENV === 'production') {
    throw new Error('must not be "dev" in production; make a key with: openssl rand -hex 32');
  }
  if (/[^\x21-\x7e]/.test(value) || value.includes(':'))
    throw new Error('must be printable ASCII without spaces and colons');
  return value;
};

const entitlementList: Parse<readonly EntitlementName[] | 'all'> = (value) => {
  if (value.trim() === 'all') return 'all';
  const named = value.split(',').flatMap((item) => item.trim() || []);
  const known = entitlementNames.filter((name) => named.includes(name));
  // Quotas need no switch: nothing here is limited.
  const unknown = named.filter((name) => !name.startsWith('unlimited-') && !known.some((other) => other === name));
  if (unknown.length > 0) {
    throw new Error(`names ${quotedList(unknown)}; it is "all", or of these: ${entitlementNames.join(', ')}`);
  }
  return known;
};

/** A client key, as it stands in a path. */
const clientKey = /^[\w.~-]{1,200}$/;

const clientKeys: Parse<readonly string[]> = (value) => {
  const keys = [...new Set(value.split(',').map((key) => key.trim()))].filter((key) => key !== '');
  if (keys.length === 0) throw new Error('must name at least one client key');
  if (keys.some((key) => key.startsWith('secret_'))) {
    throw new Error(
      'holds a secret key; client keys begin with "sdk-", and a secret key goes into HALYARD_EDGE_SECRET_KEY',
    );
  }
  if (!keys.every((key) => clientKey.test(key))) throw new Error('must be client keys with commas between them');
  return keys;
};

const edgeSecretKey: Parse<string> = (value) => {
  if (value.startsWith('sdk-')) throw new Error('is a client key; those go into HALYARD_EDGE_CLIENT_KEYS');
  if (/[^\x21-\x7e]/.test(value)) throw new Error('must be printable ASCII without spaces');
  return value;
};

const longestDelay = 2_147_483;

/** Every setting of the service: the one place that knows their names, what they may be and what holds without them. */
export const settingsTable = {
  PORT: setting(integer(0, 65_535), 3100, 'Port to listen on; `0` takes a free one'),
  HOST: setting(listeningAddress, '127.0.0.1', 'Address to listen on; `0.0.0.0` for every interface'),
  HALYARD_DATA_DIR: setting(
    (value) => resolve(value),
    resolve('.halyard'),
    'Where the service keeps its own PostgreSQL, its secrets and what it last knew',
  ),
  DATABASE_URL: optional(
    databaseAddress,
    'A PostgreSQL (15 or newer) to use instead of the own one; several processes may share it',
  ),
  API_HOST: optional(
    httpAddress,
    'Public base address of the API, with or without `/api`; `http://HOST:PORT/api` where it is not set',
  ),
  APP_ORIGIN: optional(httpAddress, 'Base address of the web app, for links; the same server where it is not set'),
  SECRET_API_KEY: optional(
    secretKey,
    'One secret key given by the deployment, for automation; ignored with `MULTI_ORGANIZATION`',
  ),
  SECRET_API_KEY_ROLE: setting(text, 'admin', 'Role of `SECRET_API_KEY`'),
  HALYARD_ADMIN_EMAIL: optional(
    emailAddress,
    'E-mail of the first admin, made at the first start; `admin@localhost` with `SECRET_API_KEY`',
  ),
  HALYARD_ADMIN_NAME: setting(text, 'Admin', 'Name of the first admin'),
  MULTI_ORGANIZATION: setting(onOff, false, 'Several organizations on one installation'),
  HOSTED: setting(
    onOff,
    false,
    'Runs for the public: implies `MULTI_ORGANIZATION`, 60 requests a minute and key, public proxy hosts only',
  ),
  API_RATE_LIMIT_MAX: optional(
    integer(0, 1_000_000),
    'Requests a minute and key; `0` or unset: no limit (60 with `HOSTED`)',
  ),
  API_ALLOW_SKIP_PAGINATION: setting(onOff, false, 'Lets lists be asked for whole with `skipPagination`'),
  ENTITLEMENTS: setting(entitlementList, 'all' as const, 'Commercial features that are on: `all` or a comma list'),
  JWT_SECRET: optional(
    longSecret,
    'Signs sessions; made at the first start and kept in the data directory where it is not set',
  ),
  DATA_ENCRYPTION_KEY: optional(
    encryptionKey,
    'Encrypts stored secrets: 32 bytes as hex or base64; made like `JWT_SECRET`',
  ),
  LOG_LEVEL: setting(
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'info' as const,
    'Least severe line that is logged',
  ),
  CACHE_CONTROL_MAX_AGE: setting(integer(0, longestDelay), 30, 'Seconds that an SDK payload is fresh in caches'),
  CACHE_CONTROL_STALE_WHILE_REVALIDATE: setting(
    integer(0, longestDelay),
    3600,
    'Seconds that caches may serve it while they ask again',
  ),
  CACHE_CONTROL_STALE_IF_ERROR: setting(
    integer(0, longestDelay),
    36_000,
    'Seconds that caches may serve it when the service does not answer',
  ),
  OUTBOUND_ALLOW_PRIVATE_HOSTS: setting(
    onOff,
    false,
    'Webhooks may reach private addresses, such as those of the own network',
  ),
  WEBHOOKS: setting(
    parseServerWebhooks,
    [],
    'Webhooks told of every changed payload of the installation: JSON, see [webhooks.md](webhooks.md)',
  ),
  SSE_LIFETIME_SECONDS: setting(
    integer(1, longestDelay),
    60,
    'Seconds after which a stream is closed; clients connect again',
  ),
  SSE_MAX_CONNECTIONS: optional(integer(1, 10_000_000), 'Most streams that one process holds open; above: 503'),
  HALYARD_UPSTREAM: optional(
    httpAddress,
    'For `npm run edge`: address of the Halyard to follow, with or without `/api`',
  ),
  HALYARD_EDGE_CLIENT_KEYS: optional(
    clientKeys,
    'For `npm run edge`: client keys of the SDK connections to serve, with commas between them',
  ),
  HALYARD_EDGE_SECRET_KEY: optional(
    edgeSecretKey,
    'For `npm run edge`, instead: a secret key (`readonly` is enough) that sees the SDK connections to serve',
  ),
} as const satisfies Record<string, Setting<unknown>>;

type Table = typeof settingsTable;
export type Settings = { readonly [Name in keyof Table]: ReturnType<Table[Name]['parse']> | Table[Name]['standard'] };

/**
 * The settings that the environment gives. An empty variable counts as unset.
 *
 * @throws SettingError naming the first setting that cannot be used
 */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const entries = Object.entries(settingsTable).map(([name, { parse, standard }]) => {
    const value = environment[name];
    if (value === undefined || value === '') return [name, standard];
    try {
      return [name, parse(value)];
    } catch (error) {
      throw new SettingError(name, `${(error as Error).message}.`);
    }
  });
  const settings = Object.fromEntries(entries) as Settings;
  return settings.HOSTED ? { ...settings, MULTI_ORGANIZATION: true } : settings;
}

/** Requests a minute and key; null: no limit. */
export function rateLimit(settings: Settings): number | null {
  const limit = settings.API_RATE_LIMIT_MAX ?? (settings.HOSTED ? 60 : 0);
  return limit === 0 ? null : limit;
}
