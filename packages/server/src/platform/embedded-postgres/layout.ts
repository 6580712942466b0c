import { join } from 'node:path';

/**
 * Where things lie in the data directory. Everything outside `files` and `socketDirectory` belongs to Halyard's own
 * user, so that the unprivileged user of PostgreSQL can neither change its configuration nor lay links for root.
 */
export interface Layout {
  /** `HALYARD_DATA_DIR`, with symbolic links resolved. */
  readonly dataDirectory: string;
  /** The locks and the mark of the running service. */
  readonly locks: string;
  readonly lifecycleLock: string;
  readonly serviceLock: string;
  readonly commandsLock: string;
  readonly serviceMark: string;
  /** What belongs to PostgreSQL. */
  readonly server: string;
  /** PostgreSQL's own files (`PGDATA`). Exists only when initialization went through to its end. */
  readonly files: string;
  readonly socketDirectory: string;
  readonly configurationFile: string;
  readonly authenticationFile: string;
  readonly userMapFile: string;
  readonly logFile: string;
  readonly passwordFile: string;
  /** Copies of the programs, where the user of PostgreSQL cannot reach the installed ones. */
  readonly programCopies: string;
}

/** The names of all files below one data directory. */
export function layoutOf(dataDirectory: string): Layout {
  const locks = join(dataDirectory, 'locks');
  const server = join(dataDirectory, 'postgresql');
  return {
    dataDirectory,
    locks,
    lifecycleLock: join(locks, 'lifecycle.lock'),
    serviceLock: join(locks, 'service.lock'),
    commandsLock: join(locks, 'commands.lock'),
    serviceMark: join(locks, 'service.json'),
    server,
    files: join(server, 'data'),
    socketDirectory: join(server, 'socket'),
    configurationFile: join(server, 'postgresql.conf'),
    authenticationFile: join(server, 'pg_hba.conf'),
    userMapFile: join(server, 'pg_ident.conf'),
    logFile: join(server, 'postgresql.log'),
    passwordFile: join(server, 'password'),
    programCopies: join(server, 'programs'),
  };
}
