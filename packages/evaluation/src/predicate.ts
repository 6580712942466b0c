/** A compiled test: of the attributes (a condition) or of one value. It never throws and keeps no state. */
export type Predicate = (subject: unknown) => boolean;

/** Holds for nothing. */
export const never: Predicate = () => false;

/** Holds for everything. */
const always: Predicate = () => true;

/** The opposite of a predicate. */
export function not(predicate: Predicate): Predicate {
  return (subject) => !predicate(subject);
}

/** Holds where all hold; always, when there are none. */
export function all(predicates: readonly Predicate[]): Predicate {
  const [first, second] = predicates;
  if (first === undefined) return always;
  if (second === undefined) return first;
  if (predicates.length === 2) return (subject) => first(subject) && second(subject);
  return (subject) => {
    for (const holds of predicates) if (!holds(subject)) return false;
    return true;
  };
}

/** Holds where at least one holds; never, when there are none. */
export function any(predicates: readonly Predicate[]): Predicate {
  const [first, second] = predicates;
  if (first === undefined) return never;
  if (second === undefined) return first;
  return (subject) => {
    for (const holds of predicates) if (holds(subject)) return true;
    return false;
  };
}
