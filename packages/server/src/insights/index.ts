/** What is told of all that happens: event webhooks. Fills `References`. */
export { eventWebhooks } from './event-webhooks/join.ts';
export { eventWebhookReferences } from './event-webhooks/references.ts';
