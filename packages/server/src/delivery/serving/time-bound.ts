import { createContext, Script } from 'node:vm';
import { nativeRegularExpression, type RegularExpression, type RegularExpressionFactory } from '@halyard/evaluation';
import { invalid } from '../../platform/index.ts';

/**
 * Regular expressions of conditions are refused where they could take exponential time; over a long text polynomial time
 * is enough to stand still for hours, and texts come from anybody. Texts up to this length are searched as they are.
 */
const harmlessLength = 100;
/** An evaluation that searches a longer text may take so long, in milliseconds. */
const mostTime = 250;

let metLongText = false;
let isBounded = false;

/** The runtime's own engine, which leaves long texts to an evaluation that is bounded in time. */
export const boundedExpression: RegularExpressionFactory = (pattern, ignoreCase): RegularExpression => {
  const expression = nativeRegularExpression(pattern, ignoreCase);
  return {
    test(text) {
      if (isBounded || text.length <= harmlessLength) return expression.test(text);
      metLongText = true;
      return false;
    },
  };
};

/**
 * Runs an evaluation whose expressions are of `boundedExpression`. Where it meets a long text it is run once more, from the
 * start, with a limit of time: that costs a thread, and few evaluations need it.
 *
 * @throws Refusal (invalid) when the time is over
 */
export function withinTime<Result>(evaluate: () => Result): Result {
  metLongText = false;
  const result = evaluate();
  return metLongText ? bounded(evaluate) : result;
}

/** The one way to end a search from outside is to end the script that it runs in. */
const script = new Script('run()');

function bounded<Result>(evaluate: () => Result): Result {
  const context = createContext({ run: evaluate });
  isBounded = true;
  try {
    return script.runInContext(context, { timeout: mostTime });
  } catch (error) {
    if (!isTimeout(error)) throw error;
    throw invalid(
      'The regular expressions of the targeting take too long for these attributes. Send shorter texts in them.',
    );
  } finally {
    isBounded = false;
  }
}

const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
