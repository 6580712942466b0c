/**
 * Something about the data directory or the machine that the operator can mend.
 * The message is one line: what is wrong and how to mend it. The caller prints it and ends the process.
 */
export class DataDirectoryError extends Error {
  override name = 'DataDirectoryError';
}

const REASONS: Record<string, string> = {
  ENOSPC: 'the disk is full: make room and start again',
  EDQUOT: 'the disk quota is used up: make room and start again',
  EROFS: 'the file system is read-only: mount it writable, or set HALYARD_DATA_DIR to a directory that is',
  EACCES: 'this user may not write there: run as its owner, or set HALYARD_DATA_DIR to a directory of your own',
  EPERM: 'this user may not change it: run as its owner, or set HALYARD_DATA_DIR to a directory of your own',
  ENOTDIR: 'part of the path is a file: set HALYARD_DATA_DIR to a directory',
  EEXIST: 'part of the path is a file: set HALYARD_DATA_DIR to a directory',
  ENAMETOOLONG: 'the path is too long: set HALYARD_DATA_DIR to a shorter one',
};

/** The locks are held through SQLite, which has numbers of its own for the same refusals. */
const LOCK_REASONS: Record<number, string | undefined> = {
  8: REASONS.EACCES,
  10: 'its file system does not support locks: set HALYARD_DATA_DIR to a local directory',
  13: REASONS.ENOSPC,
  14: REASONS.EACCES,
};

/** Turns the operating system's refusals into a line for the operator; anything else is passed through unchanged. */
export function explainFailure(error: unknown, dataDirectory: string): unknown {
  if (error instanceof DataDirectoryError || !(error instanceof Error)) return error;
  const { code, path, errcode } = error as NodeJS.ErrnoException & { errcode?: number };
  const reason = errcode === undefined ? REASONS[code ?? ''] : LOCK_REASONS[errcode];
  if (reason === undefined) return error;
  const place = path === undefined || path === dataDirectory ? '' : ` (${path})`;
  return new DataDirectoryError(`The data directory ${dataDirectory} cannot be used${place}: ${reason}.`, {
    cause: error,
  });
}

/**
 * Does something with the data directory.
 *
 * @throws DataDirectoryError when the operating system refuses what the operator can mend
 */
export async function inDataDirectory<Result>(dataDirectory: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw explainFailure(error, dataDirectory);
  }
}
