/** Arms that differ before the experiment begins were not randomised well. */

/** The p-value of one metric's covariates for one variation; null where there was an error. */
export interface CovariateTest {
  readonly metricId: string;
  readonly role: 'goal' | 'guardrail' | 'secondary';
  readonly pValue: number | null;
}

export interface CovariateImbalance {
  /** Whether any goal or guardrail is imbalanced. */
  readonly isImbalanced: boolean;
  /** Below it a covariate is imbalanced: 0.001 over the number of tests. */
  readonly threshold: number;
  /** Metrics of each role, by id, with an imbalance. */
  readonly imbalanced: Readonly<Record<CovariateTest['role'], readonly string[]>>;
}

const allTests = 0.001;

/**
 * Judges the p-values of an analysis with `covariateAsResponse`, at 0.001 over treatments × (goals + guardrails). Secondary metrics
 * are listed only.
 */
export function covariateImbalance(
  tests: readonly CovariateTest[],
  {
    numVariations,
    numGoalMetrics,
    numGuardrailMetrics,
  }: {
    readonly numVariations: number;
    readonly numGoalMetrics: number;
    readonly numGuardrailMetrics: number;
  },
): CovariateImbalance {
  const threshold = allTests / Math.max(1, (numVariations - 1) * (numGoalMetrics + numGuardrailMetrics));
  const those = (role: CovariateTest['role']): string[] => [
    ...new Set(
      tests.flatMap((one) =>
        one.role === role && one.pValue !== null && one.pValue < threshold ? [one.metricId] : [],
      ),
    ),
  ];
  const imbalanced = { goal: those('goal'), guardrail: those('guardrail'), secondary: those('secondary') };
  return { isImbalanced: imbalanced.goal.length + imbalanced.guardrail.length > 0, threshold, imbalanced };
}
