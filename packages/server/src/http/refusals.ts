import { invalid, isDatabaseAway, Refusal, unavailable } from '../platform/index.ts';
import { tooLarge } from './body.ts';

/** Most characters of a part of the path. */
export const longestPathParameter = 1_000;

/**
 * Every error there is as the refusal it amounts to: our own ones as they are, those of the framework that reads requests, a
 * database that is away; anything else is a defect. Statuses are in `platform/errors.ts` alone.
 */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return tooLarge();
  }
  // The framework's own words for these two repeat the whole path.
  if (code === 'FST_ERR_BAD_URL') return invalid('The path cannot be read: it is not encoded as addresses are.');
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') {
    return invalid(`A part of the path is longer than ${longestPathParameter} characters.`);
  }
  if (code.startsWith('FST_ERR_') && statusCode >= 400 && statusCode < 500) {
    return invalid(`The request cannot be read: ${(error as Error).message}.`);
  }
  if (isDatabaseAway(error)) {
    return unavailable(
      'The database does not answer at the moment. Nothing was changed; try again in some seconds.',
      5,
    );
  }
  return new Refusal('failed', 'Something went wrong on our side. The request id is in X-Request-Id.');
}
