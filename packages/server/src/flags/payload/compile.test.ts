import type { FeatureDefinition } from '@halyard/evaluation';
import { describe, expect, test } from 'vitest';
import { payloadOptions } from '../../../testing/flags/payload-options.ts';
import { force, inlineExperiment, rollout, type StatesInput, statesOf } from '../../../testing/flags/states.ts';
import { readerOf } from '../../record/index.ts';
import { ruleKinds } from '../rule-kinds.ts';
import { payloadCompiler } from './compile.ts';
import type { PayloadOptions } from './options.ts';

const kinds = ruleKinds([]);

/** The definitions of all features that are in the payload. */
function compile(input: StatesInput, more: Partial<PayloadOptions> = {}): Record<string, FeatureDefinition> {
  const states = statesOf(input);
  const compiler = payloadCompiler(readerOf(states), kinds, payloadOptions(more));
  const definitions = [...(states.kinds.get('feature')?.keys() ?? [])].map((id) => [id, compiler.feature(id)] as const);
  return Object.fromEntries(definitions.filter((entry): entry is [string, FeatureDefinition] => entry[1] !== null));
}

const always = '{"value": true}';

describe('a compiled feature', () => {
  test('has its keys in order, and none that says nothing [flags M66]', () => {
    const { plain, ruled } = compile({
      features: {
        plain: { rules: [force({ enabled: false })] },
        ruled: {
          rules: [
            force({ condition: '{}' }),
            rollout({ condition: '{"country":"DE"}', coverage: 0.25 }),
            rollout({ coverage: 1 }),
          ],
        },
      },
    });
    expect(JSON.stringify(plain)).toBe('{"defaultValue":false}');
    expect(JSON.stringify(ruled)).toBe(
      '{"defaultValue":false,"rules":[{"force":true},' +
        '{"condition":{"country":"DE"},"force":true,"coverage":0.25,"hashAttribute":"id","seed":"fr_1","hashVersion":2},' +
        '{"force":true}]}',
    );
    const withIds = compile(
      { features: { f: { rules: [force({ id: 'fr_3__production' })] } } },
      { includeRuleIds: true },
    );
    expect(JSON.stringify(withIds.f)).toBe('{"defaultValue":false,"rules":[{"id":"fr_3","force":true}]}');
  });

  test('is absent where its environment has it off, or it is archived, or the environment does not exist', () => {
    const features = {
      off: { environments: { production: { enabled: false } } },
      archived: { archived: true },
      on: {},
    };
    expect(Object.keys(compile({ features }))).toEqual(['on']);
    expect(compile({ features }, { environment: 'nowhere' })).toEqual({});
  });

  test.each([
    ['boolean', 'false', false],
    ['boolean', 'true', true],
    ['number', '0', 0],
    ['number', '-0.50', -0.5],
    ['string', '', ''],
    ['string', '0', '0'],
    ['json', 'null', null],
    ['json', '[]', []],
    ['json', '{}', {}],
    ['json', 'false', false],
    ['json', '0', 0],
  ] as const)('of the type %s serves %j as %j, as default and by a rule', (valueType, text, value) => {
    const { f } = compile({ features: { f: { valueType, defaultValue: text, rules: [force({ value: text })] } } });
    expect(f).toStrictEqual({ defaultValue: value, rules: [{ force: value }] });
  });

  test('has no rollout of coverage 0, since SDKs compare inclusively [flags M53]', () => {
    const { f } = compile({ features: { f: { rules: [rollout({ coverage: 0 }), rollout({ coverage: 0.0001 })] } } });
    expect(f?.rules).toHaveLength(1);
    expect(f?.rules?.[0]).toMatchObject({ coverage: 0.0001 });
  });

  test('has a rollout of old as it buckets: without seed and version where they were never set', () => {
    const {
      seed: _,
      hashVersion: __,
      ...legacy
    } = rollout() as ReturnType<typeof rollout> & { seed: string; hashVersion: number };
    const { f } = compile({ features: { f: { rules: [legacy as ReturnType<typeof rollout>] } } });
    expect(f?.rules?.[0]).toStrictEqual({ force: true, coverage: 0.5, hashAttribute: 'id' });
  });

  test('lays sparse values over the default; one that is no object is served as it is [flags M87]', () => {
    const json = (defaultValue: string, value: string) =>
      compile({ features: { f: { valueType: 'json', defaultValue, rules: [force({ value, sparse: true })] } } }).f
        ?.rules?.[0];
    expect(json('{"a":1,"n":{"x":1,"y":2}}', '{"n":{"x":9}}')).toEqual({ force: { a: 1, n: { x: 9 } } });
    expect(json('[1]', '{"a":1}')).toEqual({ force: { a: 1 } });
    expect(json('{"a":1}', '[1]')).toEqual({ force: [1] });
    const polluting = json('{"a":1}', '{"__proto__":{"admin":true},"b":2}') as { force: object };
    expect(Object.keys(polluting.force)).toEqual(['a', 'b']);
    expect(JSON.stringify(polluting)).toBe('{"force":{"a":1,"b":2}}');
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  test('judges schedules at the instant of the version, never at the clock', () => {
    const scheduled = force({
      scheduleRules: [
        { timestamp: '2026-02-01T00:00:00.000Z', enabled: true },
        { timestamp: '2026-03-01T00:00:00.000Z', enabled: false },
      ],
    });
    const at = (instant: string) => compile({ instant, features: { f: { rules: [scheduled] } } }).f?.rules?.length ?? 0;
    expect(at('2026-01-31T23:59:59.999Z')).toBe(0);
    expect(at('2026-02-01T00:00:00.000Z')).toBe(1);
    expect(at('2026-02-28T23:59:59.999Z')).toBe(1);
    expect(at('2026-03-01T00:00:00.000Z')).toBe(0);
  });

  test('names projects and tags only where they are asked for, by public id', () => {
    const input: StatesInput = {
      projects: { prj_a: { publicId: 'a' }, prj_b: {} },
      features: {
        f: {
          project: 'prj_a',
          targetingProjects: ['prj_b'],
          tags: ['t'],
          rules: [force({ allProjects: false, projects: ['prj_b'] }), force()],
        },
        bare: {},
        everywhere: { targetingAllProjects: true },
      },
    };
    expect(JSON.stringify(compile(input))).not.toContain('metadata');
    const compiled = compile(input, { includeProjectIdInMetadata: true, includeTagsInMetadata: true });
    expect(compiled.f?.metadata).toEqual({ projects: ['a', 'prj_b'], tags: ['t'] });
    expect(compiled.f?.rules).toEqual([{ force: true, metadata: { projects: ['prj_b'] } }, { force: true }]);
    expect(compiled.bare).not.toHaveProperty('metadata');
    expect(compiled.everywhere).not.toHaveProperty('metadata');
  });
});

describe('prerequisites', () => {
  const required = (more: object = {}) => ({ prerequisites: [{ id: 'parent', condition: always }], ...more });
  const gate = { parentConditions: [{ id: 'parent', condition: { value: true }, gate: true }] };
  const conditional = { rules: [force({ condition: '{"hour":{"$gt":8}}' })] };

  test('that depend on the user become gates; an SDK that does not know them does not get the feature [flags M72]', () => {
    const features = { parent: conditional, child: required({ rules: [force()] }) };
    expect(compile({ features }).child).toEqual({ defaultValue: false, rules: [gate, { force: true }] });
    const capabilities = new Set(['looseUnmarshalling'] as const);
    expect(Object.keys(compile({ features }, { capabilities }))).toEqual(['parent']);
  });

  test('that hold for everyone disappear, those that hold for nobody take the feature along', () => {
    const child = required({ rules: [force()] });
    expect(compile({ features: { parent: { defaultValue: 'true' }, child } }).child?.rules).toEqual([{ force: true }]);
    expect(compile({ features: { parent: {}, child } })).not.toHaveProperty('child');
    const capabilities = new Set(['looseUnmarshalling'] as const);
    expect(compile({ features: { parent: { defaultValue: 'true' }, child } }, { capabilities })).toHaveProperty(
      'child',
    );
  });

  test('that are archived, off here or not delivered here take the dependent along [flags M73]', () => {
    const child = required();
    const projects = { prj_a: {}, prj_b: {} };
    expect(compile({ features: { child } })).not.toHaveProperty('child');
    expect(compile({ features: { parent: { ...conditional, archived: true }, child } })).not.toHaveProperty('child');
    expect(
      compile({ features: { parent: { ...conditional, environments: { production: { enabled: false } } }, child } }),
    ).not.toHaveProperty('child');
    const apart = {
      projects,
      features: { parent: { ...conditional, project: 'prj_b' }, child: required({ project: 'prj_a' }) },
    };
    expect(compile(apart, { projects: ['prj_a'] })).not.toHaveProperty('child');
    expect(compile(apart, { projects: ['prj_a', 'prj_b'] })).toHaveProperty('child');
  });

  test('whose rules are only scheduled off are still conditional [flags M74]', () => {
    const parent = {
      rules: [
        force({
          scheduleRules: [
            { timestamp: '2030-01-01T00:00:00.000Z', enabled: true },
            { timestamp: null, enabled: false },
          ],
        }),
      ],
    };
    const compiled = compile({ features: { parent, child: required() } });
    expect(compiled.parent).toEqual({ defaultValue: false });
    expect(compiled.child?.rules).toEqual([gate]);
  });

  test('that go in a circle keep its members out and nobody else [flags M75]', () => {
    const requires = (id: string) => ({ prerequisites: [{ id, condition: always }], ...conditional });
    const compiled = compile({
      features: { a: requires('b'), b: requires('c'), c: requires('a'), self: requires('self'), other: conditional },
    });
    expect(Object.keys(compiled)).toEqual(['other']);
  });

  test('of a rule decide about that rule alone', () => {
    const rules = [
      force({ value: 'true', prerequisites: [{ id: 'parent', condition: always }] }),
      force({ value: 'false', prerequisites: [{ id: 'missing', condition: always }] }),
    ];
    expect(compile({ features: { parent: conditional, child: { rules } } }).child?.rules).toEqual([
      { parentConditions: [{ id: 'parent', condition: { value: true } }], force: true },
    ]);
    expect(compile({ features: { parent: { defaultValue: 'true' }, child: { rules } } }).child?.rules).toEqual([
      { force: true },
    ]);
  });

  test('a chain of any length is walked', () => {
    const chain = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [
        `f${index}`,
        index === 0 ? conditional : { prerequisites: [{ id: `f${index - 1}`, condition: always }] },
      ]),
    );
    const states = statesOf({ features: chain });
    const compiler = payloadCompiler(readerOf(states), kinds, payloadOptions());
    expect(compiler.feature('f19999')?.rules).toHaveLength(1);
  });
});

