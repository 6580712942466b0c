const rowsAtOnce = 1_000;

/** Rows in parts that one statement can take: it has no more than 65,535 parameters, a few for each row. */
export const inParts = <Row>(rows: readonly Row[]): Row[][] =>
  Array.from({ length: Math.ceil(rows.length / rowsAtOnce) }, (_, part) =>
    rows.slice(part * rowsAtOnce, (part + 1) * rowsAtOnce),
  );
