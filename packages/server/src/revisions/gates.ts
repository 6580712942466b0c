import type { BypassedGate, PublishGate } from '@halyard/contract';
import { settingsOf } from '../organization/index.ts';
import { Refusal } from '../platform/index.ts';
import type { StateReader } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';

/** What gates there are; each comes in with what makes it. */
type GateType = 'schema-validation' | 'archive-dependents' | 'unregistered-attribute';

/** A reason why a landing is refused, what would clear it, and by whom. */
export type Gate = PublishGate & { readonly type: GateType };

/** What a caller brings to get past gates. */
export interface Clearance {
  readonly flags: {
    readonly ignoreWarnings: boolean;
    readonly skipSchemaValidation: boolean;
    readonly skipHooks: boolean;
  };
  /** The family's bypass permission, in the projects of the object as it is before the change. */
  readonly mayBypass: boolean;
  /** The same, for the whole organization: what the two `skip…` flags need. */
  readonly mayBypassEverywhere: boolean;
  /** The organization lets the API pass review gates, and the caller is an API key or token. */
  readonly restApiBypassesReviews: boolean;
}

/**
 * What the requester brings to get past the gates of an object.
 *
 * @param permission the family's bypass permission
 * @param projects those of the object as it is: moving it into another project must not lend anyone a right
 */
export const clearanceOf = (
  requester: Requester,
  permission: 'bypassApprovalFeatures' | 'bypassApprovalSavedGroups',
  projects: readonly string[],
  states: StateReader,
  flags: Clearance['flags'],
): Clearance => ({
  flags,
  mayBypass: requester.may(permission, { projects }),
  mayBypassEverywhere: requester.may(permission, { projects: [] }),
  restApiBypassesReviews: settingsOf(states).restApiBypassesReviews && requester.actor.type === 'api_key',
});

/** @param message counts only: the caller may not be able to see what depends on the object */
export const dependentsGate = (message: string): Gate => ({
  type: 'archive-dependents',
  severity: 'warning',
  messages: [message],
  override: 'ignoreWarnings',
  requiresPermission: null,
  resolution: null,
});

type Via = BypassedGate['via'];

/** What stands in for clearing a gate: the first that applies is named. */
const standIns: Readonly<Record<GateType, readonly Via[]>> = {
  'schema-validation': [],
  'archive-dependents': ['bypassApprovalPermission'],
  'unregistered-attribute': [],
};

/** What clears the gate for this caller; null: nothing, it blocks. */
function clearedBy(gate: Gate, { flags, mayBypass, mayBypassEverywhere, ...rest }: Clearance): Via | null {
  const permitted = gate.requiresPermission === null || mayBypass;
  if (gate.override === 'ignoreWarnings' && flags.ignoreWarnings && permitted) return 'ignoreWarnings';
  if (gate.override === 'skipSchemaValidation' && flags.skipSchemaValidation && mayBypassEverywhere)
    return gate.override;
  if (gate.override === 'skipHooks' && flags.skipHooks && mayBypassEverywhere) return gate.override;
  const holds: Partial<Record<Via, boolean>> = {
    bypassApprovalPermission: mayBypass,
    restApiBypassesReviews: rest.restApiBypassesReviews,
  };
  return standIns[gate.type].find((via) => holds[via] === true) ?? null;
}

/**
 * Judges all gates of a landing.
 *
 * @returns the gates that were passed over, and by what
 * @throws Refusal (gated) listing every gate that blocks
 */
export function passGates(gates: readonly Gate[], clearance: Clearance): BypassedGate[] {
  const judged = gates.map((gate) => ({ gate, via: clearedBy(gate, clearance) }));
  const blocking = judged.filter(({ via }) => via === null).map(({ gate }) => gate);
  if (blocking.length > 0) throw gated(blocking);
  return judged.flatMap(({ gate, via }) =>
    via === null ? [] : [{ type: gate.type, outcome: 'bypassed' as const, via }],
  );
}

function gated(gates: readonly Gate[]): Refusal {
  const lines = gates.map((gate) => `- [${gate.type}] ${gate.messages[0] ?? ''}${retryHint(gate)}`);
  const warnings = gates
    .filter((gate) => gate.override === 'ignoreWarnings' && gate.requiresPermission === null)
    .flatMap((gate) => gate.messages);
  return new Refusal('gated', `The change was not published:\n${lines.join('\n')}`, { body: { gates, warnings } });
}

function retryHint({ override, requiresPermission }: Gate): string {
  if (override === null) return '';
  const needing = requiresPermission === null ? '' : ` (needs the permission ${requiresPermission})`;
  return ` Repeat with ${override}: true to publish all the same${needing}.`;
}
