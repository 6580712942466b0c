/** What everything stands on: settings, database, time, ids, errors, jobs, news between processes. */
export { backoff } from './backoff.ts';
export { type Build, readBuild } from './build.ts';
export { isCalendarDay } from './calendar.ts';
export { readCheckedFile, removeDrafts, writeCheckedFile } from './checked-file.ts';
export { type Clock, systemClock } from './clock.ts';
export { isDatabaseAway } from './database/away.ts';
export { type Address, connect, type Db, Sockets, type Tx } from './database/connect.ts';
export { inParts } from './database/in-parts.ts';
export { lockWrites } from './database/lock-writes.ts';
export { DatabaseError, migrate } from './database/migrate.ts';
export { Presence } from './database/presence.ts';
export { isEmailAddress } from './email-address.ts';
export { DataDirectoryError, inDataDirectory, startEmbeddedPostgres } from './embedded-postgres/index.ts';
export type { EntitlementName } from './entitlement-names.ts';
export {
  conflict,
  forbidden,
  invalid,
  notFound,
  quoted,
  quotedList,
  Refusal,
  unavailable,
} from './errors.ts';
export { type FileLock, tryLock } from './file-lock.ts';
export { idMaker, type NewId } from './ids.ts';
export { type Job, startJobs } from './jobs.ts';
export { Journal, readSealed, type SealedPosition } from './journal.ts';
export { createLog, type Log } from './log.ts';
export { withMaskedKeys } from './masked-keys.ts';
export { announce, announcement, listenToNews, type News } from './news.ts';
export { oneAtATime } from './one-at-a-time.ts';
export { type Outcome, type Outgoing, objectionToHeaders, outgoingRequests } from './outgoing.ts';
export { persist } from './persist.ts';
export { isPublicHost } from './public-host.ts';
export { judgeRegularExpression, type RegularExpressionVerdict } from './regular-expression/index.ts';
export { type SecretTexts, secretTexts } from './secret-texts.ts';
export { compareSecrets, digest, readSecrets, type Secrets, sealingKey } from './secrets.ts';
export type { ServerWebhook } from './server-webhooks.ts';
export { rateLimit, readSettings, SettingError, type Settings, settingsTable } from './settings.ts';
export { turns } from './turns.ts';
export { within } from './within.ts';
export { type Attempt, type WorkItem, type WorkKind, WorkQueue } from './work-queue.ts';
