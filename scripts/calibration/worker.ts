import { parentPort } from 'node:worker_threads';
import { runPiece } from './studies.ts';

/** A piece of a study to be run. */
export interface Piece {
  readonly study: string;
  readonly piece: number;
  readonly replicates: number;
  readonly seed: number;
}

parentPort?.on('message', ({ study, piece, replicates, seed }: Piece) => {
  parentPort?.postMessage(runPiece(study, piece, replicates, seed));
});
