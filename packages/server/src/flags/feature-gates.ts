import { dependentsGate, type Gate } from '../revisions/index.ts';

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

/** What archiving a feature does to those that require it. */
export const dependentsGates = (dependents: number): Gate[] =>
  dependents === 0
    ? []
    : [
        dependentsGate(
          dependents === 1
            ? 'Another feature has this one as a prerequisite and will serve nothing while it is archived.'
            : `${dependents} other features have this one as a prerequisite and will serve nothing while it is archived.`,
        ),
      ];
