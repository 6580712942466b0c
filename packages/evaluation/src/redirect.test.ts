import { describe, expect, test } from 'vitest';
import { type AutoExperiment, compilePayload, persistQueryString, queryStringOverride, type User } from './index.ts';

const redirectTo = (key: string, urlRedirect: string, change: Partial<AutoExperiment> = {}): AutoExperiment => ({
  key,
  variations: [{ urlRedirect: '' }, { urlRedirect }],
  weights: [0, 1],
  urlPatterns: [{ include: true, type: 'simple', pattern: '/home' }],
  ...change,
});
const atHome: User = { attributes: { id: 'u1' }, url: 'https://example.com/home?colour=blue&food=sushi' };

describe('a redirect', () => {
  test('is that of the first experiment that has one for the user; later ones do not run', () => {
    const experiments = [
      redirectTo('elsewhere', 'https://example.com/1', {
        urlPatterns: [{ include: true, type: 'simple', pattern: '/x' }],
      }),
      { key: 'visual', variations: [{ css: '' }, { css: 'p {}' }], weights: [0, 1] },
      redirectTo('control', 'https://example.com/2', { weights: [1, 0] }),
      redirectTo('winner', 'https://example.com/3'),
      redirectTo('late', 'https://example.com/4'),
    ];
    const entered: string[] = [];
    const { redirect } = compilePayload({ features: {}, experiments });
    const found = redirect({ ...atHome, trackExperiment: (experiment) => entered.push(experiment.key) });
    expect(found).toMatchObject({ urlRedirect: 'https://example.com/3', urlWithParams: 'https://example.com/3' });
    expect(entered).toEqual(['control', 'winner']);
  });

  test('is none for a user without a destination', () => {
    const { redirect } = compilePayload({ features: {}, experiments: [redirectTo('a', '')] });
    expect(redirect(atHome)).toBeUndefined();
  });

  test('takes the query along where the experiment says so', () => {
    const { redirect } = compilePayload({
      features: {},
      experiments: [redirectTo('a', 'https://example.com/new?food=lasagna', { persistQueryString: true })],
    });
    expect(redirect(atHome)).toMatchObject({
      urlRedirect: 'https://example.com/new?food=lasagna',
      urlWithParams: 'https://example.com/new?food=lasagna&colour=blue',
    });
  });
});

describe('persisting the query string', () => {
  test('keeps every value of a parameter, and the hash', () => {
    expect(persistQueryString('https://a.example/?x=1&x=2', 'https://b.example/#top')).toBe(
      'https://b.example/?x=1&x=2#top',
    );
  });

  test('resolves a destination without a host', () => {
    expect(persistQueryString('https://a.example/x?y=1', '/new')).toBe('https://a.example/new?y=1');
  });

  test('leaves the destination alone where one of the two is no address', () => {
    expect(persistQueryString('no address', '/new')).toBe('/new');
    expect(persistQueryString('https://a.example/?x=1', 'http://[')).toBe('http://[');
  });
});

const asked = (value: string) => queryStringOverride('test', `https://example.com/?test=${value}`, 2);

describe('a variation in the query string', () => {
  test('must be an integer that is the index of a variation', () => {
    expect(['0', '1', '01'].map(asked)).toEqual([0, 1, 1]);
    const none = ['', '2', '-1', '1.5', '1x', 'x', '%31', '1e0', '99999999999999999999'];
    expect(none.map(asked)).toEqual(none.map(() => null));
  });

  test('is the first entry of that key, before the hash or behind it', () => {
    expect(queryStringOverride('test', 'https://example.com/?a=1&test=1&test=0#x', 2)).toBe(1);
    expect(queryStringOverride('test', 'https://example.com/?test=x&test=0', 2)).toBeNull();
    expect(queryStringOverride('test', 'https://example.com/#/page?test=1', 2)).toBe(1);
    expect(queryStringOverride('test', 'test=1', 2)).toBeNull();
  });
});

describe('auto-run experiments', () => {
  test('are reported where the user is in', () => {
    const { runAutoExperiments } = compilePayload({
      features: {},
      experiments: [
        { key: 'in', variations: [{ css: 'a' }, { css: 'b' }], weights: [0, 1] },
        { key: 'out', variations: [{ css: 'a' }, { css: 'b' }], coverage: 0 },
      ],
    });
    expect(runAutoExperiments(atHome)).toMatchObject([
      { experiment: { key: 'in' }, result: { variationId: 1, value: { css: 'b' }, featureId: null } },
    ]);
  });
});
