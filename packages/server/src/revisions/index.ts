/** The revision engine: landing changes of revisioned objects, and the gates that may stop them. */
export { type Clearance, clearanceOf, dependentsGate, type Gate, passGates } from './gates.ts';
export {
  directWriteComment,
  type Landed,
  type Landing,
  type LiveRevision,
  type Revision,
  type RevisionKind,
  type Revisions,
  revisionEngine,
} from './land.ts';
