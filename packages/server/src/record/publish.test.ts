import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testClock } from '../../testing/clock.ts';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { createLog, idMaker, Refusal } from '../platform/index.ts';
import {
  type Actor,
  createRecorder,
  type Grouping,
  LiveStates,
  type Recorder,
  readerOf,
  type StateChange,
  stateKind,
} from './index.ts';

interface Counter {
  readonly count: number;
}
const counter = stateKind<Counter>('counter');
const actor: Actor = { type: 'system' };

describe('publishing', () => {
  let database: TestDatabase;
  const clock = testClock();
  const log = createLog({ LOG_LEVEL: 'silent' });
  /** A process: its own states in memory, the same database. */
  const process = (): { live: LiveStates; recorder: Recorder } => {
    const live = new LiveStates(database.db, log);
    return { live, recorder: createRecorder({ db: database.db, clock, newId: idMaker(clock), live }) };
  };
  const newOrganization = async (id: string) => {
    const { recorder } = process();
    await database.db.transaction().execute(async (tx) => {
      await tx
        .insertInto('organization')
        .values({ id, name: id, owner_email: '', date_created: clock.now() })
        .execute();
      await recorder.publishFirst(tx, id, actor, { changes: [], audit: [] });
    });
  };
  const change = (id: string, count: number | null): StateChange<Counter> => ({
    kind: counter,
    id,
    state: count === null ? null : { count },
  });
  const set = ({ recorder }: { recorder: Recorder }, organization: string, id: string, count: number | null) =>
    recorder.publish(organization, actor, (states) => {
      states.get(counter, id);
      return { publication: { changes: [change(id, count)], audit: [] }, result: null };
    });

  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  test('versions rise by one, each with an instant after the one before, also when the clock stands still or runs back', async () => {
    await newOrganization('org_clock');
    const one = process();
    for (let count = 1; count <= 20; count++) await set(one, 'org_clock', 'a', count);
    clock.advance(-60_000);
    await set(one, 'org_clock', 'a', 21);
    clock.advance(60_000);
    const rows = await database.db
      .selectFrom('configuration_version')
      .selectAll()
      .where('organization', '=', 'org_clock')
      .orderBy('version')
      .execute();
    expect(rows.map(({ version }) => version)).toEqual(Array.from({ length: 22 }, (_, index) => index + 1));
    for (const [index, { instant }] of rows.entries()) {
      expect(instant.getTime()).toBeGreaterThan(rows[index - 1]?.instant.getTime() ?? 0);
    }
  });

  test('a landing may tell of more than a statement of the database has parameters for', async () => {
    await newOrganization('org_many');
    const many = Array.from({ length: 10_000 }, (_, index) => `c${index}`);
    const { recorder } = process();
    await recorder.publish('org_many', actor, () => ({
      publication: {
        changes: many.map((id) => change(id, 1)),
        audit: many.map((id) => ({ event: 'counter.create', entity: { object: 'counter', id } })),
        events: () =>
          many.map((objectId) => ({
            event: 'counter.created',
            object: 'counter',
            objectId,
            data: { object: {} },
            projects: [],
            tags: [],
            environments: [],
          })),
      },
      result: null,
    }));
    for (const table of ['live_state', 'audit', 'event'] as const) {
      const rows = await database.db.selectFrom(table).select('id').where('organization', '=', 'org_many').execute();
      expect(rows.length).toBe(many.length);
    }
  });

  test('nothing is overwritten: every state there was can be read again', async () => {
    await newOrganization('org_history');
    const one = process();
    for (const count of [1, 2, null, 3]) await set(one, 'org_history', 'a', count);
    const rows = await database.db
      .selectFrom('published_state')
      .select(['version', 'state', 'ordinal'])
      .where('organization', '=', 'org_history')
      .orderBy('version')
      .execute();
    expect(rows.map(({ state }) => state)).toEqual([{ count: 1 }, { count: 2 }, null, { count: 3 }]);
    const live = await database.db
      .selectFrom('live_state')
      .selectAll()
      .where('organization', '=', 'org_history')
      .execute();
    expect(live).toEqual([{ organization: 'org_history', kind: 'counter', id: 'a', version: rows.at(-1)?.version }]);
    // What is made anew under an old id is a new object, and comes last.
    expect(rows[3]?.ordinal).toBeGreaterThan(rows[0]?.ordinal ?? 0);
    expect(rows[2]?.ordinal).toBe(rows[0]?.ordinal);
  });

  test('many processes counting the same thing lose nothing: each either lands on what it read, or is told', async () => {
    await newOrganization('org_race');
    await set(process(), 'org_race', 'a', 0);
    const increment = async ({ recorder }: { recorder: Recorder }): Promise<boolean> => {
      try {
        await recorder.publish('org_race', actor, (states) => {
          const count = (states.get(counter, 'a')?.state.count ?? 0) + 1;
          return { publication: { changes: [change('a', count)], audit: [] }, result: null };
        });
        return true;
      } catch (error) {
        if (error instanceof Refusal && error.kind === 'conflict') return false;
        throw error;
      }
    };
    const processes = Array.from({ length: 4 }, process);
    const tries = await Promise.all(
      Array.from({ length: 24 }, (_, index) => increment(processes[index % 4] ?? process())),
    );
    const landed = tries.filter(Boolean).length;
    expect(landed).toBeGreaterThan(0);
    const { live } = process();
    await live.load();
    const states = live.of('org_race');
    expect(states === undefined ? null : readerOf(states).get(counter, 'a')?.state).toEqual({ count: landed });
  });

  test('however many of one process come at once, all land that do not change the same thing', async () => {
    await newOrganization('org_crowd');
    const { live, recorder } = process();
    const add = (id: string) =>
      recorder.publish('org_crowd', actor, (states) => {
        // Each reads all others, as one does whose name must be its own.
        const count = states.all(counter).length;
        return { publication: { changes: [change(id, count)], audit: [] }, result: null };
      });
    await Promise.all(Array.from({ length: 30 }, (_, index) => add(`one_${index}`)));
    const states = live.of('org_crowd');
    const counts =
      states === undefined
        ? []
        : readerOf(states)
            .all(counter)
            .map(({ state }) => state.count);
    expect(counts.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, index) => index));
  });

  test('a judgement that read something which has changed meanwhile is made anew', async () => {
    await newOrganization('org_judge');
    const [one, other] = [process(), process()];
    await set(one, 'org_judge', 'limit', 1);
    let judgements = 0;
    const { result } = await one.recorder.publish('org_judge', actor, async (states) => {
      judgements++;
      const limit = states.get(counter, 'limit')?.state.count;
      // Somebody else changes the limit after it was read.
      if (judgements === 1) await set(other, 'org_judge', 'limit', 2);
      return { publication: { changes: [change('thing', 1)], audit: [] }, result: limit };
    });
    expect([judgements, result]).toEqual([2, 2]);
  });

  test('what changes no state leaves its trace under the lock, and makes no version', async () => {
    await newOrganization('org_silent');
    const [one, other] = [process(), process()];
    await set(one, 'org_silent', 'limit', 1);
    const limits: (number | undefined)[] = [];
    const { landed } = await one.recorder.publish('org_silent', actor, async (states) => {
      limits.push(states.get(counter, 'limit')?.state.count);
      if (limits.length === 1) await set(other, 'org_silent', 'limit', 2);
      const entry = { event: 'thing.noted', entity: { object: 'thing', id: 'thing' } };
      return { publication: { changes: null, audit: [entry] }, result: null };
    });
    // Judged anew, as every write that has read something which changed.
    expect([landed, limits]).toEqual([null, [1, 2]]);
    const audits = await database.db
      .selectFrom('audit')
      .select('event')
      .where('organization', '=', 'org_silent')
      .execute();
    expect(audits).toEqual([{ event: 'thing.noted' }]);
    const { version } = await database.db
      .selectFrom('current_version')
      .select('version')
      .where('organization', '=', 'org_silent')
      .executeTakeFirstOrThrow();
    expect(version).toBe(3);
  });

  test('what was not read may change without disturbing', async () => {
    await newOrganization('org_apart');
    const [one, other] = [process(), process()];
    let judgements = 0;
    await one.recorder.publish('org_apart', actor, async (states) => {
      judgements++;
      states.get(counter, 'a');
      await set(other, 'org_apart', `b${judgements}`, 1);
      return { publication: { changes: [change('a', 1)], audit: [] }, result: null };
    });
    expect(judgements).toBe(1);
  });

  test('who read all of a kind is judged anew when one is added', async () => {
    await newOrganization('org_all');
    const [one, other] = [process(), process()];
    const { result } = await one.recorder.publish('org_all', actor, async (states) => {
      const count = states.all(counter).length;
      if (count === 0) await set(other, 'org_all', 'b', 1);
      return { publication: { changes: [change('total', count)], audit: [] }, result: count };
    });
    expect(result).toBe(1);
  });

  test('who read a group is judged anew when one of it changes or comes in, and not for others', async () => {
    await newOrganization('org_group');
    const [one, other] = [process(), process()];
    const even: Grouping<Counter> = { kind: counter, groupsOf: ({ count }) => (count % 2 === 0 ? ['even'] : []) };
    for (const [id, count] of Object.entries({ a: 2, b: 1 })) await set(one, 'org_group', id, count);
    const meanwhile: (readonly [id: string, count: number | null])[] = [
      ['b', 3],
      ['c', 4],
      ['a', 1],
      ['d', 5],
      ['c', null],
      ['e', 7],
    ];
    const seen: string[] = [];
    for (const [id, count] of meanwhile) {
      let judgements = 0;
      await one.recorder.publish('org_group', actor, async (states) => {
        judgements++;
        const members = states.group(even, 'even').map((live) => live.id);
        if (judgements === 1) await set(other, 'org_group', id, count);
        // What is read twice reads the same twice.
        expect(states.group(even, 'even').map((live) => live.id)).toEqual(members);
        return { publication: { changes: [change('sum', 1)], audit: [] }, result: null };
      });
      seen.push(`${id} ${count}: ${judgements}`);
    }
    expect(seen).toEqual(['b 3: 1', 'c 4: 2', 'a 1: 2', 'd 5: 1', 'c null: 2', 'e 7: 1']);
  });

  test('what fails leaves nothing behind: no state, no version, no audit entry, no event', async () => {
    await newOrganization('org_fail');
    const one = process();
    await set(one, 'org_fail', 'a', 1);
    const rows = async () => ({
      states: await database.db
        .selectFrom('published_state')
        .selectAll()
        .where('organization', '=', 'org_fail')
        .execute(),
      versions: await database.db
        .selectFrom('configuration_version')
        .selectAll()
        .where('organization', '=', 'org_fail')
        .execute(),
      audits: await database.db.selectFrom('audit').selectAll().where('organization', '=', 'org_fail').execute(),
      events: await database.db.selectFrom('event').selectAll().where('organization', '=', 'org_fail').execute(),
    });
    const before = await rows();
    const publication = {
      changes: [change('a', 2)],
      audit: [{ event: 'counter.update', entity: { object: 'counter', id: 'a' } }],
      events: () => {
        throw new Error('the very last thing fails');
      },
    };
    await expect(one.recorder.publish('org_fail', actor, () => ({ publication, result: null }))).rejects.toThrow(
      'very last',
    );
    expect(await rows()).toEqual(before);
  });

  test('a process sees what another one published as soon as it asks for that version', async () => {
    await newOrganization('org_other');
    const [one, other] = [process(), process()];
    await other.live.load();
    const { landed } = await set(one, 'org_other', 'a', 7);
    const states = await other.live.at('org_other', landed?.version ?? 0);
    expect(states.get(counter, 'a')?.state).toEqual({ count: 7 });
    await expect(other.live.at('org_other', 1_000)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  test('listeners hear of each object once, with what it was and what it is', async () => {
    await newOrganization('org_listen');
    const [one, other] = [process(), process()];
    await set(one, 'org_listen', 'a', 1);
    await other.live.load();
    const heard: string[] = [];
    other.live.onChange((states, changes) => {
      for (const { id, before, after } of changes) {
        heard.push(
          `${states.at.version} ${id} ${JSON.stringify(before?.state ?? null)} ${JSON.stringify(after?.state ?? null)}`,
        );
      }
    });
    await set(one, 'org_listen', 'a', 2);
    await set(one, 'org_listen', 'a', null);
    await set(one, 'org_listen', 'b', 5);
    await other.live.catchUp('org_listen');
    expect(heard).toEqual(['5 a {"count":1} null', '5 b null {"count":5}']);
  });
});
