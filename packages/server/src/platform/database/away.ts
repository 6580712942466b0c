/** Errors of the network and of the server's own start and stop, by their code. */
const codes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EPIPE',
  '53300', // too many connections
  '57P01', // shutting down by an administrator's command
  '57P02', // crash shutdown
  '57P03', // cannot connect now
  '57P04',
  '58030', // I/O error
  '53100', // disk full
  '25006', // read-only: a standby was promoted elsewhere
]);

/** Whether an error says that the database cannot be reached or cannot serve now, and not that the query was wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && (codes.has(code) || code.startsWith('08'))) return true;
  return /timeout exceeded when trying to connect|Connection terminated|not queryable|Query read timeout/i.test(
    error.message,
  );
}
