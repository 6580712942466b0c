/** The little linear algebra that strata and ratios need. Matrices are small, symmetric and stored as rows. */

export type Vector = readonly number[];
export type Matrix = readonly Vector[];

/** aᵀb. */
export function dot(a: Vector, b: Vector): number {
  let sum = 0;
  for (const [index, value] of a.entries()) sum += value * (b[index] ?? 0);
  return sum;
}

/** M·v. */
export function times(matrix: Matrix, vector: Vector): Vector {
  return matrix.map((row) => dot(row, vector));
}

/** aᵀMb. */
export function quadraticForm(a: Vector, matrix: Matrix, b: Vector): number {
  return dot(a, times(matrix, b));
}

/**
 * The inverse of a symmetric positive definite matrix by Cholesky's decomposition.
 * @returns undefined where the matrix is not positive definite
 */
export function inverseOfPositiveDefinite(matrix: Matrix): Matrix | undefined {
  const size = matrix.length;
  const lower: number[][] = [];
  for (const [i, row] of matrix.entries()) {
    const made: number[] = [];
    for (const [j, entry] of row.slice(0, i).entries()) {
      const above = lower[j] ?? [];
      made.push((entry - dot(above.slice(0, j), made)) / (above[j] ?? Number.NaN));
    }
    const rest = (row[i] ?? Number.NaN) - dot(made, made);
    if (rest <= 0) return undefined;
    made.push(Math.sqrt(rest));
    lower.push(made);
  }
  const columns = Array.from({ length: size }, (_, column) => {
    const unit = Array.from({ length: size }, (_, row) => (row === column ? 1 : 0));
    return backward(lower, forward(lower, unit));
  });
  return columns;
}

/** L·x = b, from the top. */
function forward(lower: Matrix, right: Vector): Vector {
  const solved: number[] = [];
  for (const [i, row] of lower.entries()) {
    solved.push(((right[i] ?? 0) - dot(row.slice(0, i), solved)) / (row[i] ?? Number.NaN));
  }
  return solved;
}

/** Lᵀ·x = b, from the bottom. */
function backward(lower: Matrix, right: Vector): Vector {
  const solved = right.map(() => 0);
  for (let i = right.length - 1; i >= 0; i--) {
    let rest = right[i] ?? 0;
    for (let j = i + 1; j < right.length; j++) rest -= (lower[j]?.[i] ?? 0) * (solved[j] ?? 0);
    solved[i] = rest / (lower[i]?.[i] ?? Number.NaN);
  }
  return solved;
}
