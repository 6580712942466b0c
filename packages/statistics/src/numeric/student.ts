/**
 * Student's t distribution with real degrees of freedom.
 *
 * The tail is integrated: P(T > t) = f(t) ∫₀^∞ exp(−(ν+1)/2 · log1p((2ts + s²)/(ν + t²))) ds, whose integrand falls from 1 and
 * has no cancellation for any ν, by the double-exponential rule for half lines (Takahasi, Mori 1974) in the scale on which it
 * falls by e. The usual continued fraction of the incomplete beta function loses digits where ν is large, as it is here.
 */
import { normalQuantile } from './normal.ts';

/** The step of the rule s = exp(π/2 · sinh x), whose error it makes some 1e-15; x goes as far as double precision. */
const STEP = 1 / 16;
const STEPS = 96;

interface Node {
  readonly at: number;
  readonly weight: number;
}

const NODES: readonly Node[] = Array.from({ length: 2 * STEPS + 1 }, (_, index): Node => {
  const x = (index - STEPS) * STEP;
  const at = Math.exp((Math.PI / 2) * Math.sinh(x));
  return { at, weight: STEP * (Math.PI / 2) * Math.cosh(x) * at };
}).filter(({ weight }) => weight > 1e-18);

/** Γ(x + 1/2)/Γ(x) for x > 0: the asymptotic series, reached by the recurrence. */
function halfStepOfGamma(x: number): number {
  let factor = 1;
  let at = x;
  while (at < 24) {
    factor *= at / (at + 0.5);
    at += 1;
  }
  const inverse = 1 / at;
  const square = inverse * inverse;
  const series =
    inverse * (-1 / 8 + square * (1 / 192 + square * (-1 / 640 + square * (17 / 14336 - (31 / 18432) * square))));
  return factor * Math.sqrt(at) * Math.exp(series);
}

/** The density of Student's t at `t`. */
function studentDensity(t: number, degreesOfFreedom: number): number {
  const scale = halfStepOfGamma(degreesOfFreedom / 2) / Math.sqrt(degreesOfFreedom * Math.PI);
  return scale * Math.exp(-((degreesOfFreedom + 1) / 2) * Math.log1p((t * t) / degreesOfFreedom));
}

/** ∫₀^∞ of the density beyond `t` ≥ 0, divided by the density at `t`: Mills' ratio. */
function millsRatio(t: number, degreesOfFreedom: number): number {
  const power = (degreesOfFreedom + 1) / 2;
  const spread = degreesOfFreedom + t * t;
  const fallen = spread * Math.expm1(1 / power);
  const scale = fallen / (Math.sqrt(t * t + fallen) + t);
  let sum = 0;
  for (const { at, weight } of NODES) {
    const s = at * scale;
    const term = weight * Math.exp(-power * Math.log1p((s * (2 * t + s)) / spread));
    sum += term;
    if (at > 1 && term < 1e-18 * sum) break;
  }
  return sum * scale;
}

/**
 * P(T > t) for Student's t with `degreesOfFreedom` > 0 (real), with a relative error below 1e-12 in the far tail too.
 * @returns NaN where an argument is NaN or the degrees of freedom are not positive
 */
export function studentUpperTail(t: number, degreesOfFreedom: number): number {
  if (!(degreesOfFreedom > 0) || Number.isNaN(t)) return Number.NaN;
  if (t < 0) return 1 - studentUpperTail(-t, degreesOfFreedom);
  if (t === 0) return 0.5;
  if (t === Infinity) return 0;
  return studentDensity(t, degreesOfFreedom) * millsRatio(t, degreesOfFreedom);
}

/** F(t): the chance that Student's t is at most `t`. */
export function studentCdf(t: number, degreesOfFreedom: number): number {
  return studentUpperTail(-t, degreesOfFreedom);
}

/**
 * The value that Student's t stays below with probability `p`; ±∞ at 0 and 1, NaN outside. Newton's method on the logarithm of
 * the tail, held in a bracket.
 */
export function studentQuantile(p: number, degreesOfFreedom: number): number {
  if (!(p >= 0 && p <= 1) || !(degreesOfFreedom > 0)) return Number.NaN;
  if (p === 0.5) return 0;
  if (p < 0.5) return -upperQuantile(p, degreesOfFreedom);
  return upperQuantile(1 - p, degreesOfFreedom);
}

/** The t > 0 with P(T > t) = `tail` < 1/2. */
function upperQuantile(tail: number, degreesOfFreedom: number): number {
  if (tail === 0) return Infinity;
  let low = 0;
  let high = Infinity;
  let t = firstGuess(tail, degreesOfFreedom);
  for (let round = 0; round < 200; round++) {
    const density = studentDensity(t, degreesOfFreedom);
    const beyond = density * millsRatio(t, degreesOfFreedom);
    if (beyond > tail) low = t;
    else high = t;
    const next = newtonStep(t, beyond, density, tail);
    // Newton's error is squared in each round: a step below 1e-9 leaves one beyond the last digit.
    if (Math.abs(next - t) <= 1e-9 * t) return next;
    if (next > low && next < high) t = next;
    else t = high === Infinity ? t * 2 : (low + high) / 2;
  }
  return t;
}

/** In the body of the distribution on the tail itself, further out on logarithms of both, where it is nearly linear. */
function newtonStep(t: number, beyond: number, density: number, tail: number): number {
  if (tail > 0.2) return t + (beyond - tail) / density;
  return t * Math.exp((Math.log(beyond / tail) * beyond) / (t * density));
}

/** Cornish–Fisher from the normal quantile; for few degrees of freedom and far out, the power law of the tail. */
function firstGuess(tail: number, degreesOfFreedom: number): number {
  const z = -normalQuantile(tail);
  const square = z * z;
  if (square < degreesOfFreedom) {
    const first = (z * (square + 1)) / 4;
    const second = (z * ((5 * square + 16) * square + 3)) / 96;
    const third = (z * (((3 * square + 19) * square + 17) * square - 15)) / 384;
    return z + (first + (second + third / degreesOfFreedom) / degreesOfFreedom) / degreesOfFreedom;
  }
  const scale = halfStepOfGamma(degreesOfFreedom / 2) / Math.sqrt(degreesOfFreedom * Math.PI);
  const far = Math.sqrt(degreesOfFreedom) * (scale / (Math.sqrt(degreesOfFreedom) * tail)) ** (1 / degreesOfFreedom);
  return Math.max(z, far);
}
