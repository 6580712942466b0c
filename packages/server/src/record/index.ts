/** What a write leaves behind: published states and their versions, audit entries, events; and reading what is live. */
export { type Actor, actorText, eventUserOf, personOf } from './actor.ts';
export { type AuditEntry, writeAudit } from './audit.ts';
export { changesBetween, previousAttributes } from './changes.ts';
export type { EventDraft, EventPayload } from './events.ts';
export { inOneOrder, LiveObjects, type Sliceable } from './live-objects.ts';
export { type LiveChange, LiveStates, type Standing, standingsQuery } from './live-states.ts';
export { type PublicationPart, together } from './parts.ts';
export { type Plain, type PlainKind, type PlainObjects, plainKind, plainObjects } from './plain-objects.ts';
export {
  createRecorder,
  type Judge,
  type Publication,
  type Recorder,
  type StateChange,
  type Written,
} from './publish.ts';
export {
  type ConfigurationVersion,
  type Grouping,
  type Live,
  liveAfter,
  type OrganizationStates,
  readerOf,
  readerWith,
  type StateKind,
  type StateReader,
  stateKind,
} from './states.ts';
export { keepStates, readKeptStates } from './states-on-disk.ts';