describe('inline experiments', () => {
  test('have weights of four decimals and keys that count up; one without values serves nothing [flags M83]', () => {
    const third = 1 / 3;
    const values = [
      { value: 'false', weight: third, name: 'Control' },
      { value: 'true', weight: third },
      { value: 'true', weight: 1.5 },
    ];
    const { f } = compile({
      features: { f: { rules: [inlineExperiment({ values }), inlineExperiment({ values: [] })] } },
    });
    expect(f?.rules).toEqual([
      {
        variations: [false, true, true],
        coverage: 1,
        weights: [0.3333, 0.3333, 1],
        meta: [{ key: '0', name: 'Control' }, { key: '1' }, { key: '2' }],
        key: 'exp',
        hashAttribute: 'id',
      },
    ]);
  });

  test('carry sticky bucketing and coverage as they were written, 0 included', () => {
    const { f } = compile({
      features: {
        f: {
          rules: [
            inlineExperiment({
              condition: '{"a":1}',
              coverage: 0,
              fallbackAttribute: 'deviceId',
              disableStickyBucketing: true,
              bucketVersion: 2,
              minBucketVersion: 0,
              namespace: { enabled: true, name: 'ns-1', range: [0, 0.5] },
            }),
          ],
        },
      },
    });
    expect(f?.rules?.[0]).toEqual({
      condition: { a: 1 },
      variations: [false, true],
      coverage: 0,
      weights: [0.5, 0.5],
      meta: [{ key: '0' }, { key: '1' }],
      key: 'exp',
      hashAttribute: 'id',
      fallbackAttribute: 'deviceId',
      disableStickyBucketing: true,
      bucketVersion: 2,
      namespace: ['ns-1', 0, 0.5],
    });
  });

  test('in several ranges of a namespace go into filters, and their own hashing stays [flags M76]', () => {
    const ranges = [
      [0, 0.1],
      [0.5, 0.6],
    ];
    const { f } = compile({
      features: {
        f: {
          rules: [
            inlineExperiment({ namespace: { enabled: true, name: 'ns-2', ranges, hashAttribute: 'company' } }),
            inlineExperiment({ namespace: { enabled: false, name: 'ns-2', ranges } }),
          ],
        },
      },
    });
    expect(f?.rules?.[0]).toMatchObject({
      hashAttribute: 'id',
      filters: [{ attribute: 'company', seed: 'ns-2', hashVersion: 2, ranges }],
    });
    for (const key of ['namespace', 'hashVersion', 'seed']) expect(f?.rules?.[0]).not.toHaveProperty(key);
    expect(f?.rules?.[1]).not.toHaveProperty('filters');
  });
});

