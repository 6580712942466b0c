import { type DestinationStream, type Logger, pino } from 'pino';
import type { Settings } from './settings.ts';

export type Log = Logger;

/** What of an error helps. Errors of drivers carry much more: whole connections, and what they know. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    type: name,
    message,
    ...(code === undefined ? {} : { code }),
    stack,
    ...(cause === undefined ? {} : { cause: describeError(cause) }),
  };
}

/**
 * Where the service writes what happened: JSON lines on standard error. (Standard output is for the person who starts it.)
 * Nothing that is secret is ever handed to it; the redaction is the second fence.
 */
export function createLog(settings: Pick<Settings, 'LOG_LEVEL'>, destination?: DestinationStream): Log {
  return pino(
    {
      level: settings.LOG_LEVEL,
      base: null,
      serializers: { err: describeError },
      redact: ['*.authorization', '*.cookie', '*.password', '*.key', '*.secret', '*.hash'],
    },
    destination ?? pino.destination({ fd: 2, sync: false }),
  );
}
