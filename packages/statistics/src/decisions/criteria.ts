/** Whether to ship, roll back or look: rules over the statuses of goals and guardrails. */
import type { Status } from './metric-status.ts';

export type Action = 'ship' | 'rollback' | 'review';

/** `all` holds without any metric, `none` too; `any` does not. */
export interface Condition {
  readonly metrics: 'goals' | 'guardrails';
  readonly match: 'all' | 'any' | 'none';
  readonly direction: 'statsigWinner' | 'statsigLoser';
}

/** The action where every condition holds. */
export interface DecisionRule {
  readonly conditions: readonly Condition[];
  readonly action: Action;
}

/** Rules in order: the first that holds decides, the default where none does. */
export interface DecisionCriteria {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly rules: readonly DecisionRule[];
  readonly defaultAction: Action;
}

const anyGuardrailLoses: DecisionRule = {
  conditions: [{ metrics: 'guardrails', match: 'any', direction: 'statsigLoser' }],
  action: 'rollback',
};

/** Ship where every goal wins and no guardrail loses; roll back where all goals, or any guardrail, lose. */
export const clearSignals: DecisionCriteria = {
  id: 'clear-signals',
  name: 'Clear signals',
  rules: [
    {
      conditions: [
        { metrics: 'goals', match: 'all', direction: 'statsigWinner' },
        { metrics: 'guardrails', match: 'none', direction: 'statsigLoser' },
      ],
      action: 'ship',
    },
    anyGuardrailLoses,
    { conditions: [{ metrics: 'goals', match: 'all', direction: 'statsigLoser' }], action: 'rollback' },
  ],
  defaultAction: 'review',
};

/** Ship unless a goal or a guardrail loses. */
export const doNoHarm: DecisionCriteria = {
  id: 'do-no-harm',
  name: 'Do no harm',
  rules: [
    anyGuardrailLoses,
    { conditions: [{ metrics: 'goals', match: 'any', direction: 'statsigLoser' }], action: 'rollback' },
  ],
  defaultAction: 'ship',
};

/** What one variation did on each metric. */
export interface VariationStatuses {
  readonly variationId: string;
  readonly goals: readonly { readonly status: Status; readonly superStatus: Status }[];
  readonly guardrails: readonly ('lost' | 'safe' | 'neutral')[];
}

function holds({ metrics, match, direction }: Condition, variation: VariationStatuses, isEarly: boolean): boolean {
  const wanted = direction === 'statsigWinner' ? 'won' : 'lost';
  const statuses: readonly string[] =
    metrics === 'guardrails'
      ? variation.guardrails
      : variation.goals.map(({ status, superStatus }) => (isEarly ? superStatus : status));
  if (match === 'all') return statuses.every((status) => status === wanted);
  const isAny = statuses.includes(wanted);
  return match === 'any' ? isAny : !isAny;
}

function decidingRule(criteria: DecisionCriteria, variation: VariationStatuses, isEarly: boolean): DecisionRule | null {
  return (
    criteria.rules.find(({ conditions }) => conditions.every((condition) => holds(condition, variation, isEarly))) ??
    null
  );
}

export interface DecisionInput {
  readonly criteria: DecisionCriteria;
  /** Of all variations but the control. */
  readonly variations: readonly VariationStatuses[];
  /** Days until the target power is reached (`timeToDecision`); null where that is not known. */
  readonly daysNeeded: number | null;
  readonly sequentialUsed: boolean;
  readonly scheduledEndPassed: boolean;
}

export interface Decision {
  /** Undefined: too early to say. */
  readonly status: 'ship-now' | 'rollback-now' | 'ready-for-review' | undefined;
  /** Those that the status is about, and the rule that decided; null for the default. */
  readonly variations: readonly { readonly variationId: string; readonly decidingRule: DecisionRule | null }[];
  readonly powerReached: boolean;
  readonly sequentialUsed: boolean;
  readonly scheduledEndPassed: boolean;
}

/**
 * The decision for an experiment. It is ready to be decided when the target power is reached, tests are sequential or the
 * scheduled end has passed; before that only overwhelming evidence (`superStatus`) on every goal ends it.
 */
export function decide(input: DecisionInput): Decision {
  const { daysNeeded, sequentialUsed, scheduledEndPassed } = input;
  const powerReached = daysNeeded === 0;
  const { status, variations } =
    powerReached || sequentialUsed || scheduledEndPassed ? decideReady(input) : decideEarly(input);
  return { status, variations, powerReached, sequentialUsed, scheduledEndPassed };
}

