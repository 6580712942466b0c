import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testClock } from '../../testing/clock.ts';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { pagination } from '../http/index.ts';
import { createLog, idMaker, invalid } from '../platform/index.ts';
import { type Actor, createRecorder, LiveStates, type Recorder, stateKind } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';
import { type ResourceService, resourceKit } from './index.ts';

interface Box {
  readonly name: string;
  readonly projects: readonly string[];
  readonly code: string;
}
interface ShownBox {
  readonly id: string;
  readonly name: string;
  readonly of: string;
  readonly dateUpdated: string;
}

const boxKind = stateKind<Box>('box', 'cardboard box');
const actor: Actor = { type: 'system', subtype: 'test' };

describe('the resource kit', () => {
  let database: TestDatabase;
  let recorder: Recorder;
  let live: LiveStates;
  let boxes: ResourceService<Box, ShownBox>;
  const clock = testClock();
  const newId = idMaker(clock);

  beforeAll(async () => {
    database = await createDatabase();
    live = new LiveStates(database.db, createLog({ LOG_LEVEL: 'silent' }));
    recorder = createRecorder({ db: database.db, clock, newId, live });
    boxes = resourceKit({ recorder, paginate: pagination(false) })<Box, ShownBox>({
      kind: boxKind,
      auditName: 'box',
      name: ({ name }) => name,
      secrets: ['code'],
      seenIn: ({ state }) => (state.projects.length === 0 ? null : state.projects),
      show: ({ id, state, dateUpdated }, organization) => ({
        id,
        name: state.name,
        of: organization,
        dateUpdated: dateUpdated.toISOString(),
      }),
    });
  });
  afterAll(() => database.drop());

  /** Somebody who sees what is in these projects, and what is in all. */
  const someone = async (organization: string, projects: readonly string[] = ['prj_a']): Promise<Requester> => ({
    organization,
    actor,
    may: () => true,
    maySee: (seenIn) => seenIn === null || seenIn.some((project) => projects.includes(project)),
    states: await live.at(organization, 1),
    members: { emailOf: () => undefined, idOf: () => undefined },
  });
  const newOrganization = async (id: string): Promise<Requester> => {
    const row = { id, name: id, owner_email: '', date_created: clock.now() };
    await database.db.transaction().execute(async (tx) => {
      await tx.insertInto('organization').values(row).execute();
      await recorder.publishFirst(tx, id, actor, { changes: [], audit: [] });
    });
    return someone(id);
  };
  const box = (name: string, projects: readonly string[] = []): Box => ({ name, projects, code: 'open sesame' });
  const put = (requester: Requester, id: string, state: Box) => boxes.create(requester, () => ({ id, state }));
  const auditOf = (organization: string) =>
    database.db
      .selectFrom('audit')
      .select(['event', 'entity_id', 'entity_name', 'details'])
      .where('organization', '=', organization)
      .orderBy('date_created')
      .execute();

  test('shows an object that it has created, changed or found the same way', async () => {
    const requester = await newOrganization('org_same');
    const created = await put(requester, 'b1', box('First'));
    expect(created.result).toEqual({
      id: 'b1',
      name: 'First',
      of: 'org_same',
      dateUpdated: created.landed?.instant.toISOString(),
    });
    expect(boxes.show(requester, boxes.find(requester, 'b1'))).toEqual(created.result);
    const changed = await boxes.change(requester, 'b1', ({ state }) => ({ ...state, name: 'Changed' }));
    expect(changed.landed?.version).toBe((created.landed?.version ?? 0) + 1);
    expect(boxes.show(requester, boxes.find(requester, 'b1'))).toEqual(changed.result);
  });

  test('writes nothing where a change leaves the object as it is', async () => {
    const requester = await newOrganization('org_still');
    const { result } = await put(requester, 'b1', box('Still'));
    clock.advance(60_000);
    expect(await boxes.change(requester, 'b1', ({ state }) => ({ ...state }))).toEqual({ landed: null, result });
    expect((await auditOf('org_still')).map(({ event }) => event)).toEqual(['box.create']);
  });

  test('lists what may be seen, oldest first, page by page', async () => {
    const requester = await newOrganization('org_list');
    for (const [id, projects] of [
      ['z', []],
      ['hidden', ['prj_b']],
      ['a', ['prj_a', 'prj_b']],
      ['m', ['prj_a']],
    ] as const) {
      await put(requester, id, box(id, projects));
    }
    const visible = boxes.visible(requester);
    expect(visible.map(({ id }) => id)).toEqual(['z', 'a', 'm']);
    const { boxes: shown, ...page } = boxes.page(requester, 'boxes', visible, { limit: 2, offset: 1 });
    expect(shown.map(({ id }) => id)).toEqual(['a', 'm']);
    expect(page).toEqual({ limit: 2, offset: 1, count: 2, total: 3, hasMore: false, nextOffset: null });
  });

  test('tells of what may not be seen, is of another organization or does not exist the same: there is none', async () => {
    const [requester, other] = [await newOrganization('org_mine'), await newOrganization('org_theirs')];
    await put(requester, 'hidden', box('Hidden', ['prj_b']));
    await put(other, 'theirs', box('Theirs'));
    const never = () => {
      throw new Error('What cannot be seen is not decided on.');
    };
    for (const id of ['hidden', 'theirs', 'nothing']) {
      const message = `There is no cardboard box "${id}".`;
      expect(() => boxes.find(requester, id)).toThrow(message);
      await expect(boxes.change(requester, id, never)).rejects.toThrow(message);
      await expect(boxes.remove(requester, id, never)).rejects.toThrow(message);
    }
  });

  test('does nothing where the decision refuses', async () => {
    const requester = await newOrganization('org_refused');
    await put(requester, 'b1', box('First'));
    const refuse = () => {
      throw invalid('Not like this.');
    };
    await expect(boxes.create(requester, refuse)).rejects.toThrow('Not like this.');
    await expect(boxes.change(requester, 'b1', refuse)).rejects.toThrow('Not like this.');
    await expect(boxes.remove(requester, 'b1', refuse)).rejects.toThrow('Not like this.');
    expect(boxes.find(requester, 'b1').state.name).toBe('First');
    expect(await auditOf('org_refused')).toHaveLength(1);
  });

  test('keeps in the audit log what an object was and became, by its name, and no secret', async () => {
    const requester = await newOrganization('org_audit');
    await put(requester, 'b1', box('First'));
    await boxes.change(requester, 'b1', ({ state }) => ({ ...state, name: 'Second' }));
    await boxes.remove(requester, 'b1', () => ({}));
    const entries = await auditOf('org_audit');
    expect(entries.map(({ event, entity_id, entity_name }) => [event, entity_id, entity_name])).toEqual([
      ['box.create', 'b1', 'First'],
      ['box.update', 'b1', 'Second'],
      ['box.delete', 'b1', 'Second'],
    ]);
    expect(entries.map(({ details }) => JSON.parse(details ?? '') as unknown)).toEqual([
      { post: { name: 'First', projects: [] } },
      { pre: { name: 'First', projects: [] }, post: { name: 'Second', projects: [] } },
      { pre: { name: 'Second', projects: [] } },
    ]);
  });

  test('deletes an object together with what else must change, or not at all', async () => {
    const requester = await newOrganization('org_together');
    await put(requester, 'outer', box('Outer'));
    await put(requester, 'inner', box('Inner'));
    const also = () => Promise.reject(invalid('The rest cannot be done.'));
    await expect(boxes.remove(requester, 'outer', () => ({ also }))).rejects.toThrow('The rest cannot be done.');
    expect(boxes.visible(requester)).toHaveLength(2);
    const { landed } = await boxes.remove(requester, 'outer', (_, states) => ({
      changes: states.get(boxKind, 'inner') === null ? [] : [{ kind: boxKind, id: 'inner', state: box('Alone') }],
      audit: [{ event: 'box.update', entity: { object: 'box', id: 'inner' } }],
    }));
    const states = await live.at('org_together', landed?.version ?? 0);
    expect(states.all(boxKind).map(({ id, state, version }) => [id, state.name, version])).toEqual([
      ['inner', 'Alone', landed?.version],
    ]);
  });

  test('lets one of two that change an object at once know that it was changed', async () => {
    const requester = await newOrganization('org_race');
    await put(requester, 'b1', box('First'));
    const outcomes = await Promise.allSettled(
      ['One', 'Two', 'Three'].map((name) => boxes.change(requester, 'b1', ({ state }) => ({ ...state, name }))),
    );
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    for (const reason of reasons) expect(reason).toMatchObject({ kind: 'conflict' });
    expect(await auditOf('org_race')).toHaveLength(1 + outcomes.length - reasons.length);
  });
});
