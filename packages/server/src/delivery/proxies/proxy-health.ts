import type { Db, Tx } from '../../platform/index.ts';

/** How the proxy of a connection is. */
export interface ProxyHealth {
  /** False: too many failures in a row; nothing is pushed until it answers a check again. */
  readonly enabled: boolean;
  readonly host: string;
  readonly connected: boolean;
  readonly version: string | null;
  readonly lastError: string | null;
  /** Failures in a row. */
  readonly errors: number;
}

const mostErrors = 10;

/** What is known of a proxy that was never asked. */
const unknownHealth = (host: string): ProxyHealth => ({
  enabled: true,
  host,
  connected: false,
  version: null,
  lastError: null,
  errors: 0,
});

/** The health after one more attempt. What is known of another host says nothing. */
export function healthAfter(
  known: ProxyHealth | null,
  host: string,
  attempt: { readonly error: string | null; readonly version?: string },
): ProxyHealth {
  const before = known?.host === host ? known : unknownHealth(host);
  const version = attempt.version ?? before.version;
  if (attempt.error === null) return { enabled: true, host, connected: true, version, lastError: null, errors: 0 };
  const errors = Math.min(before.errors + 1, mostErrors);
  return {
    enabled: before.enabled && errors < mostErrors,
    host,
    connected: false,
    version,
    lastError: attempt.error,
    errors,
  };
}

/** Null: nothing is known of it. */
export async function readHealth(db: Db | Tx, organization: string, connection: string): Promise<ProxyHealth | null> {
  const row = await db
    .selectFrom('proxy_health')
    .selectAll()
    .where('organization', '=', organization)
    .where('connection', '=', connection)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { enabled, host, connected, version, last_error: lastError, errors } = row;
  return { enabled, host, connected, version, lastError, errors };
}

export async function writeHealth(
  tx: Tx,
  organization: string,
  connection: string,
  { lastError, ...health }: ProxyHealth,
  now: Date,
): Promise<void> {
  const written = { ...health, last_error: lastError, checked_at: now };
  await tx
    .insertInto('proxy_health')
    .values({ organization, connection, ...written })
    .onConflict((on) => on.columns(['organization', 'connection']).doUpdateSet(written))
    .execute();
}
