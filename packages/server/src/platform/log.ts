import { type DestinationStream, type Logger, pino } from 'pino';
import type { Settings } from './settings.ts';

export type Log = Logger;

/**
 * Where the service writes what happened: JSON lines on standard error. (Standard output is for the person who starts it.)
 * Nothing that is secret is ever handed to it; the redaction is the second fence.
 */
export function createLog(settings: Pick<Settings, 'LOG_LEVEL'>, destination?: DestinationStream): Log {
  return pino(
    {
      level: settings.LOG_LEVEL,
      base: null,
      redact: ['*.authorization', '*.cookie', '*.password', '*.key', '*.secret', '*.hash'],
    },
    destination ?? pino.destination({ fd: 2, sync: false }),
  );
}
