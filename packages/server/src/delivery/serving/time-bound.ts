import { createContext, Script } from 'node:vm';
import { nativeRegularExpression, type RegularExpression, type RegularExpressionFactory } from '@halyard/evaluation';
import { type Clock, invalid, Refusal } from '../../platform/index.ts';
import { mostOfConnection, type Payer, SlowTime } from './slow-time.ts';

/**
 * Regular expressions of conditions are refused where they could take exponential time; polynomial time is enough to stand
 * still for hours, and texts come from anybody. Searches of one request that take no more steps than this in all, at the
 * worst, are done as they are: about a millisecond.
 */
const harmlessSteps = 1_000_000;
/** A limited evaluation that is over within so many milliseconds has cost about what others do, and is not charged. */
const ordinaryTime = 2;

let steps = 0;
let needsLimit = false;
let isBounded = false;

/** The runtime's own engine, which leaves searches that could take long to an evaluation that is bounded in time. */
export const boundedExpression: RegularExpressionFactory = (pattern, ignoreCase): RegularExpression => {
  const expression = nativeRegularExpression(pattern, ignoreCase);
  const mostSteps = stepsOf(pattern);
  return {
    test(text) {
      if (isBounded) return expression.test(text);
      const more = mostSteps(text);
      if (steps + more > harmlessSteps) {
        needsLimit = true;
        return false;
      }
      steps += more;
      return expression.test(text);
    },
  };
};

/**
 * About how many steps a search can take, rather too many than too few: the engine may try every place of the text, and
 * for each choice that the pattern leaves it (a repetition, a group) every place again, or every alternative.
 */
function stepsOf(pattern: string): (text: string) => number {
  if (/\)\{/.test(pattern)) return () => Infinity;
  const choices = pattern.match(/[*+{(]|(?<!\()\?/g)?.length ?? 0;
  const ways = pattern.split('|').length + 1;
  return (text) => (text.length + ways) ** (choices + 1);
}

/** Evaluates for one user at a time, with a limit of time where searches could take long. */
export interface TimeBound {
  /**
   * @throws Refusal (invalid) when the time is over
   * @throws Refusal (tooMany) where the connection has used up its time for such evaluations
   */
  whole<Result>(connection: Payer, evaluate: () => Result): Result;
  /**
   * The results of all parts of one evaluation, in their order.
   *
   * @param otherwise what stands for a part that does not fit into the time
   * @throws Refusal (tooMany) where the connection has used up its time for such evaluations
   */
  each<Part, Result>(
    connection: Payer,
    parts: readonly Part[],
    evaluate: (part: Part) => Result,
    otherwise: (part: Part) => Result,
  ): readonly Result[];
}

/** @param stopwatch milliseconds since any moment */
export function timeBound({
  clock,
  stopwatch = () => performance.now(),
}: {
  clock: Clock;
  stopwatch?: () => number;
}): TimeBound {
  const slowTime = new SlowTime(clock);

  /** Does what needs a limit, within what the connection has left, which is charged for it. */
  function spend(connection: Payer, work: (limit: number) => void): void {
    const left = slowTime.left(connection);
    if (left < 1) throw usedUp(slowTime.secondsToNext);
    const begin = stopwatch();
    try {
      work(left);
    } finally {
      const taken = stopwatch() - begin;
      if (taken > ordinaryTime) slowTime.use(connection, taken);
    }
  }

  /** Does the works in turn. One that takes too long leaves half of the time to those after it. */
  function doInTurn(works: readonly (() => void)[], limit: number): void {
    let next = 0;
    const doRest = () => {
      for (; next < works.length; next++) works[next]?.();
    };
    for (let left = limit; next < works.length && left >= 1; next++) {
      const share = next === works.length - 1 ? left : left / 2;
      const begin = stopwatch();
      if (endsWithin(share, doRest)) return;
      left -= Math.max(share, stopwatch() - begin);
    }
  }

  const each: TimeBound['each'] = (connection, parts, evaluate, otherwise) => {
    steps = 0;
    const results = parts.map((part) => {
      needsLimit = false;
      const result = evaluate(part);
      return needsLimit ? null : { result };
    });
    const works = parts.flatMap((part, index) =>
      results[index] === null ? [() => void (results[index] = { result: evaluate(part) })] : [],
    );
    if (works.length > 0) spend(connection, (limit) => doInTurn(works, limit));
    return parts.map((part, index) => {
      const evaluated = results[index];
      return evaluated ? evaluated.result : otherwise(part);
    });
  };

  return {
    each,
    whole(connection, evaluate) {
      const hasAll = slowTime.left(connection) === mostOfConnection;
      const whole = () => ({ result: evaluate() });
      const [evaluated] = each(connection, [null], whole, () => null);
      if (!evaluated) {
        if (!hasAll) throw usedUp(slowTime.secondsToNext);
        throw invalid(
          'The regular expressions of the targeting take too long for these attributes. Send shorter texts in them.',
        );
      }
      return evaluated.result;
    },
  };
}

const usedUp = (seconds: number) =>
  new Refusal(
    'tooMany',
    'The regular expressions of the targeting have taken too much time of late for attributes like these. Send shorter texts in ' +
      `them, or wait ${seconds} seconds.`,
    { headers: { 'Retry-After': String(seconds) } },
  );

/** The one way to end a search from outside is to end the script that it runs in. */
const script = new Script('run()');
const nothing = () => undefined;
const scope: { run: () => void } = { run: nothing };
const context = createContext(scope);

/** Whether the work has come to its end. */
function endsWithin(milliseconds: number, work: () => void): boolean {
  scope.run = work;
  isBounded = true;
  try {
    script.runInContext(context, { timeout: Math.ceil(milliseconds) });
    return true;
  } catch (error) {
    if (!isTimeout(error)) throw error;
    return false;
  } finally {
    isBounded = false;
    scope.run = nothing;
  }
}

const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
