import { describe, expect, test } from 'vitest';
import { Refusal } from '../../platform/index.ts';
import { type ServedConnection, Streams } from './index.ts';
import { boundedExpression, timeBound } from './time-bound.ts';

const connection = (id: string): ServedConnection => ({
  id,
  streams: new Streams(),
  remoteOnly: false,
  version: 1,
  served: null,
  prepare: async () => undefined,
  catchUp: async () => undefined,
});
const mine = connection('mine');

/** What a refused evaluation is refused for; undefined: it is not. */
function refusal(evaluate: () => unknown): string | undefined {
  try {
    evaluate();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.kind;
    throw error;
  }
}

/** A bound of its own, where each limited evaluation takes `taking` milliseconds. */
function bound(taking: number) {
  let now = 0;
  let limited = 0;
  let looks = 0;
  const { whole } = timeBound({
    clock: { now: () => new Date(now) },
    // Looked at before, before its only part, and after.
    stopwatch() {
      looks++;
      if (looks % 3 !== 0) return 0;
      limited++;
      return taking;
    },
  });
  return {
    whole,
    limited: () => limited,
    wait: (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

const endless = boundedExpression('(.*foo){3}bar', false);
const quick = boundedExpression('^(a){2}$', false);

describe('an evaluation', () => {
  test.each<[string, string, string[], boolean]>([
    ['a short search', '.*@example\\.com', ['u1@example.com'], false],
    ['a long text without choices', 'Android', ['x'.repeat(10_000)], false],
    ['a list of literals', '^(DE|AT|CH|FR|IT|ES|PT)$', ['DE'], false],
    ['many short texts', '.*foo.*bar', Array.from({ length: 10 }, () => 'foo'.repeat(30)), true],
    ['many very short texts', 'a*b', Array.from({ length: 50_000 }, () => 'aaa'), true],
    ['a long text', 'a*b', ['a'.repeat(2_000)], true],
    ['one text and many choices', 'a*a*a*a*a*b', ['a'.repeat(20)], true],
    ['repeated groups', '(a|a){30}b', ['a'], true],
  ])('needs a limit where its searches could take long in all: %s', (_, pattern, texts, isLimited) => {
    const { whole, limited } = bound(1);
    const expression = boundedExpression(pattern, false);
    const found = whole(mine, () => texts.filter((text) => expression.test(text)).length);
    const native = new RegExp(pattern);
    expect(found).toBe(texts.filter((text) => native.test(text)).length);
    expect(limited()).toBe(isLimited ? 1 : 0);
  });

  test('starts to count anew with each request', () => {
    const { whole, limited } = bound(1);
    const expression = boundedExpression('a*b', false);
    for (let count = 0; count < 100; count++) whole(mine, () => expression.test('a'.repeat(500)));
    expect(limited()).toBe(0);
  });

  test('is refused when its time is over, and the next one is not', () => {
    const { whole, wait } = bound(250);
    expect(refusal(() => whole(mine, () => endless.test('foo'.repeat(10_000))))).toBe('invalid');
    wait(2_000);
    expect(whole(mine, () => quick.test('aa'))).toBe(true);
  });

  test('that fails under the limit fails as it does without, and its time counts', () => {
    const { whole } = bound(250);
    const failing = () => {
      if (quick.test('aa')) throw new RangeError('of its own');
    };
    expect(() => whole(mine, failing)).toThrow(RangeError);
  });
});

describe('the time of slow evaluations', () => {
  test('is 250 ms of a connection within 2 s; what needs no limit is never refused', () => {
    const { whole, wait } = bound(100);
    const slow = (of = mine) => refusal(() => whole(of, () => quick.test('aa')));
    expect([slow(), slow(), slow(), slow()]).toEqual([undefined, undefined, undefined, 'tooMany']);
    expect(slow(connection('other'))).toBeUndefined();
    expect(whole(mine, () => boundedExpression('a', false).test('a'))).toBe(true);
    wait(1_999);
    expect(slow()).toBe('tooMany');
    wait(1);
    expect(slow()).toBeUndefined();
  });

  test('that is left over may be too little for one that would fit into all of it: it may be asked for again', () => {
    const { whole } = bound(100);
    whole(mine, () => quick.test('aa'));
    expect(refusal(() => whole(mine, () => endless.test('foo'.repeat(10_000))))).toBe('tooMany');
  });

  test('is 500 ms of all connections together', () => {
    const { whole, wait } = bound(200);
    const slow = (id: string) => refusal(() => whole(connection(id), () => quick.test('aa')));
    expect(['1', '2', '3', '4'].map(slow)).toEqual([undefined, undefined, undefined, 'tooMany']);
    wait(2_000);
    expect(slow('4')).toBeUndefined();
  });

  test('is not used by evaluations that are over as soon as others', () => {
    const { whole } = bound(2);
    const slow = () => refusal(() => whole(mine, () => quick.test('aa')));
    expect(Array.from({ length: 300 }, slow).every((refused) => refused === undefined)).toBe(true);
  });
});

describe('the parts of an evaluation', () => {
  // What a busy machine takes beside the searches is not counted.
  const { each } = timeBound({ clock: { now: () => new Date(0) }, stopwatch: () => 0 });
  const texts = ['b', 'foo'.repeat(10_000), 'foofoofoobar', 'foo'.repeat(9_000), 'afoofoofoobar'];
  const search = (text: string) => (text === 'b' ? 'none' : `${text}: ${endless.test(text)}`);

  test('that do not fit into the time leave the others theirs; all stay in their order', () => {
    const results = each(mine, texts, search, () => 'too slow');
    expect(results).toEqual(['none', 'too slow', 'foofoofoobar: true', 'too slow', 'afoofoofoobar: true']);
  });

  test('are refused together where no time is left', () => {
    const { each, whole } = timeBound({ clock: { now: () => new Date(0) } });
    expect(refusal(() => whole(mine, () => texts.map(search)))).toBe('invalid');
    expect(refusal(() => each(mine, texts, search, () => ''))).toBe('tooMany');
    expect(each(mine, ['b'], search, () => '')).toEqual(['none']);
  });
});
