/** Every event that is told, by its full name: `<object>[.<sub>].<what happened>`. */
export const eventNames = [
  'feature.created',
  'feature.updated',
  'feature.deleted',
  'feature.revision.created',
  'feature.revision.updated',
  'feature.revision.reviewRequested',
  'feature.revision.approved',
  'feature.revision.changesRequested',
  'feature.revision.commented',
  'feature.revision.discarded',
  'feature.revision.reopened',
  'feature.revision.recalled',
  'feature.revision.reviewRetracted',
  'feature.revision.publishScheduleChanged',
  'feature.revision.rebased',
  'feature.revision.published',
  'feature.revision.reverted',
  'feature.revision.publishFailed',
  'webhook.test',
] as const;
export type EventName = (typeof eventNames)[number];

/** A name for all events below: `feature.*` is every event that begins with `feature.`, also those that are yet to come. */
export const eventWildcard = /^[a-zA-Z]+(\.[a-zA-Z]+)*\.\*$/;
