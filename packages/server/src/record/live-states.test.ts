import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../testing/service.ts';
import { createLog } from '../platform/index.ts';
import { LiveStates, type Standing } from './live-states.ts';
import { stateKind } from './states.ts';

const noteKind = stateKind<{ readonly text: string }>('note');
const silent = createLog({ LOG_LEVEL: 'silent' });

describe('live states', () => {
  let service: TestService;
  let live: LiveStates;
  let moves: string[][];
  beforeEach(async () => {
    service = await startService();
    live = new LiveStates(service.db, silent);
    await live.load();
    moves = [];
    live.onChange((_states, changes) =>
      moves.push(changes.map(({ id, after }) => `${id} ${after ? 'is' : 'is gone'}`)),
    );
  });
  afterEach(() => service.stop());

  const write = (id: string, text: string | null) =>
    service.recorder.publish(service.id, { type: 'system', subtype: 'test' }, () => ({
      publication: { changes: [{ kind: noteKind, id, state: text === null ? null : { text } }], audit: [] },
      result: null,
    }));
  const standings = (): Promise<Standing[]> => service.db.selectFrom('current_version').selectAll().execute();
  const text = (id: string) => live.of(service.id)?.kinds.get('note')?.get(id)?.state;

  test('read on to where the database stands', async () => {
    await write('a', 'one');
    await write('b', 'one');
    await live.catchUpTo(await standings());
    await write('a', 'two');
    await write('b', null);
    await live.catchUpTo(await standings());
    await live.catchUpTo(await standings());
    expect(moves).toEqual([
      ['a is', 'b is'],
      ['a is', 'b is gone'],
    ]);
    expect([text('a'), text('b')]).toEqual([{ text: 'two' }, undefined]);
  });

  test('follow a database that has lost its last versions, also where others have taken their numbers', async () => {
    await write('a', 'kept');
    const [standing] = await standings();
    await write('a', 'lost');
    await write('b', 'lost');
    await live.catchUpTo(await standings());
    expect([text('a'), text('b')]).toEqual([{ text: 'lost' }, { text: 'lost' }]);

    // What a standby that was behind knows when it takes over.
    const after = standing?.version ?? 0;
    await service.db.deleteFrom('published_state').where('version', '>', after).execute();
    await service.db.deleteFrom('configuration_version').where('version', '>', after).execute();
    await service.db.deleteFrom('live_state').where('id', '=', 'b').execute();
    await service.db.updateTable('live_state').set({ version: after }).where('id', '=', 'a').execute();
    await service.db
      .updateTable('current_version')
      .set({ version: after, instant: standing?.instant ?? new Date() })
      .execute();
    const behind = new LiveStates(service.db, silent);
    await behind.load();
    expect(behind.of(service.id)?.kinds.get('note')?.get('a')?.state).toEqual({ text: 'kept' });

    await live.catchUpTo(await standings());
    expect([text('a'), text('b')]).toEqual([{ text: 'kept' }, undefined]);
    expect(moves.at(-1)).toEqual(['a is', 'b is gone']);
    expect(live.of(service.id)?.at).toEqual(behind.of(service.id)?.at);
  });

  test('forget an organization that is gone', async () => {
    await live.catchUpTo(await standings());
    await live.catchUpTo([]);
    expect([...live.organizations()]).toEqual([]);
    expect(moves.at(-1)).toContain('production is gone');
  });
});
