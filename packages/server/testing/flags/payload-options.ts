import { everyCapability, type PayloadOptions } from '../../src/flags/index.ts';

/** The options of a connection that understands everything and shows as little as it can, unless told otherwise. */
export const payloadOptions = (more: Partial<PayloadOptions> = {}): PayloadOptions => ({
  environment: 'production',
  projects: [],
  capabilities: everyCapability,
  includeRuleIds: false,
  includeExperimentNames: false,
  includeProjectIdInMetadata: false,
  includeTagsInMetadata: false,
  customFieldsInMetadata: [],
  hashSecureAttributes: false,
  includeAutoExperiments: false,
  savedGroupReferences: false,
  ...more,
});
