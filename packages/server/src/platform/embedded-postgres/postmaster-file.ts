import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a PostgreSQL server writes about itself into `postmaster.pid`. */
export interface PostmasterFile {
  readonly processId: number;
  readonly port: number;
  /** Empty where the server listens on TCP alone. */
  readonly socketDirectory: string;
  /** The server writes the later lines, and at last its state, while it starts. */
  readonly state: 'starting' | 'ready' | 'stopping';
}

/** The name of the file in which the running server of a directory says how to reach it. */
export function postmasterFileOf(files: string): string {
  return join(files, 'postmaster.pid');
}

/** Reads `postmaster.pid`; `undefined` when there is none, or none that names a process. */
export async function readPostmasterFile(files: string): Promise<PostmasterFile | undefined> {
  let text: string;
  try {
    text = await readFile(postmasterFileOf(files), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  // The lines: process, data directory, start, port, socket directory, listening address, shared memory, state.
  const lines = text.split('\n').map((line) => line.trim());
  // A stand-alone server (`--single`) writes its number with a minus sign.
  const processId = Math.abs(Number(lines[0]));
  if (!Number.isInteger(processId) || processId === 0) return undefined;
  const state = lines[7];
  return {
    processId,
    port: Number(lines[3] ?? 0),
    socketDirectory: lines[4] ?? '',
    state: state === 'ready' || state === 'stopping' ? state : 'starting',
  };
}
