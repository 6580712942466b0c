/** The shared kit of plain resources: visibility, pages, unknown ids, writes that land with their audit entry. */
export { type Beside, type Resource, type ResourceKit, type ResourceService, resourceKit } from './kit.ts';
export { type Sent, sent } from './patch.ts';
