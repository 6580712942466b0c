/**
 * The standard normal distribution, to full double precision in both tails.
 *
 * `erfc` takes the rational approximations of fdlibm (Sun Microsystems 1993, `s_erf.c`), whose error is below one unit
 * in the last place; the quantile is algorithm AS 241, PPND16 (Wichura 1988), good to about 1e-16 relative down to the
 * smallest double. Both were held against 60-digit arithmetic (`testing/reference/`).
 */
import { horner } from './horner.ts';

const SMALL_NUMERATOR = [
  -2.3763016656650163e-5, -0.005770270296489442, -0.02848174957559851, -0.3250421072470015, 0.12837916709551256,
];
const SMALL_DENOMINATOR = [
  -3.960228278775368e-6, 0.00013249473800432164, 0.005081306281875766, 0.0650222499887673, 0.39791722395915535, 1,
];
const ERF_ONE = 0.8450629115104675;
const MIDDLE_NUMERATOR = [
  -0.002166375594868791, 0.035478304325618236, -0.11089469428239668, 0.31834661990116175, -0.3722078760357013,
  0.41485611868374833, -0.0023621185607526594,
];
const MIDDLE_DENOMINATOR = [
  0.011984499846799107, 0.01363708391202905, 0.12617121980876164, 0.07182865441419627, 0.540397917702171,
  0.10642088040084423, 1,
];
const TAIL_NUMERATOR = [
  -9.814329344169145, -81.2874355063066, -184.60509290671104, -162.39666946257347, -62.375332450326006,
  -10.558626225323291, -0.6938585727071818, -0.009864944034847148,
];
const TAIL_DENOMINATOR = [
  -0.0604244152148581, 6.570249770319282, 108.63500554177944, 429.00814002756783, 645.3872717332679, 434.56587747522923,
  137.65775414351904, 19.651271667439257, 1,
];
const FAR_NUMERATOR = [
  -483.5191916086514, -1025.0951316110772, -637.5664433683896, -160.63638485582192, -17.757954917754752,
  -0.799283237680523, -0.0098649429247001,
];
const FAR_DENOMINATOR = [
  -22.44095244658582, 474.52854120695537, 2553.0504064331644, 3199.8582195085955, 1536.729586084437, 325.7925129965739,
  30.33806074348246, 1,
];

/** erfc(x) = 2/√π ∫ₓ^∞ exp(−t²) dt. */
function erfc(x: number): number {
  const size = Math.abs(x);
  if (size < 0.84375) {
    const square = x * x;
    const ratio = horner(square, SMALL_NUMERATOR) / horner(square, SMALL_DENOMINATOR);
    return x < 0.25 ? 1 - (x + x * ratio) : 0.5 - (x - 0.5 + x * ratio);
  }
  if (size < 1.25) {
    const rest = size - 1;
    const ratio = horner(rest, MIDDLE_NUMERATOR) / horner(rest, MIDDLE_DENOMINATOR);
    return x >= 0 ? 1 - ERF_ONE - ratio : 1 + (ERF_ONE + ratio);
  }
  if (Number.isNaN(x)) return x;
  if (x > 28) return 0;
  if (x < -6) return 2;
  const inverse = 1 / (size * size);
  const ratio =
    size < 1 / 0.35
      ? horner(inverse, TAIL_NUMERATOR) / horner(inverse, TAIL_DENOMINATOR)
      : horner(inverse, FAR_NUMERATOR) / horner(inverse, FAR_DENOMINATOR);
  // Only the square of a number with few digits is exact.
  const short = Math.fround(size);
  const tail = (Math.exp(-short * short - 0.5625) * Math.exp((short - size) * (short + size) + ratio)) / size;
  return x > 0 ? tail : 2 - tail;
}

/** φ(x), the density of the standard normal distribution. */
export function normalDensity(x: number): number {
  return Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
}

/** Φ(x): the chance that a standard normal variable is at most `x`. Relative error below 1e-12 down to 1e-300. */
export function normalCdf(x: number): number {
  return 0.5 * erfc(-x * Math.SQRT1_2);
}

const CENTRE_NUMERATOR = [
  2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946, 1971.5909503065513,
  133.14166789178438, 3.3871328727963665,
];
const CENTRE_DENOMINATOR = [
  5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597, 5394.196021424751, 687.1870074920579,
  42.31333070160091, 1,
];
const NEAR_NUMERATOR = [
  0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684, 3.6478483247632045,
  5.769497221460691, 4.630337846156546, 1.4234371107496835,
];
const NEAR_DENOMINATOR = [
  1.0507500716444169e-9, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008, 0.6897673349851,
  1.6763848301838038, 2.053191626637759, 1,
];
const DISTANT_NUMERATOR = [
  2.0103343992922881e-7, 2.7115555687434876e-5, 0.0012426609473880784, 0.026532189526576124, 0.29656057182850487,
  1.7848265399172913, 5.463784911164114, 6.657904643501103,
];
const DISTANT_DENOMINATOR = [
  2.0442631033899397e-15, 1.421511758316446e-7, 1.8463183175100548e-5, 0.0007868691311456133, 0.014875361290850615,
  0.1369298809227358, 0.599832206555888, 1,
];

/**
 * Φ⁻¹(p): the value that a standard normal variable stays below with probability `p`; ±∞ at 0 and 1, NaN outside.
 * The upper tail comes by symmetry; whoever has its probability q itself asks for −Φ⁻¹(q), which loses no digit.
 */
export function normalQuantile(p: number): number {
  if (!(p >= 0 && p <= 1)) return Number.NaN;
  const centred = p - 0.5;
  if (Math.abs(centred) <= 0.425) {
    const rest = 0.180625 - centred * centred;
    return (centred * horner(rest, CENTRE_NUMERATOR)) / horner(rest, CENTRE_DENOMINATOR);
  }
  const tail = centred < 0 ? p : 1 - p;
  if (tail === 0) return centred < 0 ? -Infinity : Infinity;
  const root = Math.sqrt(-Math.log(tail));
  const size =
    root <= 5
      ? horner(root - 1.6, NEAR_NUMERATOR) / horner(root - 1.6, NEAR_DENOMINATOR)
      : horner(root - 5, DISTANT_NUMERATOR) / horner(root - 5, DISTANT_DENOMINATOR);
  return centred < 0 ? -size : size;
}

/**
 * λ(a) − a, where λ(a) = φ(a)/Φ(−a) is the mean of a standard normal variable above `a`: how far that mean lies above `a`.
 * From 4 on by Laplace's continued fraction 1/(a + 2/(a + 3/(a + …))), which does not cancel.
 */
export function meanExcess(a: number): number {
  if (a < 4) return normalDensity(a) / normalCdf(-a) - a;
  let denominator = a;
  for (let level = Math.ceil(20 + 1200 / (a * a)); level >= 2; level--) denominator = a + level / denominator;
  return 1 / denominator;
}
