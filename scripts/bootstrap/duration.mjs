/** How long ago `begin` (of `performance.now()`) was, for people. */
export function duration(begin) {
  const seconds = (performance.now() - begin) / 1000;
  return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
}
