import type { AST } from '@eslint-community/regexpp';

/**
 * A bounded repeat is exponential only in its own maximum: a text can be split among its iterations in at most
 * ways-per-iteration ^ maximum ways. From 2^20 on, a million attempts and tens of milliseconds, the bound protects
 * nobody, and the repeat is judged as if it had none.
 */
const HARMLESS_BITS = 20;

/** More ways per iteration are not told apart: with four, ten iterations reach the limit. */
const MANY_WAYS = 4;

/** Iterations of an exact repeat that are written out, so that `(?:[0-9a-f]{64},?)+` is seen to be harmless. */
const MAX_EXACT_COPIES = 128;

/** Iterations of `\d{1,3}` and the like that are written out inside a loop; beyond, the maximum hardly matters. */
const MAX_RANGE_COPIES = 16;

const waysByNode = new WeakMap<AST.Node, number>();

/** In how many ways one text may run through the element, up to `MANY_WAYS`: how many choices the element offers. */
function waysThrough(element: AST.Element): number {
  let ways = waysByNode.get(element);
  if (ways === undefined) {
    ways = Math.min(countWays(element), MANY_WAYS);
    waysByNode.set(element, ways);
  }
  return ways;
}

function countWays(element: AST.Element): number {
  switch (element.type) {
    case 'Group':
    case 'CapturingGroup':
      return element.alternatives
        .map((alternative) => alternative.elements.reduce((ways, part) => ways * waysThrough(part), 1))
        .reduce((sum, ways) => sum + ways, 0);
    case 'Quantifier':
      if (element.min === element.max) return waysThrough(element.element) ** element.max;
      return element.max === 1 ? 1 + waysThrough(element.element) : MANY_WAYS;
    case 'Backreference':
      return MANY_WAYS;
    default:
      return 1;
  }
}

/**
 * Whether the repeat is a loop for our purposes: unlimited, or with a maximum so large that it may as well be.
 * `copies` is how often the repeat itself is repeated by bounded repeats around it: `((a+){4}){4}` has sixteen loops.
 */
export function countsAsUnlimited({ element, max }: AST.Quantifier, copies: number): boolean {
  return max === Number.POSITIVE_INFINITY || copies * max * Math.log2(waysThrough(element)) >= HARMLESS_BITS;
}

/** How a repeat inside a loop is written out, in order: copies of its body, then what may follow them. */
export interface Expansion {
  /** Copies that every match runs through. */
  readonly mandatory: number;
  /** After them: nothing, up to so many further copies, or any number of iterations. */
  readonly tail:
    | { readonly kind: 'optional'; readonly copies: number }
    | { readonly kind: 'loop'; atLeastOnce: boolean };
  /** Mandatory iterations were folded into the loop: there, even an empty iteration may be followed by another. */
  readonly foldsMandatory: boolean;
}

export function expansionOf(quantifier: AST.Quantifier, copies: number): Expansion {
  const { element, min, max } = quantifier;
  const isRigid = waysThrough(element) === 1;
  const canWriteOut = (count: number) =>
    isRigid ? copies * count <= MAX_EXACT_COPIES : copies * count * Math.log2(waysThrough(element)) < HARMLESS_BITS;
  const isBounded =
    isRigid && min !== max ? copies * max <= MAX_RANGE_COPIES : max !== Number.POSITIVE_INFINITY && canWriteOut(max);
  if (isBounded) return { mandatory: min, tail: { kind: 'optional', copies: max - min }, foldsMandatory: false };
  const foldsMandatory = min > 1 && !canWriteOut(min);
  return {
    mandatory: foldsMandatory ? 0 : Math.max(min - 1, 0),
    tail: { kind: 'loop', atLeastOnce: min > 0 },
    foldsMandatory,
  };
}
