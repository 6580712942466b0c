/**
 * An effect from strata, each weighted by its share of all units (Miratrix, Sekhon, Yu 2013; Xie, Aurisset 2016). It takes away
 * the variance between strata; the price is a little more within, where strata are small.
 */
import { type Matrix, quadraticForm, type Vector } from '../numeric/matrix.ts';
import { componentVariance } from '../samples/component.ts';
import { hasNonPositiveVariance, mean, unadjustedMean } from '../samples/moments.ts';
import { addStatistics, pool } from '../samples/pooling.ts';
import { type Comparison, type EffectMoments, effectMoments, noEffect } from './moments.ts';
import {
  estimateStratum,
  hasConstantCovariate,
  isRatio,
  type Stratum,
  type StratumEstimate,
  stratumWithoutCovariates,
} from './stratum.ts';

/** Fewer units in a stratum than the regression of a ratio has coefficients, and it stands on nothing. */
const leastRatioUnits = 6;

/** All strata of both arms as one. */
export function poolStrata(strata: readonly Stratum[]): Stratum {
  return {
    control: pool(strata.map(({ control }) => control)),
    treatment: pool(strata.map(({ treatment }) => treatment)),
  };
}

/**
 * The strata as they are analysed: without covariates where these have no variance over all strata, largest first, and those
 * that cannot be estimated merged into the largest.
 */
export function viableStrata(strata: readonly Stratum[]): Stratum[] {
  const pooled = poolStrata(strata);
  const given = isCovariateConstant(pooled) ? strata.map(stratumWithoutCovariates) : strata;
  const [largest, ...others] = given.toSorted((a, b) => unitsOf(b) - unitsOf(a));
  if (largest === undefined) return [];
  let first = largest;
  const kept: Stratum[] = [];
  for (const stratum of others) {
    if (isViable(stratum)) kept.push(stratum);
    else {
      first = {
        control: addStatistics(first.control, stratum.control),
        treatment: addStatistics(first.treatment, stratum.treatment),
      };
    }
  }
  return [first, ...kept];
}

const unitsOf = ({ control, treatment }: Stratum): number => control.n + treatment.n;

function isCovariateConstant({ control, treatment }: Stratum): boolean {
  if (control.type === 'regressionAdjusted' && treatment.type === 'regressionAdjusted') {
    return componentVariance(control.covariate) <= 0 || componentVariance(treatment.covariate) <= 0;
  }
  if (control.type === 'regressionAdjustedRatio' && treatment.type === 'regressionAdjustedRatio') {
    return hasConstantCovariate(control) || hasConstantCovariate(treatment);
  }
  return false;
}

function isViable(stratum: Stratum): boolean {
  if (hasNonPositiveVariance(stratum.control) || hasNonPositiveVariance(stratum.treatment)) return false;
  return stratum.control.type !== 'regressionAdjustedRatio' || unitsOf(stratum) > leastRatioUnits;
}

/**
 * The effect of the strata weighted by their sizes, which count as a multinomial sample.
 * @returns an error where the arms as a whole, or any stratum that is left, cannot be analysed
 */
export function postStratifiedMoments(strata: readonly Stratum[], comparison: Comparison): EffectMoments {
  const pooled = poolStrata(strata);
  const whole = isCovariateConstant(pooled) ? stratumWithoutCovariates(pooled) : pooled;
  if (hasNonPositiveVariance(whole.control) || hasNonPositiveVariance(whole.treatment)) {
    return noEffect('nonPositiveVariance', true);
  }
  if (mean(whole.control) === 0 || unadjustedMean(whole.control) === 0) return noEffect('zeroBaseline', true);
  const viable = viableStrata(strata);
  const [first] = viable;
  if (first === undefined || viable.length === 1) {
    const { control, treatment } = first ?? whole;
    return effectMoments(control, treatment, comparison);
  }
  const cells = viable.map(estimateStratum);
  for (const { error } of cells) if (error !== null) return noEffect(error, true);
  const total = cells.reduce((sum, { n }) => sum + n, 0);
  const { estimate, covariance } = combine(cells, total);
  const effect = isRatio(first.control) ? ratioEffect(estimate, comparison) : meanEffect(estimate, comparison);
  const spread = quadraticForm(effect.gradient, covariance, effect.gradient);
  if (spread <= 0) return noEffect('nonPositiveVariance', true);
  if (effect.baseline === 0) return noEffect('zeroBaseline', true);
  return {
    pointEstimate: effect.value,
    standardError: Math.sqrt(spread),
    pairwiseSampleSize: total,
    error: null,
    postStratificationApplied: true,
  };
}

