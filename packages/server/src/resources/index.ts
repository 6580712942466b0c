/** The shared kits of plain resources: visibility, pages, unknown ids, writes that land with their audit entry. */
export { auditEntry, type Resource, type ResourceKit, type ResourceService, resourceKit } from './kit.ts';
export { sent } from './patch.ts';
export { plainChanges } from './plain-changes.ts';
export { type PlainKit, plainKit } from './plain-kit.ts';
