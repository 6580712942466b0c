import { postFeature, updateFeature } from '@halyard/contract';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { payloadOf } from '../../testing/delivery.ts';
import { payloadOptions } from '../../testing/flags/payload-options.ts';
import { freshId, newConnection, newFeature } from '../../testing/objects.ts';
import { startService, type TestService } from '../../testing/service.ts';
import { openStream } from '../../testing/streams.ts';
import { LiveObjects, readerOf } from '../record/index.ts';
import { type FeatureState, featureKind } from './feature.ts';
import { payloadCompiler, ruleKinds } from './index.ts';
import { isScheduledOn, nextBoundary } from './schedule.ts';

const instants = fc.date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true });

describe('the schedule of a rule', () => {
  test('is on from its start up to its end', () => {
    fc.assert(
      fc.property(instants, instants, instants, (start, end, now) => {
        fc.pre(start < end);
        const entries = [
          { timestamp: end.toISOString(), enabled: false },
          { timestamp: start.toISOString(), enabled: true },
        ];
        expect(isScheduledOn(entries, now)).toBe(start <= now && now < end);
      }),
    );
  });

  test.each([
    ['none', [], true, true],
    [
      'a start only',
      [
        { timestamp: '2025-01-01T00:00:00.000Z', enabled: true },
        { timestamp: null, enabled: false },
      ],
      false,
      true,
    ],
    [
      'an end only',
      [
        { timestamp: null, enabled: true },
        { timestamp: '2025-01-01T00:00:00.000Z', enabled: false },
      ],
      true,
      false,
    ],
  ])('with %s is on before: %s', (_, entries, before, after) => {
    expect(isScheduledOn(entries, new Date('2024-12-31T23:59:59.999Z'))).toBe(before);
    expect(isScheduledOn(entries, new Date('2025-01-01T00:00:00.000Z'))).toBe(after);
  });

  test('changes nothing between its boundaries', () => {
    const times = fc.array(instants, { minLength: 2, maxLength: 2 });
    fc.assert(
      fc.property(times, instants, fc.boolean(), ([one, two], now, startsOn) => {
        const entries = [one, two].map((date, index) => ({
          timestamp: date?.toISOString() ?? null,
          enabled: (index === 0) === startsOn,
        }));
        const next = nextBoundary([{ scheduleRules: entries }], now);
        const justBefore = next === null ? new Date('2031-01-01') : new Date(Date.parse(next) - 1);
        expect(isScheduledOn(entries, justBefore)).toBe(isScheduledOn(entries, now));
        expect(next === null || Date.parse(next) > now.getTime()).toBe(true);
      }),
    );
  });
});