describe('projects', () => {
  const projects = { prj_a: {}, prj_b: {} };
  const features = { none: {}, a: { project: 'prj_a' }, b: { project: 'prj_b' }, all: { targetingAllProjects: true } };
  const ids = (input: StatesInput, more: Partial<PayloadOptions>) => Object.keys(compile(input, more));

  test('a feature without project goes only to connections that serve all projects [flags M86]', () => {
    expect(ids({ projects, features }, { projects: ['prj_a'] })).toEqual(['a', 'all']);
    expect(ids({ projects, features }, { projects: [] })).toEqual(['none', 'a', 'b', 'all']);
  });

  test('an environment’s projects narrow those of the connection; nothing left means nothing, not everything [flags M85]', () => {
    const environments = { production: { projects: ['prj_b'] } };
    expect(ids({ environments, projects, features }, { projects: [] })).toEqual(['b', 'all']);
    expect(ids({ environments, projects, features }, { projects: ['prj_a', 'prj_b'] })).toEqual(['b', 'all']);
    const states = statesOf({ environments, projects, features });
    const compiler = payloadCompiler(readerOf(states), kinds, payloadOptions({ projects: ['prj_a'] }));
    expect(compiler.servesAnything).toBe(false);
  });

  test('a rule is served where its own projects, the feature’s and the connection’s meet', () => {
    const rules = [
      force({ allProjects: false, projects: ['prj_a'], value: 'true' }),
      force({ allProjects: false, projects: ['prj_b'], value: 'false' }),
    ];
    const both = { project: 'prj_a', targetingProjects: ['prj_b'], rules };
    const served = (connection: string[]) =>
      compile({ projects, features: { both } }, { projects: connection }).both?.rules;
    expect(served(['prj_a'])).toEqual([{ force: true }]);
    expect(served(['prj_b'])).toEqual([{ force: false }]);
    expect(served([])).toEqual([{ force: true }, { force: false }]);
    expect(compile({ projects, features: { none: { rules } } }).none).toEqual({ defaultValue: false });
  });
});

