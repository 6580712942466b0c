import {
  archiveSavedGroup,
  deleteEnvironment,
  deleteFeature,
  deleteProject,
  deleteSavedGroup,
  type Feature,
  getFeature,
  postProject,
  revertFeature,
  revertFeatureV1,
  toggleFeature,
  updateFeature,
} from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../testing/client.ts';
import { payloadOf } from '../../testing/delivery.ts';
import { addRevision } from '../../testing/flags/revisions.ts';
import { inlineExperiment } from '../../testing/flags/states.ts';
import { newConnection, newEnvironment, newFeature, newSavedGroup } from '../../testing/objects.ts';
import { startService, type TestService } from '../../testing/service.ts';

describe('reverting a feature', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
    await newEnvironment(service.admin, 'dev');
  });
  afterAll(() => service.stop());

  const revert = async (id: string, revision: number, more: object = {}, client: Client = service.admin) =>
    client.call(revertFeature, { params: { id }, body: { revision, ...more } });
  const refused = (status: number, id: string, body: object, client: Client = service.admin) =>
    client.refused(status, revertFeature, { params: { id }, body });
  const update = async (id: string, body: object): Promise<Feature> =>
    (await service.admin.call(updateFeature, { params: { id }, body })).feature;
  const get = async (id: string): Promise<Feature> =>
    (await service.admin.call(getFeature, { params: { id } })).feature;
  const remove = async (id: string) => {
    await update(id, { archived: true });
    await service.admin.call(deleteFeature, { params: { id } });
  };
  const newProject = async (name: string): Promise<string> =>
    (await service.admin.call(postProject, { body: { name } })).project.id;
  /** What of a feature is its content. */
  const contentOf = ({ revision: _revision, dateUpdated: _date, ...content }: Feature) => content;

  test('restores all of its content as a new revision, which SDKs get', async () => {
    const [required, project] = [await newFeature(service), await newProject('Old home')];
    const connection = await newConnection(service.admin);
    const created = await newFeature(service, {
      valueType: 'string',
      defaultValue: 'old',
      description: 'Old',
      tags: ['old'],
      project,
      targetingProjects: [await newProject('Old target')],
      prerequisites: [required.id],
      environments: { production: { enabled: true }, dev: { enabled: true } },
      rules: [{ type: 'force', value: 'ruled', condition: '{"country":"DE"}', environments: ['dev'] }],
    });
    const { id } = created;
    await update(id, {
      defaultValue: 'new',
      description: 'New',
      tags: ['new'],
      project: '',
      targetingAllProjects: true,
      prerequisites: [],
      environments: { dev: { enabled: false } },
      rules: [],
    });
    const { body, version } = await service.admin.answer(revertFeature, { params: { id }, body: { revision: 1 } });
    expect(body.bypassedGates).toBeUndefined();
    expect(contentOf(body.feature)).toEqual(contentOf(created));
    expect(body.feature.revision).toMatchObject({ version: 3, comment: 'Reverted to revision #1' });
    expect(await get(id)).toEqual(body.feature);
    expect(version).toBe(await service.version());

    const plain = await newFeature(service, { valueType: 'string', defaultValue: 'old' });
    await update(plain.id, { defaultValue: 'new' });
    const answer = await service.admin.answer(revertFeature, { params: { id: plain.id }, body: { revision: 1 } });
    const { features } = await payloadOf(service.url, connection.key, answer.version);
    expect(features[plain.id]).toEqual({ defaultValue: 'old' });
  });

  test('is recorded: which revision it restores, why, and three events in their order', async () => {
    const { id } = await newFeature(service);
    await update(id, { description: 'Second' });
    const { feature } = await revert(id, 1, { comment: 'It was better' });
    expect(feature.revision.comment).toBe('It was better');
    const { audits, events, revisions } = await service.history(id);
    expect(revisions.map((row) => [row.version, row.base_version, row.status, row.reverted_from])).toEqual([
      [1, 0, 'published', null],
      [2, 1, 'published', null],
      [3, 2, 'published', revisions[0]?.id],
    ]);
    expect(audits.map(({ event }) => event)).toEqual(['feature.create', 'feature.update', 'feature.revert']);
    const told = events.slice(-3).map(({ data }) => data as { event: string; data: { object: object } });
    expect(told.map(({ event }) => event)).toEqual([
      'feature.revision.reverted',
      'feature.revision.published',
      'feature.updated',
    ]);
    expect(told[0]?.data.object).toMatchObject({ version: 3, revertedToVersion: 1, comment: 'It was better' });
    expect(told[1]?.data.object).not.toHaveProperty('revertedToVersion');
    // A revert can be reverted, too.
    expect((await revert(id, 2)).feature).toMatchObject({ description: 'Second', revision: { version: 4 } });
  });

  test('is the same in the old version, whose answers say that it is deprecated', async () => {
    const { id } = await newFeature(service, { rules: [{ type: 'force', value: 'true' }] });
    await update(id, { rules: [] });
    const { body, headers } = await service.admin.answer(revertFeatureV1, { params: { id }, body: { revision: 1 } });
    expect(headers.get('deprecation')).toBe('true');
    expect(body.feature.environments.production?.rules).toMatchObject([{ type: 'force', value: 'true' }]);
    expect(body.feature.revision).toMatchObject({ version: 3, comment: 'Reverted to revision #1' });
    await service.admin.refused(400, revertFeatureV1, { params: { id }, body: { revision: 3 } });
    await service.admin.refused(404, revertFeatureV1, { params: { id }, body: { revision: 9 } });
  });

  test('to what is live, was never published, is the same or is not there is refused [flags M42]', async () => {
    const { id } = await newFeature(service);
    await update(id, { description: 'Second' });
    await update(id, { description: '' });
    const now = service.clock.now();
    const unpublished: number[] = [];
    for (const status of ['draft', 'discarded', 'pending-review', 'approved']) {
      unpublished.push(await addRevision(service, id, { status, date: now, content: { description: status } }));
    }
    const before = [await service.version(), await service.history(id)];
    expect((await refused(400, id, { revision: 3 })).message).toContain('live');
    for (const revision of unpublished) {
      expect((await refused(400, id, { revision })).message).toContain('only what was published');
    }
    expect((await refused(400, id, { revision: 1 })).message).toContain('same content');
    for (const revision of [99, 0, -1, 1.5, 1e300]) await refused(404, id, { revision });
    expect([await service.version(), await service.history(id)]).toEqual(before);
  });

  test.each<[object, string]>([
    [{}, '[revision] is required'],
    [{ revision: '1' }, '[revision] must be a number'],
    [{ revision: 1, comment: 5 }, '[comment]'],
    [{ revision: 1, bypassApproval: true }, '[bypassApproval] is not known'],
    [{ revision: 1, ignoreWarnings: 'yes' }, '[ignoreWarnings]'],
  ])('%j is refused', async (body, message) => {
    const { id } = await newFeature(service);
    expect((await refused(400, id, body)).message).toContain(message);
  });

  test('of a feature that is unknown is 404, before anything else is said', async () => {
    expect((await refused(404, 'unknown', { revision: 1 })).message).toContain('feature');
  });

  test('keeps the switch of an environment that the old revision did not know; one that is gone stays gone', async () => {
    await newEnvironment(service.admin, 'passing');
    const { id } = await newFeature(service, {
      environments: { production: { enabled: true }, passing: { enabled: true } },
      rules: [{ type: 'force', value: 'true', environments: ['passing'] }],
    });
    await newEnvironment(service.admin, 'later');
    await service.admin.call(toggleFeature, {
      params: { id },
      body: { environments: { later: true, production: false } },
    });
    await update(id, { rules: [] });
    await service.admin.call(deleteEnvironment, { params: { id: 'passing' } });
    const { feature } = await revert(id, 1);
    const on = Object.entries(feature.environments).flatMap(([name, { enabled }]) => (enabled ? [name] : []));
    expect(on.sort()).toEqual(['later', 'production']);
    expect(Object.keys(feature.environments)).not.toContain('passing');
    // What applied in the environment that is gone applies nowhere.
    expect(feature.rules).toMatchObject([{ allEnvironments: false, environments: ['passing'] }]);
    await service.admin.call(deleteEnvironment, { params: { id: 'later' } });
  });

  test('archives and brings back; whoever depends on it is counted before', async () => {
    const { id } = await newFeature(service);
    await update(id, { archived: true });
    await update(id, { archived: false });
    await newFeature(service, { prerequisites: [id] });
    for (const [flags, via] of [
      [{ ignoreWarnings: true }, 'ignoreWarnings'],
      [{}, 'bypassApprovalPermission'],
    ] as const) {
      const archived = await revert(id, 2, flags);
      expect(archived.feature.archived).toBe(true);
      expect(archived.bypassedGates).toEqual([{ type: 'archive-dependents', outcome: 'bypassed', via }]);
      expect((await revert(id, 1)).feature.archived).toBe(false);
    }
  });

  test('values that do not fit the schema of today are a warning, in either mode', async () => {
    for (const blockPublishOnSchemaError of [true, false]) {
      await service.setSettings({ blockPublishOnSchemaError });
      const { id } = await newFeature(service, { valueType: 'string', defaultValue: 'a' });
      const strict = JSON.stringify({ type: 'string', minLength: 5 });
      await update(id, { defaultValue: 'abcdef', jsonSchema: strict });
      const { gates, warnings } = await refused(422, id, { revision: 1 });
      expect(gates?.map(({ type, override }) => [type, override])).toEqual([['schema-validation', 'ignoreWarnings']]);
      expect(warnings?.[0]).toContain('The default value');
      expect(await get(id)).toMatchObject({ defaultValue: 'abcdef', revision: { version: 2 } });
      const { feature, bypassedGates } = await revert(id, 1, { ignoreWarnings: true });
      expect(feature.defaultValue).toBe('a');
      expect(bypassedGates?.map(({ via }) => via)).toEqual(['ignoreWarnings']);
      // Its schema is the one of then again, so nothing is said any more.
      await revert(id, 2);
      const skipped = await revert(id, 1, { skipSchemaValidation: true });
      expect(skipped.bypassedGates?.map(({ via }) => via)).toEqual(['skipSchemaValidation']);
    }
    await service.setSettings({});
  });

  test('never widens what named a project that is deleted meanwhile', async () => {
    const [home, target, other] = [await newProject('Home'), await newProject('Target'), await newProject('Other')];
    const { id } = await newFeature(service, {
      project: home,
      targetingProjects: [target],
      rules: [
        { type: 'force', value: 'true', projects: [target] },
        { type: 'force', value: 'true', projects: [target, other] },
      ],
    });
    const roaming = await newFeature(service, { targetingProjects: [target] });
    await update(id, { project: other, targetingProjects: [], rules: [] });
    await update(roaming.id, { targetingProjects: [other] });
    for (const project of [home, target]) await service.admin.call(deleteProject, { params: { id: project } });
    const { feature } = await revert(id, 1);
    expect(feature).toMatchObject({
      project: other,
      targetingAllProjects: false,
      // The last of a list stays, and matches nothing.
      targetingProjects: [target],
      rules: [
        { allProjects: false, projects: [target] },
        { allProjects: false, projects: [other] },
      ],
    });
    expect((await revert(roaming.id, 1)).feature.targetingProjects).toEqual([target]);
  });

  test('leaves the owner of today where the old one is no member any more', async () => {
    const gone = await service.newMember('gone@example.com');
    const { id } = await newFeature({ admin: service.admin, owner: { id: gone } });
    await update(id, { owner: service.owner.id, description: 'Second' });
    await service.db.deleteFrom('member').where('person', '=', gone).execute();
    expect((await revert(id, 1)).feature).toMatchObject({ owner: service.owner.id, description: '' });
  });

  test('does not bring back what is no longer possible', async () => {
    const [gone, circular] = [await newFeature(service), await newFeature(service)];
    const required = (prerequisite: string) => [{ id: prerequisite, condition: '{"value": true}' }];
    const byItself = await newFeature(service, { prerequisites: [gone.id] });
    const byRule = await newFeature(service, {
      rules: [{ type: 'force', value: 'true', prerequisites: required(gone.id) }],
    });
    const inCircle = await newFeature(service, { prerequisites: [circular.id] });
    for (const { id } of [byItself, inCircle]) await update(id, { prerequisites: [] });
    await update(byRule.id, { rules: [] });
    await remove(gone.id);
    await update(circular.id, { prerequisites: [inCircle.id] });
    for (const [{ id }, message] of [
      [byItself, `unknown prerequisite "${gone.id}"`],
      [byRule, 'rule 1'],
      [inCircle, 'would require each other'],
    ] as const) {
      const before = await get(id);
      expect((await refused(400, id, { revision: 1 })).message).toContain(message);
      expect(await get(id)).toEqual(before);
    }

    const group = await newSavedGroup(service.admin);
    const byGroup = await newFeature(service, {
      rules: [{ type: 'force', value: 'true', savedGroups: [{ match: 'any', ids: [group.id] }] }],
    });
    await update(byGroup.id, { rules: [] });
    expect((await revert(byGroup.id, 1)).feature.rules).toHaveLength(1);
    await update(byGroup.id, { rules: [] });
    await service.admin.call(archiveSavedGroup, { params: { id: group.id }, body: {} });
    await service.admin.call(deleteSavedGroup, { params: { id: group.id } });
    expect((await refused(400, byGroup.id, { revision: 1 })).message).toContain(group.id);

    const { id } = await newFeature(service);
    const namespace = { enabled: true, name: 'ns-gone', range: [0, 1] };
    const version = await addRevision(service, id, {
      status: 'published',
      date: service.clock.now(),
      content: { rules: [inlineExperiment({ namespace })] },
    });
    expect((await refused(400, id, { revision: version })).message).toContain('ns-gone');
  });

  test('does not take a feature out of every project where each must have one', async () => {
    const { id } = await newFeature(service);
    await update(id, { project: await newProject('Needed') });
    await service.setSettings({ requireProjectForFeatures: true });
    expect((await refused(400, id, { revision: 1 })).message).toContain('requires a project');
    await service.setSettings({});
    expect((await revert(id, 1)).feature.project).toBe('');
  });

  test('takes the right to revert, where the feature is and where it would be, and to target what it would', async () => {
    const [home, away] = [await newProject('Home'), await newProject('Away')];
    const { id } = await newFeature(service, { project: away, targetingProjects: [home] });
    await update(id, { project: home, targetingProjects: [] });
    await update(id, { targetingProjects: [away] });
    await update(id, { targetingProjects: [] });
    const readonlyIn = (project: string) => ({
      project,
      role: 'readonly',
      limitAccessByEnvironment: false,
      environments: [],
    });
    const before = [await service.version(), await get(id)];
    const reader = await service.withKey({ role: 'readonly' });
    expect((await refused(403, id, { revision: 1 }, reader)).message).toContain('revertFeatures');
    const stranger = await service.withKey({ projectRoles: [readonlyIn(home)] });
    expect((await refused(403, id, { revision: 2 }, stranger)).message).toContain(home);
    const local = await service.withKey({ projectRoles: [readonlyIn(away)] });
    expect((await refused(403, id, { revision: 1 }, local)).message).toContain(`revertFeatures in project ${away}`);
    expect((await refused(403, id, { revision: 3 }, local)).message).toContain('targetFeatures');
    expect([await service.version(), await get(id)]).toEqual(before);

    const blind = await service.withKey({ projectRoles: [{ ...readonlyIn(home), role: 'nobody' }] });
    await refused(404, id, { revision: 1 }, blind);
    await update(id, { description: 'Newer' });
    expect((await revert(id, 2, {}, local)).feature.description).toBe('');
  });

  test('of several at once each lands on what it has read, or is told', async () => {
    const { id } = await newFeature(service);
    for (const description of ['Second', 'Third']) await update(id, { description });
    const second = await service.another();
    const requests = Array.from({ length: 8 }, (_, index) => {
      const { admin } = index % 2 === 0 ? service : second;
      return index % 3 === 0
        ? admin.request(updateFeature, { params: { id }, body: { defaultValue: index === 0 ? 'true' : 'false' } })
        : admin.request(revertFeature, { params: { id }, body: { revision: 1 + (index % 2) } });
    });
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    // 400: another one was faster in doing the same.
    expect(statuses.every((status) => [200, 400, 409].includes(status))).toBe(true);
    expect(statuses).toContain(200);
    const { revisions } = await service.history(id);
    expect(revisions.map(({ version }) => version)).toEqual(revisions.map((_, index) => index + 1));
    const content = revisions.at(-1)?.content;
    const { defaultValue, description } = await get(id);
    expect(content).toMatchObject({ defaultValue, description });
  });
});
