/**
 * How long to wait before the next try: doubles from `first` to at most `most` milliseconds, and is drawn from the upper
 * half, so that many that failed together do not come back together.
 */
export function backoff(attempt: number, { first, most }: { first: number; most: number }): number {
  const whole = Math.min(most, first * 2 ** Math.min(attempt, 30));
  return whole / 2 + (whole / 2) * Math.random();
}
