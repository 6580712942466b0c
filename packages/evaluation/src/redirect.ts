import type { AutoExperiment, ExperimentResult } from './payload.ts';
import { persistQueryString } from './query-string.ts';
import type { User } from './user.ts';

/** Where a redirect experiment sends the user. */
export interface Redirect {
  readonly experiment: AutoExperiment;
  readonly result: ExperimentResult;
  /** The destination as the experiment states it. */
  readonly urlRedirect: string;
  /** The destination to go to: with `persistQueryString`, the current query parameters are added. */
  readonly urlWithParams: string;
}

/** The redirect of an experiment that the user is in, or `undefined` when the variation has no destination. */
export function redirectOf(experiment: AutoExperiment, result: ExperimentResult, user: User): Redirect | undefined {
  const urlRedirect = experiment.variations[result.variationId]?.urlRedirect;
  if (!urlRedirect) return undefined;
  const urlWithParams =
    experiment.persistQueryString && user.url ? persistQueryString(user.url, urlRedirect) : urlRedirect;
  return { experiment, result, urlRedirect, urlWithParams };
}
