import {
  archiveSavedGroup,
  type BodyInputOf,
  deleteProject,
  deleteSavedGroup,
  getSavedGroup,
  getSavedGroupReferences,
  listSavedGroups,
  postAttribute,
  postProject,
  postSavedGroup,
  putAttribute,
  type SavedGroup,
  unarchiveSavedGroup,
  updateFeature,
  updateSavedGroup,
} from '@halyard/contract';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { freshId, newFeature, newSavedGroup, ruleFor } from '../../../testing/objects.ts';
import { startService, type TestService } from '../../../testing/service.ts';

const roleIn = (project: string, role: string) => ({
  project,
  role,
  limitAccessByEnvironment: false,
  environments: [],
});
const nesting = (...ids: string[]) => JSON.stringify({ $savedGroups: ids });

describe('saved groups', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
    for (const [property, datatype] of [
      ['age', 'number'],
      ['email', 'secureString'],
      ['premium', 'boolean'],
    ] as const) {
      await service.admin.call(postAttribute, { body: { property, datatype } });
    }
  });
  afterEach(() => service.setSettings({}));
  afterAll(() => service.stop());

  const newGroup = (body: Parameters<typeof newSavedGroup>[1] = {}) => newSavedGroup(service.admin, body);
  const newProject = async () => (await service.admin.call(postProject, { body: { name: 'P' } })).project.id;
  const update = (id: string, body: BodyInputOf<typeof updateSavedGroup>) =>
    service.admin.call(updateSavedGroup, { params: { id }, body });
  const get = async (id: string): Promise<SavedGroup> =>
    (await service.admin.call(getSavedGroup, { params: { id } })).savedGroup;
  const archive = (id: string) =>
    service.admin.call(archiveSavedGroup, { params: { id }, body: { ignoreWarnings: true } });
  const total = async () => (await service.admin.call(listSavedGroups)).total;

  describe('are created', () => {
    test('as a list of values of an attribute, live at once, with everything that was not said filled in', async () => {
      const { savedGroup } = await service.admin.call(postSavedGroup, {
        body: { name: ' Testers ', attributeKey: 'id', values: ['u2', 'u1', 'u2'], owner: service.owner.email },
      });
      expect(savedGroup).toEqual({
        id: expect.stringMatching(/^grp_/),
        type: 'list',
        name: 'Testers',
        owner: service.owner.id,
        ownerEmail: service.owner.email,
        description: '',
        condition: '',
        attributeKey: 'id',
        values: ['u2', 'u1'],
        projects: [],
        archived: false,
        useEmptyListGroup: true,
        dateCreated: savedGroup.dateCreated,
        dateUpdated: savedGroup.dateCreated,
      });
      expect(await get(savedGroup.id)).toEqual(savedGroup);
    });

    test('as a condition, owned by nobody where a key that acts as itself names nobody', async () => {
      const group = await newGroup({ condition: '{"country":"DE"}' });
      expect(group).toMatchObject({ type: 'condition', condition: '{"country":"DE"}', attributeKey: '', values: [] });
      expect(group).toMatchObject({ owner: '', useEmptyListGroup: true });
      expect(group).not.toHaveProperty('ownerEmail');
    });

    test('with a first revision, an audit entry and one event', async () => {
      const group = await newGroup({ values: ['u1'] });
      const { audits, events, revisions } = await service.history(group.id);
      expect(revisions).toMatchObject([{ version: 1, status: 'merged', base_version: 0, kind: 'saved-group' }]);
      expect(revisions[0]?.id).toMatch(/^rev_/);
      expect(audits).toMatchObject([
        { event: 'savedGroup.created', entity_kind: 'savedGroup', entity_name: 'Test', entity_id: group.id },
      ]);
      expect(events.map(({ event }) => event)).toEqual(['savedGroup.created']);
      expect(events[0]?.data).toMatchObject({
        object: 'savedGroup',
        data: { object: group },
        projects: [],
        tags: [],
        environments: [],
      });
    });

    test.each<[string, object, RegExp]>([
      ['no name', { name: undefined }, /name/],
      ['an empty name', { name: ' ' }, /name/],
      [
        'neither a condition nor a list',
        { attributeKey: undefined, values: undefined },
        /condition, or an attributeKey/,
      ],
      ['a list without values', { values: undefined }, /condition, or/],
      ['a list by its type, without an attribute', { type: 'list', attributeKey: undefined }, /attributeKey/],
      ['a list by its type, without values', { type: 'list', values: undefined }, /needs values/],
      ['a list with a condition', { type: 'list', condition: '{"a":1}' }, /takes no condition/],
      ['a condition with values', { condition: '{"a":1}' }, /no attributeKey/],
      ['a condition by its type, with values', { type: 'condition' }, /no attributeKey/],
      ['an unknown type', { type: 'set' }, /type/],
      ['an unknown attribute', { attributeKey: 'colour' }, /Unknown attribute "colour"/],
      ['an attribute of another datatype', { attributeKey: 'premium' }, /boolean/],
      ['values that are numbers', { values: [1] }, /values\.0/],
      ['values that are none of a number', { attributeKey: 'age', values: ['1', 'x', ''] }, /"x", ""/],
      ['an unknown owner', { owner: 'u_x' }, /no member/],
      ['an unknown project', { projects: ['prj_x'] }, /prj_x/],
      ['a key that the interface does not know', { description: 'x' }, /\[description\] is not known/],
    ])('never with %s: 400, and nothing is stored', async (_, body, message) => {
      const before = await total();
      const list = { name: 'Test', attributeKey: 'id', values: ['u1'] };
      const refusal = await service.admin.refused(400, postSavedGroup, { body: { ...list, ...body } });
      expect(refusal.message).toMatch(message);
      expect(await total()).toBe(before);
    });

    test.each<[string, string, RegExp]>([
      ['no JSON', '{', /is not JSON/],
      ['no object', '[]', /must be a JSON object/],
      ['empty', '{}', /must say something/],
      ['blank', '', /must say something/],
      ['of unknown operators', '{"a":{"$like":"x"}}', /\$like/],
      ['naming an unknown group', nesting('grp_x'), /unknown saved group: "grp_x"/],
      ['nesting no group', nesting(), /list of ids/],
      ['nesting what is no list', '{"$savedGroups":"grp_x"}', /list of ids/],
      ['asking for membership in an unknown list', '{"id":{"$inGroup":"grp_x"}}', /unknown saved group: "grp_x"/],
      ['asking for membership in nothing', '{"id":{"$notInGroup":["grp_x"]}}', /the id of a saved group/],
      ['nesting a group for elements', '{"tags":{"$elemMatch":{"a":1,"$savedGroups":["grp_x"]}}}', /of an element/],
    ])('never with a condition that is %s', async (_, condition, message) => {
      expect((await service.admin.refused(400, postSavedGroup, { body: { name: 'Test', condition } })).message).toMatch(
        message,
      );
    });

    test('with conditions that name groups of the right kind', async () => {
      const list = await newGroup();
      const condition = await newGroup({ condition: `{"email":{"$inGroup":"${list.id}"}}` });
      await newGroup({ condition: nesting(list.id, condition.id) });
      const wrong = { name: 'Test', condition: `{"id":{"$inGroup":"${condition.id}"}}` };
      expect((await service.admin.refused(400, postSavedGroup, { body: wrong })).message).toContain('$savedGroups');
    });

    test('with registered attributes only, where the organization asks for it', async () => {
      const project = await newProject();
      await service.admin.call(postAttribute, {
        body: { property: freshId(), datatype: 'string', projects: [project] },
      });
      await service.admin.call(postAttribute, {
        body: { property: 'inProject', datatype: 'string', projects: [project] },
      });
      await service.setSettings({ requireRegisteredAttributes: { isOn: true, requireProjectScoping: true } });
      const condition = '{"$or":[{"colour":"red"},{"inProject.x":1},{"country":"DE"}]}';
      const { message } = await service.admin.refused(400, postSavedGroup, { body: { name: 'Test', condition } });
      expect(message).toContain('"colour", "inProject", "country"');
      await newGroup({ condition: '{"inProject":"x","id":"u1"}', projects: [project] });
    });

    test('of archived attributes not any more', async () => {
      await service.admin.call(postAttribute, { body: { property: 'gone', datatype: 'string' } });
      await service.admin.call(putAttribute, { params: { property: 'gone' }, body: { archived: true } });
      await service.admin.refused(400, postSavedGroup, { body: { name: 'Test', attributeKey: 'gone', values: [] } });
    });

    test('by who may create them in each of their projects', async () => {
      const [mine, other] = [await newProject(), await newProject()];
      const key = await service.withKey({ role: 'readonly', projectRoles: [roleIn(mine, 'admin')] });
      const body = { name: 'Test', attributeKey: 'id', values: [] };
      await key.call(postSavedGroup, { body: { ...body, projects: [mine] } });
      const refusal = await key.refused(403, postSavedGroup, { body: { ...body, projects: [mine, other] } });
      expect(refusal.message).toContain('createSavedGroups');
      await key.refused(403, postSavedGroup, { body });
    });
  });

  describe('are read', () => {
    test('by id, archived ones included, and page by page', async () => {
      const group = await newGroup();
      await archive(group.id);
      const { savedGroups, total: all } = await service.admin.call(listSavedGroups, { query: { limit: 100 } });
      expect(savedGroups.map(({ id }) => id)).toEqual(savedGroups.map(({ id }) => id).toSorted());
      expect(savedGroups.find(({ id }) => id === group.id)).toMatchObject({ archived: true });
      const page = await service.admin.call(listSavedGroups, { query: { limit: 2, offset: 1 } });
      expect(page).toMatchObject({ limit: 2, offset: 1, count: 2, total: all, hasMore: true, nextOffset: 3 });
      expect(page.savedGroups).toEqual(savedGroups.slice(1, 3));
      for (const query of [{ limit: 0 }, { limit: 101 }, { offset: -1 }, { skipPagination: 'true' }]) {
        await service.admin.refused(400, listSavedGroups, { query });
      }
    });

    test('by whoever may read in one of their projects; to others they do not exist', async () => {
      const project = await newProject();
      const group = await newGroup({ projects: [project] });
      const key = await service.withKey({ role: 'admin', projectRoles: [roleIn(project, 'nobody')] });
      const params = { id: group.id };
      await key.refused(404, getSavedGroup, { params });
      await key.refused(404, updateSavedGroup, { params, body: { name: 'x' } });
      await key.refused(404, archiveSavedGroup, { params, body: {} });
      await key.refused(404, unarchiveSavedGroup, { params });
      await key.refused(404, deleteSavedGroup, { params });
      await key.refused(404, getSavedGroupReferences, { params });
      expect(
        (await key.call(listSavedGroups, { query: { limit: 100 } })).savedGroups.map(({ id }) => id),
      ).not.toContain(group.id);
      await key.refused(400, postSavedGroup, { body: { name: 'Test', condition: nesting(group.id) } });
      await service.admin.refused(404, getSavedGroup, { params: { id: 'grp_x' } });
    });
  });

  describe('are changed', () => {
    test('in what is said; what is left out stays, and what it is stays in any case', async () => {
      const group = await newGroup({ values: ['u1'] });
      service.clock.advance(1_000);
      const { savedGroup } = await update(group.id, {
        name: 'Other',
        values: ['u3', 'u2', 'u3'],
        owner: service.owner.id,
      });
      expect(savedGroup).toEqual({
        ...group,
        name: 'Other',
        values: ['u3', 'u2'],
        owner: service.owner.id,
        ownerEmail: service.owner.email,
        dateUpdated: savedGroup.dateUpdated,
      });
      expect(savedGroup.dateUpdated > group.dateUpdated).toBe(true);
      expect(await get(group.id)).toEqual(savedGroup);
    });

    test('as one merged revision, which is told before the change is', async () => {
      const project = await newProject();
      const group = await newGroup({ values: ['u1'], owner: service.owner.id });
      const { savedGroup } = await update(group.id, { values: ['u2'], projects: [project] });
      const { audits, events, revisions } = await service.history(group.id);
      expect(revisions).toMatchObject([{ version: 1 }, { version: 2, base_version: 1, status: 'merged' }]);
      expect(revisions[1]?.content).toMatchObject({ values: ['u2'], projects: [project], attributeKey: 'id' });
      expect(audits[1]).toMatchObject({ event: 'savedGroup.updated' });
      expect(events.map(({ event }) => event)).toEqual([
        'savedGroup.created',
        'savedGroup.revision.published',
        'savedGroup.updated',
      ]);
      const routing = { projects: [project], tags: [], environments: ['production'] };
      const by = 'SECRET_API_KEY';
      const at = savedGroup.dateUpdated;
      expect(events[1]?.data).toMatchObject({
        ...routing,
        data: {
          object: {
            id: revisions[1]?.id,
            version: 2,
            status: 'merged',
            authorId: by,
            contributors: [by],
            reviews: [],
            activityLog: [
              { action: 'created', userId: by, dateCreated: at },
              { action: 'merged', userId: by, dateCreated: at },
            ],
            resolution: { action: 'merged', userId: by, dateCreated: at },
            dateCreated: at,
            dateUpdated: at,
            baseSavedGroup: group,
            proposedSavedGroup: { ...group, values: ['u2'], projects: [project] },
            proposedChanges: [
              { op: 'replace', path: '/projects', value: [project] },
              { op: 'replace', path: '/values', value: ['u2'] },
            ],
          },
        },
      });
      expect(events[2]?.data).toMatchObject({
        ...routing,
        data: { object: savedGroup, previous_attributes: { values: ['u1'], projects: [] } },
      });
    });

    test('not at all by what they hold already: no revision, no version, no date', async () => {
      const group = await newGroup({ values: ['u1', 'u2'] });
      const version = await service.version();
      service.clock.advance(1_000);
      expect(await update(group.id, { values: ['u1', 'u2', 'u1'], name: 'Test', owner: '', projects: [] })).toEqual({
        savedGroup: group,
      });
      expect(await update(group.id, {})).toEqual({ savedGroup: group });
      const { audits, events, revisions } = await service.history(group.id);
      expect([audits.length, events.length, revisions.length]).toEqual([1, 1, 1]);
      expect(await service.version()).toBe(version);
    });

    test('without telling environments of what lets nobody else in', async () => {
      const group = await newGroup();
      await update(group.id, { name: 'Renamed' });
      const { events } = await service.history(group.id);
      expect(events.slice(1).map(({ data }) => data)).toMatchObject([{ environments: [] }, { environments: [] }]);
    });

    test('never into the other type, nor into what could not be created', async () => {
      const list = await newGroup({ values: ['u1'] });
      const condition = await newGroup({ condition: '{"country":"DE"}' });
      const refused = async (id: string, body: object) =>
        (await service.admin.refused(400, updateSavedGroup, { params: { id }, body })).message;
      expect(await refused(list.id, { condition: '{"a":1}' })).toContain('is a list');
      expect(await refused(condition.id, { values: [] })).toContain('is a condition');
      for (const body of [{ type: 'list' }, { attributeKey: 'id' }, { archived: true }, { name: '' }]) {
        await refused(list.id, body);
      }
      expect(await refused(list.id, { owner: 'u_x' })).toContain('no member');
      expect(await refused(list.id, { projects: ['prj_x'] })).toContain('prj_x');
      expect(await refused(condition.id, { condition: '{}' })).toContain('must say something');
      expect(await refused(condition.id, { condition: nesting('grp_x') })).toContain('grp_x');
      expect([await get(list.id), await get(condition.id)]).toEqual([list, condition]);
      await service.admin.refused(404, updateSavedGroup, { params: { id: 'grp_x' }, body: {} });
    });

    test('never so that one nests itself, however long the way', async () => {
      const first = await newGroup({ condition: '{"country":"DE"}' });
      const second = await newGroup({ condition: nesting(first.id) });
      const third = await newGroup({ condition: `{"$not":${nesting(second.id)}}` });
      for (const id of [first.id, second.id, third.id]) {
        const input = { params: { id: first.id }, body: { condition: `{"$or":[{"a":1},${nesting(id)}]}` } };
        expect((await service.admin.refused(400, updateSavedGroup, input)).message).toContain('nest itself');
      }
      expect(await get(first.id)).toEqual(first);
    });

    test('never so that they nest more than nine deep, from below or from above', async () => {
      const ids: string[] = [];
      for (let depth = 0; depth < 9; depth++) {
        const [below] = ids.slice(-1);
        ids.push((await newGroup({ condition: below === undefined ? '{"country":"DE"}' : nesting(below) })).id);
      }
      const [lowest = '', next = ''] = ids;
      const body = { name: 'Test', condition: nesting(ids.at(-1) ?? '') };
      expect((await service.admin.refused(400, postSavedGroup, { body })).message).toContain('9 deep');
      const list = await newGroup();
      const below = { params: { id: lowest }, body: { condition: nesting(list.id) } };
      expect((await service.admin.refused(400, updateSavedGroup, below)).message).toContain('nests this one');
      await update(next, { condition: nesting(list.id) });
    });

    test('never so that they grow without bounds where they nest each other many times', async () => {
      const condition = (length: number) => JSON.stringify({ country: 'x'.repeat(length) });
      const { id } = await newGroup({ condition: condition(1_000) });
      let nested = id;
      for (let round = 0; round < 2; round++) {
        nested = (await newGroup({ condition: nesting(...Array.from({ length: 40 }, () => nested)) })).id;
      }
      const body = { name: 'Test', condition: nesting(...Array.from({ length: 40 }, () => nested)) };
      expect((await service.admin.refused(400, postSavedGroup, { body })).message).toContain('too large');
      const below = { params: { id }, body: { condition: condition(3_000) } };
      expect((await service.admin.refused(400, updateSavedGroup, below)).message).toContain('nests this one');
      await update(id, { condition: condition(2_000) });
    });

    test('by who may draft and publish in their projects, those before and those after', async () => {
      const [mine, other] = [await newProject(), await newProject()];
      const key = await service.withKey({ role: 'readonly', projectRoles: [roleIn(mine, 'admin')] });
      const group = await newGroup({ projects: [mine] });
      const foreign = await newGroup({ projects: [mine, other] });
      await key.call(updateSavedGroup, { params: { id: group.id }, body: { name: 'Mine' } });
      const move = { params: { id: group.id }, body: { projects: [mine, other] } };
      expect((await key.refused(403, updateSavedGroup, move)).message).toContain('editSavedGroupDrafts');
      await key.refused(403, updateSavedGroup, { params: { id: group.id }, body: { projects: [] } });
      await key.refused(403, updateSavedGroup, { params: { id: foreign.id }, body: { name: 'Mine' } });
      await key.refused(403, archiveSavedGroup, { params: { id: foreign.id }, body: {} });
      await key.refused(403, unarchiveSavedGroup, { params: { id: foreign.id } });
      await key.refused(403, deleteSavedGroup, { params: { id: foreign.id } });
      expect((await get(group.id)).projects).toEqual([mine]);
    });

    test('past an approval only by who may: saying so without the right is 403', async () => {
      const project = await newProject();
      const group = await newGroup({ projects: [project] });
      const reader = await service.withKey({ role: 'readonly' });
      const input = { params: { id: group.id }, body: { name: 'x', bypassApproval: true } };
      await reader.refused(403, updateSavedGroup, input);
      await service.admin.call(updateSavedGroup, input);
      await service.admin.call(postSavedGroup, { body: { name: 'x', condition: '{"a":1}', bypassApproval: true } });
    });

    test('onto unregistered attributes not at all where the organization asks for registered ones: a gate says which', async () => {
      const group = await newGroup({ condition: '{"colour":"red"}' });
      await service.setSettings({ requireRegisteredAttributes: { isOn: true, requireProjectScoping: false } });
      const params = { id: group.id };
      const refusal = await service.admin.refused(422, updateSavedGroup, {
        params,
        body: { condition: '{"colour":"red","size":5}' },
      });
      expect(refusal.gates).toEqual([
        {
          type: 'unregistered-attribute',
          severity: 'blocker',
          messages: [expect.stringContaining('"size"')],
          override: null,
          requiresPermission: null,
          resolution: null,
        },
      ]);
      expect(refusal.gates?.[0]?.messages[0]).not.toContain('colour');
      // What it used before it may go on using.
      await update(group.id, { condition: '{"colour":"blue","id":"u1"}' });
    });

    test('by several at once one after the other, or with a conflict, and every success is a revision', async () => {
      const group = await newGroup();
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          service.admin.request(updateSavedGroup, { params: { id: group.id }, body: { values: [`u${index}`] } }),
        ),
      );
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
      const { revisions } = await service.history(group.id);
      expect(revisions.length).toBe(1 + statuses.filter((status) => status === 200).length);
      expect(revisions.at(-1)?.content).toMatchObject({ values: (await get(group.id)).values });
    });
  });

  test('have no more than 1 MiB of values, whoever asks', async () => {
    const { id } = await newGroup();
    const tooLong = ['x'.repeat(600_000), 'é'.repeat(300_000)];
    const { message } = await service.admin.refused(400, updateSavedGroup, {
      params: { id },
      body: { values: tooLong },
    });
    expect(message).toContain('1048576 bytes');
    const longest = ['x'.repeat(2 ** 20 - 4)];
    expect((await update(id, { values: longest })).savedGroup.values).toEqual(longest);
    const { audits, events } = await service.history(id);
    expect(audits).toHaveLength(2);
    expect(events).toHaveLength(3);
  });

  test('do not grow where rules name them so often that their features would be too long for SDKs', async () => {
    const short = await newGroup({ values: ['u1'] });
    const nested = await newGroup({ condition: nesting(short.id) });
    const rules = Array.from({ length: 40 }, (_, index) => ruleFor(index % 2 === 0 ? short.id : nested.id));
    const feature = await newFeature(service, { rules });
    const long = Array.from({ length: 45_000 }, (_, index) => `user-${index}`);
    const { message } = await service.admin.refused(400, updateSavedGroup, {
      params: { id: short.id },
      body: { values: long },
    });
    expect(message).toContain('too large for SDKs');
    expect((await get(short.id)).values).toEqual(['u1']);
    await update(short.id, { values: long.slice(0, 1_000) });
    await service.admin.call(updateFeature, { params: { id: feature.id }, body: { rules: rules.slice(0, 4) } });
    expect((await update(short.id, { values: long })).savedGroup.values).toHaveLength(long.length);
  });

  test('have as many values as 1 MiB holds', async () => {
    const values = Array.from({ length: 120_000 }, (_, index) => index.toString(36));
    const { id } = await newGroup({ values });
    expect((await get(id)).values).toEqual(values);
  });

  test('are named by the rules of a feature as often as their length allows', async () => {
    const { id } = await newGroup({ values: ['x'.repeat(2 ** 20 - 4)] });
    const rules = (count: number) => Array.from({ length: count }, () => ruleFor(id));
    const feature = await newFeature(service, { environments: { production: { enabled: false } }, rules: rules(15) });
    const input = { params: { id: feature.id }, body: { rules: rules(17) } };
    expect((await service.admin.refused(400, updateFeature, input)).message).toContain('fewer rules');
    expect(
      (await service.admin.call(updateFeature, { ...input, body: { rules: rules(1) } })).feature.rules,
    ).toHaveLength(1);
  });

  describe('are archived', () => {
    test('and taken out again, each as a revision; doing so twice changes nothing', async () => {
      const group = await newGroup();
      const archived = await service.admin.call(archiveSavedGroup, { params: { id: group.id } });
      expect(archived).toEqual({ savedGroup: { ...group, archived: true, dateUpdated: expect.any(String) } });
      expect(await archive(group.id)).toEqual(archived);
      const { savedGroup } = await service.admin.call(unarchiveSavedGroup, { params: { id: group.id } });
      expect(savedGroup.archived).toBe(false);
      await service.admin.call(unarchiveSavedGroup, { params: { id: group.id } });
      const { revisions, events } = await service.history(group.id);
      expect(revisions.map(({ version }) => version)).toEqual([1, 2, 3]);
      expect(events.map(({ event }) => event)).toEqual([
        'savedGroup.created',
        'savedGroup.revision.published',
        'savedGroup.updated',
        'savedGroup.revision.published',
        'savedGroup.updated',
      ]);
    });

    test('although they are in use by who says so, or may pass approvals', async () => {
      const group = await newGroup();
      const params = { id: group.id };
      await newFeature(service, { rules: [ruleFor(group.id)] });
      const { savedGroup, bypassedGates } = await service.admin.call(archiveSavedGroup, { params, body: {} });
      expect(savedGroup.archived).toBe(true);
      expect(bypassedGates).toEqual([
        { type: 'archive-dependents', outcome: 'bypassed', via: 'bypassApprovalPermission' },
      ]);
      await service.admin.call(unarchiveSavedGroup, { params });
      const flagged = await archive(group.id);
      expect(flagged.bypassedGates).toEqual([
        { type: 'archive-dependents', outcome: 'bypassed', via: 'ignoreWarnings' },
      ]);
    });
  });

  describe('are deleted', () => {
    test('with their revisions, once they are archived and nothing refers to them', async () => {
      const group = await newGroup();
      const params = { id: group.id };
      expect((await service.admin.refused(400, deleteSavedGroup, { params })).message).toContain('Archive it first');
      await archive(group.id);
      expect(await service.admin.call(deleteSavedGroup, { params })).toEqual({ deletedId: group.id });
      await service.admin.refused(404, getSavedGroup, { params });
      await service.admin.refused(404, deleteSavedGroup, { params });
      const { audits, events, revisions } = await service.history(group.id);
      expect(revisions).toEqual([]);
      expect(audits.at(-1)).toMatchObject({ event: 'savedGroup.deleted' });
      expect(events.at(-1)).toMatchObject({ event: 'savedGroup.deleted', object_id: group.id });
      expect(events.at(-1)?.data).toMatchObject({
        data: { object: { ...group, archived: true, dateUpdated: expect.any(String) } },
      });
    });

    test('at once where the organization lets the API skip reviews', async () => {
      await service.setSettings({ restApiBypassesReviews: true });
      const { id } = await newGroup();
      expect(await service.admin.call(deleteSavedGroup, { params: { id } })).toEqual({ deletedId: id });
    });

    test('never while something refers to them, if only an archived feature; only counts are told [flags M108]', async () => {
      const group = await newGroup();
      const nested = await newGroup();
      await newGroup({ condition: nesting(nested.id) });
      const feature = await newFeature(service, { rules: [ruleFor(group.id)] });
      await service.admin.call(updateFeature, { params: { id: feature.id }, body: { archived: true } });
      for (const [id, counted] of [
        [group.id, '1 feature'],
        [nested.id, '1 other saved group'],
      ] as const) {
        await archive(id);
        const { message } = await service.admin.refused(400, deleteSavedGroup, { params: { id } });
        expect(message).toContain(counted);
        expect(message).not.toContain(feature.id);
        expect((await get(id)).archived).toBe(true);
      }
      await service.admin.call(updateFeature, { params: { id: feature.id }, body: { rules: [] } });
      await service.admin.call(deleteSavedGroup, { params: { id: group.id } });
    });

    test('or named by a new rule, whichever comes first: never both', async () => {
      for (let round = 0; round < 5; round++) {
        const { id } = await newGroup();
        await archive(id);
        const feature = await newFeature(service);
        const [deletion, naming] = await Promise.all([
          service.admin.request(deleteSavedGroup, { params: { id } }),
          service.admin.request(updateFeature, { params: { id: feature.id }, body: { rules: [ruleFor(id)] } }),
        ]);
        expect([deletion.status, naming.status].toSorted()).toEqual([200, 400]);
      }
    });
  });

  describe('are referred to', () => {
    test('by features and groups, directly and through one group, as far as the caller may see', async () => {
      const project = await newProject();
      const group = await newGroup({ name: 'Used' });
      const direct = await newFeature(service, { rules: [ruleFor(group.id)], project });
      const raw = await newFeature(service, {
        rules: [
          { type: 'force', value: 'true', enabled: false, condition: `{"id":{"\\u0024notInGroup":"${group.id}"}}` },
        ],
      });
      const nester = await newGroup({
        name: 'Nester',
        condition: `{"$not":${nesting(group.id)}}`,
        projects: [project],
      });
      const through = await newFeature(service, { rules: [ruleFor(nester.id)] });
      const far = await newGroup({ condition: nesting(nester.id) });
      await newFeature(service, { rules: [ruleFor(far.id)] });
      const params = { id: group.id };
      const references = await service.admin.call(getSavedGroupReferences, { params });
      expect(references.features).toHaveLength(3);
      expect(references).toEqual({
        features: expect.arrayContaining([
          { id: direct.id, name: direct.id, project },
          { id: raw.id, name: raw.id, project: '' },
          { id: through.id, name: through.id, project: '' },
        ]),
        experiments: [],
        savedGroups: [{ id: nester.id, groupName: 'Nester', projects: [project] }],
      });
      const key = await service.withKey({ role: 'admin', projectRoles: [roleIn(project, 'nobody')] });
      const seen = await key.call(getSavedGroupReferences, { params });
      expect(seen.features.map(({ id }) => id).toSorted()).toEqual([raw.id, through.id].toSorted());
      expect(seen.savedGroups).toEqual([]);
    });
  });

  describe('of a project that is deleted', () => {
    test('lose it; one that was in no other stays there, in reach of nobody new', async () => {
      const [gone, kept] = [await newProject(), await newProject()];
      const both = await newGroup({ projects: [gone, kept] });
      const only = await newGroup({ projects: [gone] });
      await service.admin.call(deleteProject, { params: { id: gone } });
      expect((await get(both.id)).projects).toEqual([kept]);
      expect((await get(only.id)).projects).toEqual([gone]);
      const { revisions, events } = await service.history(both.id);
      expect(revisions).toMatchObject([{ version: 1 }, { version: 2, comment: `The project ${gone} was deleted` }]);
      expect(events.at(-1)).toMatchObject({ event: 'savedGroup.updated' });
      expect((await service.history(only.id)).revisions).toHaveLength(1);
      // It may be sent back as it is.
      await update(only.id, { projects: [gone], name: 'Renamed' });
    });
  });

  test('a reader may look but not write', async () => {
    const reader = await service.withKey({ role: 'readonly' });
    const { id } = await newGroup();
    const params = { id };
    await reader.call(getSavedGroup, { params });
    await reader.call(listSavedGroups);
    await reader.call(getSavedGroupReferences, { params });
    await reader.refused(403, postSavedGroup, { body: { name: 'x', condition: '{"a":1}' } });
    await reader.refused(403, updateSavedGroup, { params, body: {} });
    await reader.refused(403, archiveSavedGroup, { params, body: {} });
    await reader.refused(403, unarchiveSavedGroup, { params });
    await reader.refused(403, deleteSavedGroup, { params });
  });
});
