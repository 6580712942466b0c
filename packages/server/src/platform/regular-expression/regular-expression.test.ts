import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeRegularExpression } from './index.ts';

const kindOf = (pattern: string, flags?: string) => judgeRegularExpression(pattern, flags).kind;
const reasonOf = (pattern: string, flags?: string) => {
  const verdict = judgeRegularExpression(pattern, flags);
  return verdict.kind === 'safe' ? '' : verdict.reason;
};

describe('a pattern that can take exponential time is refused', () => {
  test.each([
    // One loop directly in another.
    '^(a+)+$',
    '(a*)*b',
    '(a+)+',
    '(?=a)^(a+)+$',
    '^(?:(?:ab)+|c)+$',
    '^(?:[a-z]+)*\\.example\\.com$',
    '^([\\w.-]*)*@example\\.com$',
    '^(https?:\\/\\/)?([\\da-z.-]+)\\.([a-z.]{2,6})([/\\w .-]*)*\\/?$',
    // Alternatives that match the same.
    '^(a|a)*$',
    '(a|aa)+$',
    '^(?:\\w|\\d)+$',
    '^(?:[a-f]|[d-z])*!$',
    '(?:baa+[ab](?:b+|aab|aa))*c',
    // A separator that may be left out, or is matched by what it separates.
    '^(\\w+\\s?)*$',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(x+x+)+y',
    '^(?:[\\w-]+[.-])+com$',
    '^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$',
    '^(?:"[^"]*"|[^,]*)*$',
    // In a lookaround, which the engine searches by itself.
    '^(?=(a+)+$)',
    '^(?!.*(?:\\d+)+-)',
    '(?<=(a+)+b)c',
    '(?:x(?=(?:y|y)*z))*',
    // By a back-reference, which may match what its group does.
    '^(a|b)(?:\\1*)*c',
    '^(?<word>\\w+)(?:,|\\k<word>)*\\w+(?:x\\k<word>*x?)*$',
    // Lazy loops try the same paths in another order.
    '^(?:a+?)+?$',
    // The loop may run from the second iteration on only.
    '^(?:a{2,}){3,}$',
    '^(?:a{2,3})*$',
  ])('%s', (pattern) => {
    expect(kindOf(pattern)).toBe('exponential');
  });

  test.each([
    '^(a{1,20}){1,20}$',
    '(.*a){12}',
    '^(.*?,){11}P',
    '((a+){1,4}){1,4}',
    '^(?:\\w|\\d){8,20}$',
    '(a?){30}a{30}',
  ])('with a bound that protects nobody: %s', (pattern) => {
    expect(kindOf(pattern)).toBe('exponential');
  });

  test.each([
    // Python, Java and PCRE leave a loop after an empty iteration; JavaScript takes the iteration back.
    '^(a(b*)?)*$',
    '^((a?)*b)*$',
    '^((a?)+b)*$',
    '^(a(|))*$',
    '^(a(?:b?)+)*$',
  ])('for empty iterations, which some engines count: %s', (pattern) => {
    expect(kindOf(pattern)).toBe('exponential');
  });
});

