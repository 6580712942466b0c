/** How long an experiment still needs, and whether it has that time. */

import { mostScalingFactor } from '../power/mid-experiment.ts';
import { InvalidInput } from '../problem.ts';

export interface TimeToDecisionInput {
  /** For each goal metric and variation the additional units as a multiple of those so far; null where that is not known. */
  readonly scalingFactors: readonly (number | null)[];
  /** So far, all variations together. */
  readonly units: number;
  /** All variations together. */
  readonly dailyUnits: number;
  readonly daysRunning: number;
  /** Before so many days nothing is called low powered. */
  readonly minimumDays: number;
  /** After so many days an experiment ends; 180 where nothing is set. */
  readonly maximumDays: number | null;
}

export interface TimeToDecision {
  readonly additionalUnits: number;
  /** Infinite without traffic. */
  readonly daysNeeded: number;
  /** Whether it will not come to an end in time. */
  readonly isLowPowered: boolean;
}

const usualMaximumDays = 180;

/**
 * Days until the goal metric that needs most has the target power. A pair of arms that needs s times its units needs s times the
 * units of all variations, as all grow alike.
 * @throws InvalidInput without any goal metric: there is nothing to decide
 */
export function timeToDecision(input: TimeToDecisionInput): TimeToDecision {
  const { scalingFactors, units, dailyUnits, daysRunning, minimumDays } = input;
  if (scalingFactors.length === 0) {
    throw new InvalidInput('Without a goal metric there is no time to a decision: choose a goal metric.');
  }
  const factor = Math.max(...scalingFactors.map((one) => one ?? mostScalingFactor));
  const additionalUnits = units * factor;
  const daysNeeded = additionalUnits === 0 ? 0 : Math.ceil(additionalUnits / dailyUnits);
  const daysLeft = (input.maximumDays ?? usualMaximumDays) - daysRunning;
  return { additionalUnits, daysNeeded, isLowPowered: daysRunning >= minimumDays && daysNeeded > daysLeft };
}
