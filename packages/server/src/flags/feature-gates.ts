import type { Gate } from '../revisions/index.ts';

/**
 * Values that do not fit the schema.
 *
 * @param blocks a warning is not enough: only who may bypass everything gets past it
 */
export const schemaGate = (messages: string[], blocks: boolean): Gate => ({
  type: 'schema-validation',
  severity: 'warning',
  messages,
  override: blocks ? 'skipSchemaValidation' : 'ignoreWarnings',
  requiresPermission: blocks ? 'bypassApprovalFeatures' : null,
  resolution: null,
});

/** Only counts: the caller may not be able to see them. */
export const dependentsGates = (dependents: number): Gate[] => (dependents === 0 ? [] : [dependentsGate(dependents)]);

const dependentsGate = (dependents: number): Gate => ({
  type: 'archive-dependents',
  severity: 'warning',
  messages: [
    dependents === 1
      ? 'Another feature has this one as a prerequisite and will serve nothing while it is archived.'
      : `${dependents} other features have this one as a prerequisite and will serve nothing while it is archived.`,
  ],
  override: 'ignoreWarnings',
  requiresPermission: null,
  resolution: null,
});