describe('a harmless pattern is accepted', () => {
  test.each([
    // Conditions on attributes.
    '',
    'admin',
    '^$',
    '.*',
    '.*@example\\.com',
    '^[^@]+@(example|test)\\.(com|org)$',
    '\\s+$',
    '^\\s*(\\S.*\\S|\\S)?\\s*$',
    '^([a-z]+\\.)*example\\.com$',
    '^/(?:products|docs)/[^/]+/?$',
    '^/blog(/.*)?$',
    '[?&]utm_source=([^&#]*)',
    '^(?:/[^/]+)*/checkout$',
    '^(?:en|de|fr)(?:-[A-Z]{2})?$',
    'iPhone|iPad|iPod|Android.*Mobile|Windows Phone|BlackBerry|SM-[A-Z]\\d{3}[A-Z]?',
    'Chrome/(?:9[0-9]|1[0-9]{2})\\.',
    '(?i:premium)|enterprise',
    // JSON Schemas and keys.
    '^(?:[a-z0-9]+(?:-[a-z0-9]+)*)$',
    '^[a-z][a-zA-Z0-9_.-]{0,254}$',
    '^\\d+(\\.\\d+)*$',
    '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\\+([0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$',
    '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
    '^(?:[0-9a-f]{64},?)+$',
    '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
    '^(?:[A-Za-z0-9+/]{76}\\r?\\n)*$',
    '^(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)\\.){3}(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)$',
    '^(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$',
    '^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\\.)+[a-zA-Z]{2,63}$',
    '^#(?:[0-9a-fA-F]{3}){1,2}$',
    '^\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?(?:Z|[+-]\\d{2}:\\d{2})?)?$',
    '^[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?$',
    '^(?=.*[A-Z])(?=.*\\d)(?=.*[^\\w\\s]).{12,}$',
    "^\\p{L}+(?:[ '-]\\p{L}+)*$",
    '^"(?:[^"\\\\]|\\\\.)*"$',
    '^/\\*(?:[^*]|\\*(?!/))*\\*/$',
    '^(?:(?!--).)*$',
    '^(["\']).*?\\1$',
    '^(?:(["\'])\\w*\\1)*$',
    '^(\\w)\\1{2,}$',
    '^(?:.|\\n)*$',
    '^(?:(?:^|,)\\d+)*$',
    '^(?:\\d+(?:,|$))*$',
    '^\\W*(?:\\w+\\b\\W*){1,100}$',
    '^(?:\\b\\w+\\b\\s*)*$',
    '^(?:\\w+(?!\\w)[;,])*$',
    // One way only, although the body may be empty.
    '^(?:a?)*$',
    '^(?:a?)+$',
  ])('%s', (pattern) => {
    expect(judgeRegularExpression(pattern)).toEqual({ kind: 'safe' });
  });

  test('when it takes polynomial time of a small degree', () => {
    expect(kindOf('^.*foo.*bar.*$')).toBe('safe');
    expect(kindOf('^(.*?,){4}P')).toBe('safe');
    expect(kindOf('^(?:\\w|\\d){8,16}$')).toBe('safe');
    expect(kindOf('^(a?){10}$')).toBe('safe');
  });

  test('when it is a long list of names', () => {
    const names = Array.from({ length: 900 }, (_, index) => `Device ${index * 7919}`);
    const codes = Array.from({ length: 250 }, (_, index) => (index + 360).toString(36));
    expect(kindOf(`^(?:${names.join('|')})$`)).toBe('safe');
    expect(kindOf(`^(?:(?:${names.slice(0, 50).join('|')})(?:,|$))*$`)).toBe('safe');
    expect(kindOf(`^(?:(?:${codes.join('|')})(?:,|$))*$`)).toBe('safe');
  });
});

describe('the flags are taken into account', () => {
  test('i: letters of different case are the same', () => {
    expect(kindOf('^(?:a|A)*$')).toBe('safe');
    expect(kindOf('^(?:a|A)*$', 'i')).toBe('exponential');
    expect(kindOf('^(?:[^a]|A)*$', 'i')).toBe('safe');
    expect(kindOf('^(?:ä|Ä)*$', 'i')).toBe('exponential');
    expect(kindOf('^(?:\\w+\\W)*$', 'iu')).toBe('safe');
  });

  test('s: the dot matches line breaks', () => {
    expect(kindOf('^(?:.|\\n)*$')).toBe('safe');
    expect(kindOf('^(?:.|\\n)*$', 's')).toBe('exponential');
  });

  test('m: ^ and $ match at line breaks inside the text', () => {
    expect(kindOf('^(?:^\\w+$\\n?)*$', 'm')).toBe('safe');
    expect(kindOf('^(?:^[\\w\\n]+)*$')).toBe('safe');
    expect(kindOf('^(?:^[\\w\\n]+)*$', 'm')).toBe('exponential');
  });

  test('u: a character beyond the basic plane is one character', () => {
    expect(kindOf('^(?:😀|😃)*$', 'u')).toBe('safe');
    expect(kindOf('^(?:[😀-😃]|😂)*$', 'u')).toBe('exponential');
  });

  test('(?i:…) changes them for a group', () => {
    expect(kindOf('^(?i:a|A)*$')).toBe('exponential');
    expect(kindOf('^(?:(?-i:a|A))*$', 'i')).toBe('safe');
  });

  test('\\p{…} is a property even without u, as it is in other languages', () => {
    expect(kindOf('^(?:\\p{L}+\\s?)*$')).toBe('exponential');
    expect(kindOf('^(?:\\p{Lu}|\\p{Ll})*$')).toBe('safe');
    expect(kindOf('^(?:\\p{Lu}|\\p{Ll})*$', 'i')).toBe('exponential');
  });
});