type Outcome = Pick<Decision, 'status' | 'variations'>;

function decideReady({ criteria, variations }: DecisionInput): Outcome {
  const decided = variations.map((variation) => {
    const rule = decidingRule(criteria, variation, false);
    return { variationId: variation.variationId, rule, action: rule?.action ?? criteria.defaultAction };
  });
  const those = (action: Action): Outcome['variations'] =>
    decided
      .filter((one) => one.action === action)
      .map(({ variationId, rule }) => ({ variationId, decidingRule: rule }));
  if (those('ship').length > 0) return { status: 'ship-now', variations: those('ship') };
  if (decided.length > 0 && decided.every(({ action }) => action === 'rollback')) {
    return { status: 'rollback-now', variations: those('rollback') };
  }
  if (those('review').length > 0) return { status: 'ready-for-review', variations: those('review') };
  return { status: undefined, variations: [] };
}

/** No default decides early, and to ship takes an overwhelming win on every goal, of which there must be one. */
function decideEarly({ criteria, variations }: DecisionInput): Outcome {
  const decided = variations.map((variation) => {
    const rule = decidingRule(criteria, variation, true);
    const action = rule?.action ?? null;
    const mayShip =
      variation.goals.length > 0 &&
      variation.goals.every(({ superStatus }) => superStatus === 'won') &&
      !variation.guardrails.includes('lost');
    return {
      variationId: variation.variationId,
      decidingRule: rule,
      action: action === 'ship' && !mayShip ? null : action,
    };
  });
  const listed = (action: Action): Outcome['variations'] =>
    decided
      .filter((one) => one.action === action)
      .map(({ variationId, decidingRule }) => ({ variationId, decidingRule }));
  const isDecided = decided.every(({ action }) => action === 'ship' || action === 'rollback');
  if (isDecided && listed('ship').length > 0) return { status: 'ship-now', variations: listed('ship') };
  if (decided.length > 0 && decided.every(({ action }) => action === 'rollback')) {
    return { status: 'rollback-now', variations: listed('rollback') };
  }
  return { status: undefined, variations: [] };
}

/** How an experiment ends by itself when its scheduled end comes. */
export type Verdict =
  | { readonly kind: 'ship'; readonly variationId: string }
  | { readonly kind: 'rollback' }
  | { readonly kind: 'inconclusive' };

export interface VerdictInput {
  /** Made with `scheduledEndPassed`; null without a decision framework or results. */
  readonly decision: Decision | null;
  readonly hasGoals: boolean;
  /** By sample ratio, multiple exposures or covariate imbalance. */
  readonly isUnhealthy: boolean;
  /** Variations that are still in the experiment. */
  readonly variationIds: readonly string[];
  /** The effect of each variation on the metric that breaks ties; null without one. */
  readonly lifts: Readonly<Record<string, number>> | null;
  /** Of the metric that breaks ties. */
  readonly inverse: boolean;
}

const inconclusive: Verdict = { kind: 'inconclusive' };

/** Ships the only winner, or of several the one with the largest lift on the tie-breaking metric. */
export function verdictAtScheduledEnd(input: VerdictInput): Verdict {
  const { decision, lifts } = input;
  if (decision === null || !input.hasGoals || input.isUnhealthy) return inconclusive;
  if (decision.status === 'rollback-now') return { kind: 'rollback' };
  if (decision.status !== 'ship-now') return inconclusive;
  const winners = decision.variations.map(({ variationId }) => variationId);
  const winner = winners.length === 1 ? winners[0] : largestLift(winners, lifts, input.inverse);
  return winner !== undefined && input.variationIds.includes(winner)
    ? { kind: 'ship', variationId: winner }
    : inconclusive;
}

/** Undefined without lifts, and where two share the largest. */
function largestLift(
  variationIds: readonly string[],
  lifts: Readonly<Record<string, number>> | null,
  inverse: boolean,
): string | undefined {
  const known = variationIds.flatMap((variationId) => {
    const lift = lifts?.[variationId];
    return lift === undefined ? [] : [{ variationId, lift: inverse ? -lift : lift }];
  });
  const [first, second] = known.sort((a, b) => b.lift - a.lift);
  return first?.lift === second?.lift ? undefined : first?.variationId;
}