describe('what SDKs know', () => {
  test('one that refuses unknown keys gets those it knows, by its capabilities', () => {
    const input: StatesInput = {
      features: {
        f: { tags: ['t'], rules: [rollout(), inlineExperiment({ fallbackAttribute: 'x', bucketVersion: 1 })] },
      },
    };
    const keys = (capabilities: Partial<PayloadOptions>) =>
      compile(input, { includeRuleIds: true, includeTagsInMetadata: true, ...capabilities }).f?.rules?.map((rule) =>
        Object.keys(rule),
      );
    expect(keys({ capabilities: new Set() })).toEqual([
      ['id', 'force', 'coverage', 'hashAttribute'],
      ['id', 'variations', 'coverage', 'weights', 'key', 'hashAttribute'],
    ]);
    expect(keys({ capabilities: new Set(['bucketingV2', 'stickyBucketing']) })?.[1]).toEqual([
      'id',
      'variations',
      'coverage',
      'weights',
      'meta',
      'key',
      'hashAttribute',
      'fallbackAttribute',
      'bucketVersion',
    ]);
    expect(compile(input, { capabilities: new Set(), includeTagsInMetadata: true }).f).not.toHaveProperty('metadata');
  });
});

describe('secure attributes', () => {
  const hashed = '109f0b7ded1d94140eda40c1286befd64aec56290dba9e6642f3d096e9fc3b05';
  const email = 'alice@example.com';
  const attributes = {
    email: { datatype: 'secureString' },
    roles: { datatype: 'secureString[]' },
    country: { datatype: 'string' },
  } as const;
  const condition = (input: object, settings = { secureAttributeSalt: 'salt' }, hashSecureAttributes = true) => {
    const features = { f: { rules: [force({ condition: JSON.stringify(input) })] } };
    const savedGroups = { grp_1: { attributeKey: 'email', values: [email] } };
    const [rule] =
      compile({ attributes, settings, savedGroups, features }, { hashSecureAttributes, savedGroupReferences: true }).f
        ?.rules ?? [];
    return (rule as { condition?: unknown } | undefined)?.condition;
  };

  test('are hashed in every operand that is a value of theirs, and nothing else is [flags M88]', () => {
    expect(condition({ email })).toEqual({ email: hashed });
    expect(condition({ email: { $in: [email, 5] } })).toEqual({ email: { $in: [hashed, 5] } });
    expect(condition({ email: { $eq: email }, country: email })).toEqual({ email: { $eq: hashed }, country: email });
    expect(condition({ $or: [{ email }, { $not: { 'roles.0': email } }, { country: email }] })).toEqual({
      $or: [{ email: hashed }, { $not: { 'roles.0': hashed } }, { country: email }],
    });
    expect(condition({ email: { $inGroup: 'grp_1', $type: 'string', $not: { $eq: email } } })).toEqual({
      email: { $inGroup: 'grp_1', $type: 'string', $not: { $eq: hashed } },
    });
    expect(condition({ roles: { $elemMatch: { $in: [email] } } })).toEqual({
      roles: { $elemMatch: { $in: [hashed] } },
    });
  });

  test('stay plain where the connection does not ask for it, or there is no salt', () => {
    expect(condition({ email }, { secureAttributeSalt: 'salt' }, false)).toEqual({ email });
    expect(condition({ email }, { secureAttributeSalt: '' })).toEqual({ email });
  });
});

describe('environments that follow a parent', () => {
  const environments = {
    production: {},
    canary: { parent: 'production' },
    loop: { parent: 'pool' },
    pool: { parent: 'loop' },
  };
  const own = { production: { enabled: true } };

  test('have its switch and its rules until the feature has a switch there', () => {
    const rules = [force({ allEnvironments: false, environments: ['production'] })];
    const follows = compile({ environments, features: { f: { environments: own, rules } } }, { environment: 'canary' });
    expect(follows.f?.rules).toEqual([{ force: true }]);
    const apart = { ...own, canary: { enabled: true } };
    const stands = compile(
      { environments, features: { f: { environments: apart, rules } } },
      { environment: 'canary' },
    );
    expect(stands.f).toEqual({ defaultValue: false });
  });

  test('that circle follow nobody', () => {
    expect(compile({ environments, features: { f: { environments: own } } }, { environment: 'loop' })).toEqual({});
  });
});
