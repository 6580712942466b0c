import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testClock } from '../../testing/clock.ts';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { createLog, idMaker, Refusal } from '../platform/index.ts';
import { type Actor, createRecorder, LiveStates, type Recorder, stateKind, together } from '../record/index.ts';
import { type Landing, type LiveRevision, type RevisionKind, type Revisions, revisionEngine } from './index.ts';

type Change = Landing<string>['revised'][number];

interface Page {
  readonly text: string;
  readonly revision: LiveRevision;
}

const actor: Actor = { type: 'system', subtype: 'test' };
const pageKind = stateKind<Page>('page');
const noteKind = stateKind<Page>('note');
const pageRevision: RevisionKind = { name: 'page', idPrefix: 'prev_', landed: 'published' };
const noteRevision: RevisionKind = { name: 'note', idPrefix: 'nrev_', landed: 'merged' };

describe('landing', () => {
  let database: TestDatabase;
  const clock = testClock();
  const log = createLog({ LOG_LEVEL: 'silent' });
  const newId = idMaker(clock);

  /** A process: its own states in memory, the same database. */
  const process = (): { live: LiveStates; recorder: Recorder; revisions: Revisions } => {
    const live = new LiveStates(database.db, log);
    const recorder = createRecorder({ db: database.db, clock, newId, live });
    return { live, recorder, revisions: revisionEngine({ db: database.db, newId, recorder }) };
  };
  const newOrganization = async (id: string): Promise<{ organization: string; actor: Actor }> => {
    const row = { id, name: id, owner_email: '', date_created: clock.now() };
    await database.db.transaction().execute(async (tx) => {
      await tx.insertInto('organization').values(row).execute();
      await process().recorder.publishFirst(tx, id, actor, { changes: [], audit: [] });
    });
    return { organization: id, actor };
  };
  const revised = (id: string, text: string, [kind, states] = [pageRevision, pageKind]): Change => ({
    kind,
    id,
    baseVersion: 0,
    content: text,
    comment: `says ${text}`,
    state: (revision) => ({ kind: states, id, state: { text, revision } }),
  });
  const landing = (...changes: Change[]): Landing<string> => ({ revised: changes, audit: [] });
  const land = (revisions: Revisions, by: { organization: string; actor: Actor }, id: string, text: string) =>
    revisions.land(by, async (states) => {
      states.get(pageKind, id);
      return { landing: landing(revised(id, text)), result: null };
    });
  /** A draft that somebody makes: it takes the number after the highest. */
  const takeNumber = (organization: string, id: string, version: number) => {
    const now = clock.now();
    const by = JSON.stringify(actor);
    return database.db
      .insertInto('revision')
      .values({
        organization,
        kind: pageRevision.name,
        entity: id,
        version,
        id: newId('prev_'),
        status: 'draft',
        base_version: 1,
        content: '"draft"',
        comment: '',
        created_by: by,
        published_by: null,
        date_created: now,
        date_updated: now,
        date_published: null,
      })
      .execute();
  };

  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  test('makes the revision and the state that stands at it', async () => {
    const by = await newOrganization('org_one');
    const { revisions, live } = process();
    const { landed, result } = await revisions.land(by, async () => ({
      landing: landing(revised('home', 'hello')),
      result: 'judged',
    }));
    expect(result).toBe('judged');
    const revision = landed?.revision(pageRevision, 'home');
    expect(revision).toEqual({
      id: expect.stringMatching(/^prev_/),
      version: 1,
      comment: 'says hello',
      createdBy: actor,
      publishedBy: actor,
    });
    const states = await live.at(by.organization, landed?.version ?? 0);
    expect(states.get(pageKind, 'home')?.state).toEqual({ text: 'hello', revision });
    expect(await revisions.list(by.organization, pageRevision, 'home')).toEqual([
      {
        ...revision,
        baseVersion: 0,
        status: 'published',
        content: 'hello',
        dateUpdated: landed?.instant,
        datePublished: landed?.instant,
      },
    ]);
    expect(() => landed?.revision(noteRevision, 'home')).toThrow('no revision of the note home');
  });

  test('numbers the revisions of each object by themselves, also of objects of two kinds that share an id', async () => {
    const by = await newOrganization('org_kinds');
    const { revisions } = process();
    await land(revisions, by, 'home', 'one');
    await land(revisions, by, 'about', 'one');
    const { landed } = await revisions.land(by, async () => ({
      landing: landing(
        revised('home', 'two'),
        revised('home', 'note', [noteRevision, noteKind]),
        revised('new', 'one'),
      ),
      result: null,
    }));
    expect(landed?.revision(pageRevision, 'home').version).toBe(2);
    expect(landed?.revision(noteRevision, 'home').version).toBe(1);
    expect(landed?.revision(pageRevision, 'new').version).toBe(1);
    const [newest, oldest] = await revisions.list(by.organization, pageRevision, 'home');
    expect([newest?.content, oldest?.content]).toEqual(['two', 'one']);
    expect(await revisions.list(by.organization, noteRevision, 'home')).toMatchObject([{ status: 'merged' }]);
  });

  test('counts no revisions of other organizations', async () => {
    const [one, other] = [await newOrganization('org_mine'), await newOrganization('org_theirs')];
    const { revisions } = process();
    await land(revisions, one, 'home', 'a');
    await land(revisions, one, 'home', 'b');
    const { landed } = await land(revisions, other, 'home', 'a');
    expect(landed?.revision(pageRevision, 'home').version).toBe(1);
    expect(await revisions.list(other.organization, pageRevision, 'home')).toHaveLength(1);
  });

  test('takes the next number, also where a draft has taken one since the judgement', async () => {
    const by = await newOrganization('org_draft');
    const { revisions } = process();
    await land(revisions, by, 'home', 'one');
    const { landed } = await revisions.land(by, async (states) => {
      states.get(pageKind, 'home');
      await takeNumber(by.organization, 'home', 2);
      return { landing: landing(revised('home', 'two')), result: null };
    });
    expect(landed?.revision(pageRevision, 'home').version).toBe(3);
  });

  test('of many at once gives each a number of its own, or says that the object was changed', async () => {
    const by = await newOrganization('org_many');
    const processes = [process(), process()];
    await land(process().revisions, by, 'home', 'first');
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) => {
        const { revisions } = processes[index % 2] ?? process();
        return land(revisions, by, 'home', `text ${index}`);
      }),
    );
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    for (const reason of refused) expect(reason).toMatchObject({ kind: 'conflict' });
    const versions = (await process().revisions.list(by.organization, pageRevision, 'home')).map((one) => one.version);
    const count = 1 + outcomes.length - refused.length;
    expect(versions).toEqual(Array.from({ length: count }, (_, index) => count - index));
  });

  test('that is judged anew leaves nothing of the judgement before', async () => {
    const by = await newOrganization('org_anew');
    const { revisions } = process();
    let judgements = 0;
    const { landed } = await revisions.land(by, async (states) => {
      const seen = states.get(pageKind, 'other')?.state.text ?? 'nothing';
      judgements++;
      if (judgements === 1) await land(process().revisions, by, 'other', 'something');
      return { landing: landing(revised('home', seen)), result: null };
    });
    expect(judgements).toBe(2);
    expect(landed?.revision(pageRevision, 'home').version).toBe(1);
    expect(await revisions.list(by.organization, pageRevision, 'home')).toMatchObject([{ content: 'something' }]);
  });

  test('tells events and further rows which revisions came about, and is undone with them', async () => {
    const by = await newOrganization('org_undone');
    const { revisions, live } = process();
    const told: (number | undefined)[] = [];
    const judge = (fails: boolean) => async () => ({
      landing: {
        ...landing(revised('home', 'x')),
        events: (at: { revision: (kind: RevisionKind, id: string) => LiveRevision }) => {
          told.push(at.revision(pageRevision, 'home').version);
          return [];
        },
        also: async () => {
          if (fails) throw new Refusal('conflict', 'Not today.');
        },
      },
      result: null,
    });
    await expect(revisions.land(by, judge(true))).rejects.toThrow('Not today.');
    expect(await revisions.list(by.organization, pageRevision, 'home')).toEqual([]);
    expect((await live.at(by.organization, 1)).get(pageKind, 'home')).toBeNull();
    await revisions.land(by, judge(false));
    expect(told).toEqual([1]);
  });

  test('of nothing makes no version', async () => {
    const by = await newOrganization('org_nothing');
    const { revisions } = process();
    expect(await revisions.land(by, async () => ({ landing: null, result: 'same' }))).toEqual({
      landed: null,
      result: 'same',
    });
  });

  const draft = (id: string, text: string, baseVersion: number) => ({
    kind: pageRevision,
    id,
    baseVersion,
    content: text,
    comment: '',
  });

  test('may bring drafts, which are based on what lands with them and go live with nothing', async () => {
    const by = await newOrganization('org_drafts');
    const { revisions, live } = process();
    await land(revisions, by, 'about', 'one');
    const told: [number, number][] = [];
    const { landed } = await revisions.land(by, async () => ({
      landing: {
        ...landing(revised('home', 'live')),
        drafts: [draft('home', 'later', 0), draft('about', 'other', 1)],
        events: (_at, drafts) => {
          told.push(...drafts.map(({ version, baseVersion }): [number, number] => [version, baseVersion]));
          return [];
        },
      },
      result: null,
    }));
    expect(told).toEqual([
      [2, 1],
      [2, 1],
    ]);
    expect(await revisions.list(by.organization, pageRevision, 'home')).toEqual([
      {
        id: expect.stringMatching(/^prev_/),
        version: 2,
        baseVersion: 1,
        status: 'draft',
        comment: '',
        content: 'later',
        createdBy: actor,
        publishedBy: null,
        dateUpdated: landed?.instant,
        datePublished: null,
      },
      expect.objectContaining({ version: 1, status: 'published', content: 'live' }),
    ]);
    const states = await live.at(by.organization, landed?.version ?? 0);
    expect([states.get(pageKind, 'home')?.state.text, states.get(pageKind, 'about')?.state.text]).toEqual([
      'live',
      'one',
    ]);
  });

  test('of drafts alone makes no version of the configuration, and numbers them like all others', async () => {
    const by = await newOrganization('org_alone');
    const { revisions } = process();
    const before = await land(revisions, by, 'home', 'one');
    const drafts = await Promise.all(
      ['a', 'b', 'c'].map((text) =>
        revisions.land(by, async () => ({ landing: { ...landing(), drafts: [draft('home', text, 1)] }, result: text })),
      ),
    );
    expect(drafts.map(({ landed, result }) => [landed, result])).toEqual([
      [null, 'a'],
      [null, 'b'],
      [null, 'c'],
    ]);
    const after = await land(revisions, by, 'home', 'two');
    expect(after.landed?.version).toBe((before.landed?.version ?? 0) + 1);
    const versions = (await revisions.list(by.organization, pageRevision, 'home')).map(({ version, status }) => [
      version,
      status,
    ]);
    expect(versions).toEqual([
      [5, 'published'],
      [4, 'draft'],
      [3, 'draft'],
      [2, 'draft'],
      [1, 'published'],
    ]);
  });

  test('can be part of a larger publication', async () => {
    const by = await newOrganization('org_part');
    const { revisions, recorder, live } = process();
    await land(revisions, by, 'home', 'one');
    const { landed } = await recorder.publish(by.organization, actor, () => ({
      publication: together([
        { changes: [{ kind: noteKind, id: 'gone', state: null }] },
        revisions.asPublication(by.organization, actor, landing(revised('home', 'two'), revised('about', 'one'))),
      ]),
      result: null,
    }));
    const states = await live.at(by.organization, landed?.version ?? 0);
    expect(states.get(pageKind, 'home')?.state).toMatchObject({ text: 'two', revision: { version: 2 } });
    expect(await revisions.list(by.organization, pageRevision, 'about')).toMatchObject([{ version: 1 }]);
  });

  test('begins at 1 again once the revisions of an object are forgotten', async () => {
    const by = await newOrganization('org_forgotten');
    const { revisions } = process();
    await land(revisions, by, 'home', 'one');
    await land(revisions, by, 'about', 'one');
    await database.db.transaction().execute((tx) => revisions.forget(tx, by.organization, pageRevision, 'home'));
    expect(await revisions.list(by.organization, pageRevision, 'home')).toEqual([]);
    expect(await revisions.list(by.organization, pageRevision, 'about')).toHaveLength(1);
    const { landed } = await land(revisions, by, 'home', 'again');
    expect(landed?.revision(pageRevision, 'home').version).toBe(1);
  });
});