describe('the reason', () => {
  test('names the innermost repeat at fault and a text it can match in two ways', () => {
    expect(reasonOf('^(?:x(?:a+)+y)*$')).toContain(
      'The repeat "(?:a+)+" can match "aa" inside a text in more than one way',
    );
    expect(reasonOf('^(?:\\d+|(?:[a-z]+-?)+)*$')).toContain('The repeat "(?:[a-z]+-?)+"');
  });

  test('shortens a long repeat', () => {
    expect(reasonOf(`^(?:${'a'.repeat(200)}|a)*$`)).toContain(`The repeat "(?:${'a'.repeat(77)}…" can match`);
  });

  test('says what is wrong with a pattern that is none', () => {
    expect(judgeRegularExpression('(a')).toEqual({
      kind: 'invalid',
      reason: 'Not a JavaScript pattern: Unterminated group at character 3.',
    });
    expect(kindOf('(?>a+)b')).toBe('invalid');
    expect(kindOf('a++')).toBe('invalid');
    expect(kindOf('a', 'x')).toBe('invalid');
  });
});

describe('a pattern beyond the bounds is called too complex', () => {
  test.each([
    ['longer than 20000 characters', 'a'.repeat(20_001)],
    ['nests more than 100 groups', '('.repeat(101) + ')'.repeat(101)],
    ['more than 5000 characters', `(?:${'(?:[a-f]x){100}'.repeat(60)},)*`],
    ['more combinations', `(?:${'.?'.repeat(2000)}b)*`],
    ['more combinations', `(?:()${Array.from({ length: 40 }, (_, i) => `(\\${i + 1}\\${i + 1})`).join('')}b)*`],
    ['Unicode properties', `(?:${['L', 'M', 'N', 'P', 'S', 'Z', 'Lu', 'Ll', 'Lt'].map((p) => `\\p{${p}}`).join('')})*`],
  ])('%s', (reason, pattern) => {
    expect(judgeRegularExpression(pattern)).toEqual({ kind: 'too-complex', reason: expect.stringContaining(reason) });
  });

  test('the v flag, whose set notation is not read', () => {
    expect(kindOf('[\\w--\\d]+', 'v')).toBe('too-complex');
  });
});

/*
 * The reference: patterns built as trees, and for each the number of ways in which it can match a text, counted from the
 * definition of each construct instead of from an automaton. Exponential ambiguity shows as a number of ways that is
 * squared when the text gets twice as long; a polynomial one is at most multiplied.
 */
type Tree =
  | { readonly kind: 'characters'; readonly letters: string }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly Tree[] }
  | { readonly kind: 'repeat'; readonly body: Tree; readonly min: number; readonly max: number };

function patternOf(tree: Tree): string {
  switch (tree.kind) {
    case 'characters':
      return `[${tree.letters}]`;
    case 'sequence':
      return `(?:${tree.parts.map(patternOf).join('')})`;
    case 'choice':
      return `(?:${tree.parts.map(patternOf).join('|')})`;
    case 'repeat':
      return `(?:${patternOf(tree.body)}){${tree.min},${tree.max === Number.POSITIVE_INFINITY ? '' : tree.max}}`;
  }
}

/** In how many ways a tree matches so many letters of the endlessly repeated word, from each letter of the word on. */
type Ways = readonly (readonly number[])[];

/** Beyond, numbers are not needed, and their products would be infinite. */
const ENOUGH = 1e100;

function countWays(tree: Tree, word: string, maxLength: number): Ways {
  const starts = Array.from(word, (_, start) => start);
  const lengths = Array.from({ length: maxLength + 1 }, (_, length) => length);
  const tableOf = (count: (start: number, length: number) => number): Ways =>
    starts.map((start) => lengths.map((length) => count(start, length)));
  const nothing = tableOf((_, length) => (length === 0 ? 1 : 0));
  const eitherOf = (a: Ways, b: Ways) => tableOf((start, length) => a[start]![length]! + b[start]![length]!);
  const nonEmpty = (ways: Ways) => tableOf((start, length) => (length === 0 ? 0 : ways[start]![length]!));
  const after = (start: number, length: number) => (start + length) % word.length;

  /** `a`, then `b`; where `b` is the table being filled, its shorter lengths. */
  function splits(a: Ways, b: Ways, start: number, length: number): number {
    let sum = 0;
    for (let first = 0; first <= length; first++) {
      const ways = a[start]![first]!;
      if (ways > 0) sum += ways * b[after(start, first)]![length - first]!;
    }
    return Math.min(sum, ENOUGH);
  }
  const then = (a: Ways, b: Ways) => tableOf((start, length) => splits(a, b, start, length));

  /** Any number of iterations that match something, and at the end perhaps one that does not. */
  function endlessly(body: Ways): Ways {
    const table: number[][] = starts.map(() => [1]);
    const iteration = nonEmpty(body);
    for (const length of lengths.slice(1)) {
      for (const row of table) row.push(0);
      for (const start of starts) table[start]![length] = splits(iteration, table, start, length);
    }
    return then(
      table,
      eitherOf(
        nothing,
        tableOf((start, length) => (length === 0 ? body[start]![0]! : 0)),
      ),
    );
  }

  switch (tree.kind) {
    case 'characters':
      return tableOf((start, length) => (length === 1 && tree.letters.includes(word[start]!) ? 1 : 0));
    case 'sequence':
      return tree.parts.map((part) => countWays(part, word, maxLength)).reduce(then, nothing);
    case 'choice':
      return tree.parts.map((part) => countWays(part, word, maxLength)).reduce(eitherOf);
    case 'repeat': {
      const body = countWays(tree.body, word, maxLength);
      let ways = tree.max === Number.POSITIVE_INFINITY ? endlessly(body) : nothing;
      if (tree.max !== Number.POSITIVE_INFINITY) {
        for (let i = tree.min; i < tree.max; i++) ways = eitherOf(nothing, then(body, ways));
      }
      for (let i = 0; i < tree.min; i++) ways = then(body, ways);
      return ways;
    }
  }
}

