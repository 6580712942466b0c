/** The REST interface, declared once. */
export * from './attributes.ts';
export { pageOf } from './common.ts';
export * from './environments.ts';
export * from './errors.ts';
export type { EventUser } from './event-users.ts';
export * from './feature-revisions.ts';
export * from './feature-rules.ts';
export * from './features.ts';
export * from './members.ts';
export * from './meta.ts';
export { interfaceVersion, type OpenApiDocument, openApiDocument } from './openapi.ts';
export * from './operation.ts';
export { operations } from './operations.ts';
export { type Permission, permissions, readClassPermissions } from './permissions.ts';
export * from './projects.ts';
export type { RampAction } from './ramp-actions.ts';
export * from './sdk-connections.ts';
export { type SdkRoute, sdkRoutes } from './sdk-routes.ts';