describe('schedules in the running service', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const at = (seconds: number) => new Date(service.clock.now().getTime() + seconds * 1000).toISOString();
  const scheduled = (start: string | null, end: string | null) => ({
    type: 'force' as const,
    value: 'true',
    scheduleRules: [
      { timestamp: start, enabled: true },
      { timestamp: end, enabled: false },
    ],
  });

  const [early, late] = ['2030-01-01T00:00:00.000Z', '2030-02-01T00:00:00.000Z'];
  test.each([
    ['one entry', [{ timestamp: early, enabled: true }]],
    [
      'three entries',
      [
        { timestamp: early, enabled: true },
        { timestamp: late, enabled: false },
        { timestamp: null, enabled: true },
      ],
    ],
    [
      'two of the same direction',
      [
        { timestamp: early, enabled: true },
        { timestamp: late, enabled: true },
      ],
    ],
    [
      'no timestamp',
      [
        { timestamp: null, enabled: true },
        { timestamp: null, enabled: false },
      ],
    ],
    [
      'a date without time',
      [
        { timestamp: '2026-01-31', enabled: true },
        { timestamp: null, enabled: false },
      ],
    ],
    [
      'an offset',
      [
        { timestamp: '2026-01-31T09:00:00.000+01:00', enabled: true },
        { timestamp: null, enabled: false },
      ],
    ],
    [
      'no milliseconds',
      [
        { timestamp: '2026-01-31T09:00:00Z', enabled: true },
        { timestamp: null, enabled: false },
      ],
    ],
  ])('schedule rules of %s are 400', async (_, scheduleRules) => {
    const rules = [{ type: 'force', value: 'true', scheduleRules }];
    const body = { id: freshId(), defaultValue: 'false', owner: service.owner.id, rules };
    expect((await service.admin.refused(400, postFeature, { body })).message).toMatch(/scheduleRules/);
  });

  test('what a schedule rule must look like is refused otherwise [flags M50]', async () => {
    for (const scheduleRules of [
      [{ timestamp: early, enabled: true }],
      [
        { timestamp: early, enabled: false },
        { timestamp: late, enabled: false },
      ],
      [
        { timestamp: null, enabled: true },
        { timestamp: null, enabled: false },
      ],
      [
        { timestamp: '2026-01-31', enabled: true },
        { timestamp: late, enabled: false },
      ],
      [
        { timestamp: '2026-01-31T09:00:00.000+01:00', enabled: true },
        { timestamp: late, enabled: false },
      ],
      [...scheduled(early, late).scheduleRules, { timestamp: null, enabled: true }],
    ]) {
      const body = {
        id: freshId(),
        defaultValue: 'false',
        owner: service.owner.id,
        rules: [{ type: 'force', value: 'true', scheduleRules }],
      };
      await service.admin.refused(400, postFeature, { body });
    }
  });

  test('a boundary that passes makes a new version by itself; the one before still has the rule [flags M51]', async () => {
    const connection = await newConnection(service.admin);
    const created = await newFeature(service, { rules: [scheduled(null, at(30))] });
    const before = await service.version();
    expect((await payloadOf(service.url, connection.key, before)).features[created.id]?.rules).toHaveLength(1);
    const stream = await openStream(service.url, connection.key);
    await stream.next();

    await service.app.runJobs();
    expect(await service.version()).toBe(before);
    service.clock.advance(31_000);
    await service.app.runJobs();
    const after = await service.version();
    expect(after).toBe(before + 1);
    const payload = await payloadOf(service.url, connection.key, after);
    expect(payload.features[created.id]).toEqual({ defaultValue: false });
    const { instant } = await service.db
      .selectFrom('configuration_version')
      .select('instant')
      .where('version', '=', after)
      .executeTakeFirstOrThrow();
    expect(payload.dateUpdated).toBe(instant.toISOString());
    expect(await stream.next()).toMatchObject({ event: 'features', id: String(after) });
    stream.close();

    // The version before, compiled again from the published states.
    const rows = await service.db
      .selectFrom('published_state')
      .selectAll()
      .where('version', '<=', before)
      .orderBy('version')
      .execute();
    const { instant: then } = await service.db
      .selectFrom('configuration_version')
      .select('instant')
      .where('version', '=', before)
      .executeTakeFirstOrThrow();
    const kinds = new Map<string, LiveObjects>();
    for (const { kind, id, version, ordinal, state, ...dates } of rows) {
      const ofKind = kinds.get(kind) ?? new LiveObjects();
      kinds.set(kind, ofKind);
      if (state === null) ofKind.delete(id);
      else {
        const { date_created: dateCreated, date_updated: dateUpdated } = dates;
        ofKind.set(id, { kind, id, version, ordinal, state, dateCreated, dateUpdated });
      }
    }
    const reader = readerOf({ organization: service.id, at: { version: before, instant: then }, kinds });
    const compiler = payloadCompiler(reader, ruleKinds([]), payloadOptions());
    expect(compiler.feature(created.id)?.rules).toHaveLength(1);
    // Nobody edited the feature: its own date and revision stay.
    const states = await service.db
      .selectFrom('published_state')
      .selectAll()
      .where('id', '=', created.id)
      .orderBy('version')
      .execute();
    expect(states.map((row) => (row.state as FeatureState).nextScheduledUpdate)).toEqual([expect.any(String), null]);
    expect(states.map((row) => row.date_updated.toISOString())).toEqual([created.dateUpdated, created.dateUpdated]);
  });

  test('a landing for another reason honours the boundaries that have passed by then', async () => {
    const connection = await newConnection(service.admin);
    const { id } = await newFeature(service, { rules: [scheduled(at(20), null)] });
    const other = await newFeature(service);
    expect((await payloadOf(service.url, connection.key, await service.version())).features[id]).toEqual({
      defaultValue: false,
    });
    service.clock.advance(21_000);
    const { version } = await service.admin.answer(updateFeature, {
      params: { id: other.id },
      body: { defaultValue: 'true' },
    });
    expect((await payloadOf(service.url, connection.key, version)).features[id]?.rules).toHaveLength(1);
  });

  test('when the version of a boundary cannot be made, nothing is advanced and it is tried again [flags M52]', async () => {
    const { id } = await newFeature(service, { rules: [scheduled(at(10), null)] });
    const next = async () => {
      const row = await service.db
        .selectFrom('published_state')
        .select('state')
        .where('id', '=', id)
        .orderBy('version', 'desc')
        .limit(1)
        .executeTakeFirstOrThrow();
      return (row.state as FeatureState).nextScheduledUpdate;
    };
    const due = await next();
    service.clock.advance(11_000);
    const version = await service.version();
    await service.db.schema.alterTable('configuration_version').renameTo('out_of_order').execute();
    await expect(service.app.runJobs()).rejects.toThrow('configuration_version');
    await service.db.schema
      .alterTable('out_of_order' as 'configuration_version')
      .renameTo('configuration_version')
      .execute();
    expect(await service.version()).toBe(version);
    expect(await next()).toBe(due);
    await service.app.runJobs();
    expect(await service.version()).toBe(version + 1);
    expect(await next()).toBe(null);
  });

  test('the next boundary is worked out anew at every change of the rules', async () => {
    const { id } = await newFeature(service, { rules: [scheduled(at(1_000), at(2_000))] });
    const row = () =>
      service.db
        .selectFrom('published_state')
        .select('state')
        .where('kind', '=', featureKind.name)
        .where('id', '=', id)
        .orderBy('version', 'desc')
        .limit(1)
        .executeTakeFirstOrThrow();
    expect((await row()).state).toMatchObject({ nextScheduledUpdate: expect.any(String) });
    await service.admin.call(updateFeature, { params: { id }, body: { rules: [] } });
    expect((await row()).state).toMatchObject({ nextScheduledUpdate: null });
  });
});
