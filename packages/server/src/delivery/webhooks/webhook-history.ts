import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/index.ts';
import type { WebhookResult } from './webhook-calls.ts';

/** One attempt to reach a webhook. */
export interface LoggedAttempt {
  readonly id: string;
  /** What it was about. */
  readonly subject: string;
  /** As it was configured: without the values of secrets. */
  readonly url: string;
  readonly method: string;
  readonly result: WebhookResult;
  readonly payload: string | null;
  readonly at: Date;
}

/** How the last attempt went. */
export interface LastRun {
  readonly at: Date;
  readonly succeeded: boolean;
  readonly text: string;
  readonly lastSuccess: Date | null;
  readonly consecutiveFailures: number;
}

const mostKept = 50;

/** Writes attempts down, the last one as the state of the webhook, and forgets all but the last 50. */
export async function logAttempts(
  tx: Tx,
  organization: string,
  webhook: string,
  attempts: readonly LoggedAttempt[],
): Promise<void> {
  const last = attempts.at(-1);
  if (last === undefined) return;
  await tx
    .insertInto('webhook_log')
    .values(
      attempts.map(({ id, subject, url, method, result, payload, at }) => ({
        id,
        organization,
        webhook,
        subject,
        url,
        method,
        succeeded: result.succeeded,
        response_code: result.status,
        response_body: result.text,
        payload,
        date_created: at,
      })),
    )
    .execute();
  await sql`
    delete from webhook_log where organization = ${organization} and webhook = ${webhook} and id not in (
      select id from webhook_log where organization = ${organization} and webhook = ${webhook}
      order by date_created desc, id desc limit ${mostKept}
    )`.execute(tx);
  const { succeeded, text } = last.result;
  const run = {
    last_run: last.at,
    succeeded,
    response_body: text,
    ...(succeeded ? { last_success: last.at } : {}),
  };
  await tx
    .insertInto('webhook_run')
    .values({ organization, webhook, ...run })
    .onConflict((on) => on.columns(['organization', 'webhook']).doUpdateSet(run))
    .execute();
}

/** Counts a delivery that was given up; a success begins anew. @returns how many failed in a row */
export async function countFailures(tx: Tx, organization: string, webhook: string, failed: boolean): Promise<number> {
  const row = await tx
    .updateTable('webhook_run')
    .set((eb) => ({ consecutive_failures: failed ? eb('consecutive_failures', '+', 1) : 0 }))
    .where('organization', '=', organization)
    .where('webhook', '=', webhook)
    .returning('consecutive_failures')
    .executeTakeFirst();
  return row?.consecutive_failures ?? 0;
}

/** The last runs of an organization's webhooks, by webhook. */
export async function lastRuns(db: Db, organization: string): Promise<Map<string, LastRun>> {
  const rows = await db.selectFrom('webhook_run').selectAll().where('organization', '=', organization).execute();
  return new Map(
    rows.map((row) => [
      row.webhook,
      {
        at: row.last_run,
        succeeded: row.succeeded,
        text: row.response_body,
        lastSuccess: row.last_success,
        consecutiveFailures: row.consecutive_failures,
      },
    ]),
  );
}

/** The attempts that are kept, newest first. */
export async function attemptsOf(db: Db, organization: string, webhook: string): Promise<LoggedAttempt[]> {
  const rows = await db
    .selectFrom('webhook_log')
    .selectAll()
    .where('organization', '=', organization)
    .where('webhook', '=', webhook)
    .orderBy('date_created', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    subject: row.subject,
    url: row.url,
    method: row.method,
    result: { succeeded: row.succeeded, status: row.response_code, text: row.response_body },
    payload: row.payload,
    at: row.date_created,
  }));
}

/** An attempt as both kinds of webhooks show it. */
export const showAttempt = ({ id, url, method, result, at }: LoggedAttempt) => ({
  id,
  url,
  method,
  result: result.succeeded ? ('success' as const) : ('error' as const),
  responseCode: result.status,
  responseBody: result.text,
  dateCreated: at.toISOString(),
});

/** Forgets everything of a webhook that is deleted. */
export async function forgetAttempts(tx: Tx, organization: string, webhook: string): Promise<void> {
  for (const table of ['webhook_log', 'webhook_run'] as const) {
    await tx.deleteFrom(table).where('organization', '=', organization).where('webhook', '=', webhook).execute();
  }
}
