/** The polynomial with these coefficients, highest power first, at `x`. */
export function horner(x: number, coefficients: readonly number[]): number {
  let value = 0;
  for (const coefficient of coefficients) value = value * x + coefficient;
  return value;
}