/** ᾱ = Σwα and V̄ = A(diag(w) − wwᵀ)Aᵀ/N + ΣwV/N with w = n/N. */
function combine(cells: readonly StratumEstimate[], total: number): { estimate: Vector; covariance: Matrix } {
  const estimate: number[] = [];
  for (const { n, estimate: own } of cells) {
    for (const [i, value] of own.entries()) estimate[i] = (estimate[i] ?? 0) + (n / total) * value;
  }
  const covariance = estimate.map((averageI, i) =>
    estimate.map((averageJ, j) => {
      let within = 0;
      let between = 0;
      for (const cell of cells) {
        const weight = cell.n / total;
        within += weight * (cell.covariance[i]?.[j] ?? Number.NaN);
        // The same as Σwαα − ᾱᾱ, without its cancellation.
        between +=
          weight * ((cell.estimate[i] ?? Number.NaN) - averageI) * ((cell.estimate[j] ?? Number.NaN) - averageJ);
      }
      return (within + between) / total;
    }),
  );
  return { estimate, covariance };
}

interface CombinedEffect {
  readonly value: number;
  readonly gradient: Vector;
  readonly baseline: number;
}

function meanEffect([baseline = 0, effect = 0]: Vector, comparison: Comparison): CombinedEffect {
  if (comparison === 'absolute') return { value: effect, gradient: [0, 1], baseline };
  const size = Math.abs(baseline);
  // The gradient of e/c; that of e/|c| differs in sign as a whole, which the variance does not see.
  return { value: effect / size, gradient: [-effect / (baseline * baseline), 1 / baseline], baseline };
}

function ratioEffect(estimate: Vector, comparison: Comparison): CombinedEffect {
  const [numerator = 0, numeratorEffect = 0, denominator = 0, denominatorEffect = 0] = estimate;
  const treatedNumerator = numerator + numeratorEffect;
  const treatedDenominator = denominator + denominatorEffect;
  const baseline = numerator / denominator;
  if (comparison === 'absolute') {
    const byNumeratorEffect = 1 / treatedDenominator;
    const byDenominatorEffect = -treatedNumerator / (treatedDenominator * treatedDenominator);
    return {
      value: treatedNumerator / treatedDenominator - baseline,
      gradient: [
        byNumeratorEffect - 1 / denominator,
        byNumeratorEffect,
        byDenominatorEffect + numerator / (denominator * denominator),
        byDenominatorEffect,
      ],
      baseline,
    };
  }
  const above = treatedNumerator * denominator;
  const below = numerator * treatedDenominator;
  return {
    value: (above / below - 1) * Math.sign(baseline),
    gradient: [
      (denominator * below - above * treatedDenominator) / (below * below),
      denominator / below,
      (treatedNumerator * below - above * numerator) / (below * below),
      (-above * numerator) / (below * below),
    ],
    baseline,
  };
}

/**
 * The moments that a test uses: post-stratified where that is asked for and possible, else those of the pooled, adjusted arms.
 */
export function momentsOf(
  strata: readonly Stratum[],
  comparison: Comparison,
  options: { readonly postStratify: boolean },
): EffectMoments {
  if (options.postStratify) {
    const stratified = postStratifiedMoments(strata, comparison);
    if (stratified.error === null) return stratified;
  }
  const { control, treatment } = poolStrata(strata);
  return effectMoments(control, treatment, comparison);
}
