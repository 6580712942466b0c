/** What an analysis is asked for where a test says nothing else. */
import type { Analysis, FrequentistSettings, Metric } from '../src/index.ts';

export const frequentistSettings: FrequentistSettings = {
  differenceType: 'absolute',
  alternative: 'twoSided',
  alpha: 0.05,
  nullValue: 0,
  postStratify: false,
  totalUnits: null,
  trafficFraction: 1,
  durationDays: 1,
};

export const meanMetric: Metric = {
  id: 'revenue',
  statistic: 'mean',
  numeratorType: 'mean',
  denominatorType: null,
  covariateType: null,
  inverse: false,
  prior: { proper: false, mean: 0, standardDeviation: 0.3 },
  useSuppliedTheta: false,
  quantileLevel: null,
  roles: null,
  targetEffect: 0.1,
  computeUncapped: false,
};

/** Of two variations. */
export const plainAnalysis: Analysis = {
  engine: 'frequentist',
  variationIds: ['0', '1'],
  weights: [0.5, 0.5],
  baselineIndex: 0,
  breakdown: { kind: 'none' },
  alpha: 0.05,
  differenceType: 'relative',
  sequential: false,
  tuningParameter: 5000,
  oneSided: false,
  multiplicityCorrected: false,
  durationDays: 7,
  trafficFraction: 1,
  maxLevels: 20,
  numGoalMetrics: 1,
  numGuardrailMetrics: 0,
  covariateAsResponse: false,
  postStratify: false,
};
