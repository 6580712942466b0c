/** Nodes and weights of Gauss–Legendre quadrature on [−1, 1] (Golub, Welsch 1969, found by Newton's method). */
export function gaussLegendre(points: number): readonly { readonly at: number; readonly weight: number }[] {
  return Array.from({ length: points }, (_, index) => {
    let x = Math.cos((Math.PI * (index + 0.75)) / (points + 0.5));
    let slope = 1;
    for (let round = 0; round < 100; round++) {
      const { value, previous } = legendre(points, x);
      slope = (points * (x * value - previous)) / (x * x - 1);
      const step = value / slope;
      x -= step;
      if (Math.abs(step) < 1e-16) break;
    }
    return { at: x, weight: 2 / ((1 - x * x) * slope * slope) };
  });
}

function legendre(degree: number, x: number): { value: number; previous: number } {
  let value = 1;
  let previous = 0;
  for (let n = 1; n <= degree; n++) {
    const next = ((2 * n - 1) * x * value - (n - 1) * previous) / n;
    previous = value;
    value = next;
  }
  return { value, previous };
}