function* endlessRepeatsIn(tree: Tree): Generator<Tree> {
  if (tree.kind === 'repeat') {
    if (tree.max === Number.POSITIVE_INFINITY) yield tree;
    yield* endlessRepeatsIn(tree.body);
  } else if (tree.kind !== 'characters') {
    for (const part of tree.parts) yield* endlessRepeatsIn(part);
  }
}

/** A word of the given ones whose repetition the tree can match in exponentially many ways. */
function findExponentialWord(tree: Tree, words: readonly string[]): string | undefined {
  return words.find((word) =>
    [...endlessRepeatsIn(tree)].some((repeat) =>
      countWays(repeat, word, 60 * word.length).some((ways) => {
        const bits = (length: number) => Math.log2(Math.max(1, ...ways.slice(0, length + 1)));
        const [once, twice] = [bits(30 * word.length), bits(60 * word.length)];
        return twice > 100 || (twice > 4 && twice > 1.45 * once);
      }),
    ),
  );
}

/** Words over a and b up to the length, leaving out repetitions and rotations of others, which pump to the same text. */
function wordsUpTo(maxLength: number): string[] {
  const words: string[] = [];
  for (let length = 1; length <= maxLength; length++) {
    for (let code = 0; code < 2 ** length; code++) {
      const word = code.toString(2).padStart(length, '0').replaceAll('0', 'a').replaceAll('1', 'b');
      const pumpsToAnother = words.some(
        (other) => other.repeat(2 * length).includes(word) && length % other.length === 0,
      );
      if (!pumpsToAnother) words.push(word);
    }
  }
  return words;
}

const { tree: treeArbitrary } = fc.letrec<{ tree: Tree; leaf: Tree }>((tie) => ({
  leaf: fc.record({ kind: fc.constant('characters'), letters: fc.constantFrom('a', 'b', 'ab') }),
  tree: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    tie('leaf'),
    fc.record({
      kind: fc.constantFrom('sequence', 'choice'),
      parts: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }),
    }),
    fc
      .record({
        body: tie('tree'),
        range: fc.constantFrom([0, 1], [0, 2], [1, 3], [2, 2], [0, Infinity], [1, Infinity], [2, Infinity]),
      })
      .map(({ body, range: [min, max] }): Tree => ({ kind: 'repeat', body, min: min!, max: max! })),
  ),
}));

describe('a verdict agrees with counting the ways of matching', () => {
  test('where there are exponentially many, the pattern is refused', () => {
    const words = wordsUpTo(4);
    fc.assert(
      fc.property(treeArbitrary, (body) => {
        const tree: Tree = { kind: 'repeat', body, min: 0, max: Number.POSITIVE_INFINITY };
        fc.pre(kindOf(patternOf(tree)) === 'safe');
        expect(findExponentialWord(tree, words)).toBeUndefined();
      }),
      { numRuns: 150 },
    );
  });

  test('where a pattern is refused, there are exponentially many', () => {
    // The seed is fixed because a word longer than these, though rare in patterns so small, would be overlooked.
    const words = wordsUpTo(7);
    fc.assert(
      fc.property(treeArbitrary, (body) => {
        const tree: Tree = { kind: 'repeat', body, min: 0, max: Number.POSITIVE_INFINITY };
        fc.pre(kindOf(patternOf(tree)) === 'exponential');
        expect(findExponentialWord(tree, words)).toBeDefined();
      }),
      { numRuns: 150, seed: 1891 },
    );
  });
});
