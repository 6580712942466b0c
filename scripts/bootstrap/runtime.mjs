import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.mjs';

const OLDEST = 24;

/** The Node that runs our programs: this one where it is new enough, else the one that the project brings. */
export function findRuntime(root, self = { version: process.versions.node, path: process.execPath }) {
  if (Number.parseInt(self.version, 10) >= OLDEST) return self.path;
  const brought = join(root, 'node_modules', '.bin', 'node');
  if (existsSync(brought)) return brought;
  throw new Failure(
    `Halyard needs Node ${OLDEST} or newer and brings it for Linux on x64 and arm64 only: install it (https://nodejs.org) ` +
      `and run this again. (This is Node ${self.version} on ${process.platform}-${process.arch}.)`,
  );
}
