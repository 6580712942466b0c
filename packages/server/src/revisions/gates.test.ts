import { describe, expect, test } from 'vitest';
import { Refusal } from '../platform/index.ts';
import { type Clearance, type Gate, passGates } from './index.ts';

const blockingSchema: Gate = {
  type: 'schema-validation',
  severity: 'warning',
  messages: ['The default value does not fit.', 'Value of rule 1 does not fit.'],
  override: 'skipSchemaValidation',
  requiresPermission: 'bypassApprovalFeatures',
  resolution: null,
};
const warningSchema: Gate = { ...blockingSchema, override: 'ignoreWarnings', requiresPermission: null };
const dependents: Gate = {
  type: 'archive-dependents',
  severity: 'warning',
  messages: ['Another feature has this one as a prerequisite.'],
  override: 'ignoreWarnings',
  requiresPermission: null,
  resolution: null,
};

const nothing: Clearance = {
  flags: { ignoreWarnings: false, skipSchemaValidation: false, skipHooks: false },
  mayBypass: false,
  mayBypassEverywhere: false,
  restApiBypassesReviews: false,
};
const flags = (more: Partial<Clearance['flags']>): Clearance['flags'] => ({ ...nothing.flags, ...more });

/** The refusal of gates that block. */
function refusalOf(gates: readonly Gate[], clearance: Clearance): Refusal {
  try {
    passGates(gates, clearance);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('Nothing blocked.');
}

describe('gates', () => {
  test('that are not there let everything pass', () => {
    expect(passGates([], nothing)).toEqual([]);
  });

  test.each([
    ['a warning', warningSchema, { flags: flags({ ignoreWarnings: true }) }, 'ignoreWarnings'],
    [
      'a blocking schema, by the flag of whoever may bypass everywhere',
      blockingSchema,
      { flags: flags({ skipSchemaValidation: true }), mayBypassEverywhere: true },
      'skipSchemaValidation',
    ],
    ['dependents, by the permission alone', dependents, { mayBypass: true }, 'bypassApprovalPermission'],
    [
      'dependents, by the flag before the permission',
      dependents,
      { flags: flags({ ignoreWarnings: true }), mayBypass: true },
      'ignoreWarnings',
    ],
  ] as const)('are passed and named: %s', (_, gate, more, via) => {
    expect(passGates([gate], { ...nothing, ...more })).toEqual([{ type: gate.type, outcome: 'bypassed', via }]);
  });

  test.each([
    ['a warning without its flag', warningSchema, { mayBypass: true, mayBypassEverywhere: true }],
    ['a blocking schema, by the wrong flag', blockingSchema, { flags: flags({ ignoreWarnings: true }) }],
    [
      'a blocking schema, by its flag from one who may bypass in one project only',
      blockingSchema,
      { flags: flags({ skipSchemaValidation: true }), mayBypass: true },
    ],
    ['a blocking schema, by the permission without the flag', blockingSchema, { mayBypassEverywhere: true }],
    ['dependents, by the setting for reviews', dependents, { restApiBypassesReviews: true }],
  ])('block: %s', (_, gate, more) => {
    expect(refusalOf([gate], { ...nothing, ...more }).kind).toBe('gated');
  });

  test('that block are all named at once, with how to get past each; those that were passed are not', () => {
    const passing = { ...nothing, mayBypass: true };
    const { message, body } = refusalOf([blockingSchema, dependents, warningSchema], passing);
    expect(message.split('\n')).toEqual([
      'The change was not published:',
      '- [schema-validation] The default value does not fit. Repeat with skipSchemaValidation: true to publish all the same (needs the permission bypassApprovalFeatures).',
      '- [schema-validation] The default value does not fit. Repeat with ignoreWarnings: true to publish all the same.',
    ]);
    expect(body).toEqual({ gates: [blockingSchema, warningSchema], warnings: warningSchema.messages });
  });
});
