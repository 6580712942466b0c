/** SDK delivery: connections, payloads kept in memory and ready to send, streams; the edge. Fills `BoundedEvaluation`, `DeliveredFeatures` and `References`. */
export { connectionUse } from './connection-use.ts';
export { connectionReferences, connectionService } from './connections.ts';
export { deliveredFeatures } from './delivered-features.ts';
export { Delivery } from './delivery.ts';
export { Edge, type EdgeOptions } from './edge/edge.ts';
export { LastKnownGood } from './last-known-good.ts';
export { CompiledConnection } from './payload/compiled-connection.ts';
export { PayloadChanges } from './payload/payload-changes.ts';
export { Bodies, boundedEvaluation, payloadHash, payloadMembers, publicRoutes } from './serving/index.ts';
export { deliveryWebhooks } from './webhooks/join.ts';
export { PayloadListeners } from './webhooks/listeners.ts';
export { changesOnConnectionDeletion } from './webhooks/sdk-webhooks.ts';
export type { WebhookCalls } from './webhooks/webhook-calls.ts';
export {
  attemptsOf,
  forgetAttempts,
  type LastRun,
  lastRuns,
  logAttempts,
  showAttempt,
} from './webhooks/webhook-history.ts';
