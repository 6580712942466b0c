import {
  deleteFeatureV1,
  getFeature,
  getFeatureV1,
  postFeatureV1,
  updateFeature,
  updateFeatureV1,
} from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { payloadOf } from '../../../testing/delivery.ts';
import { forceV1, listed, newFeatureV1, ruleIds } from '../../../testing/flags/v1.ts';
import { freshId, newConnection, newEnvironment } from '../../../testing/objects.ts';
import { startService, type TestService } from '../../../testing/service.ts';

describe('the draft of an environment in a v1 body', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
    await newEnvironment(service.admin, 'dev', { defaultState: true });
  });
  afterAll(() => service.stop());

  const drafts = async (id: string) => {
    const query = { withRevisions: 'drafts' };
    return (await service.admin.call(getFeatureV1, { params: { id }, query })).feature.revisions ?? [];
  };
  const eventsOf = async (id: string) => (await service.history(id)).events.map(({ event }) => event);

  test('becomes one draft revision on top of the feature that is created, and nothing of it is live', async () => {
    const feature = await newFeatureV1(service, {
      environments: {
        production: {
          enabled: true,
          rules: [forceV1('a')],
          draft: { enabled: false, rules: [forceV1('a'), forceV1('b')], definition: 'whatever' },
        },
        dev: { enabled: true, rules: [forceV1('a')], draft: { rules: [] } },
      },
    });
    const { id } = feature;
    expect(feature.revision.version).toBe(1);
    expect(ruleIds(feature)).toEqual({ production: ['a'], dev: ['a'] });
    const [draft, ...others] = await drafts(id);
    expect(others).toEqual([]);
    expect(draft).toMatchObject({
      id: expect.stringMatching(/^frev_/),
      featureId: id,
      version: 2,
      baseVersion: 1,
      status: 'draft',
      createdBy: 'API',
      publishedBy: '',
      defaultValue: 'false',
      environmentsEnabled: { production: false, dev: true },
      rules: { production: [{ id: 'a' }, { id: 'b' }], dev: [] },
    });
    const { key } = await newConnection(service.admin);
    expect((await payloadOf(service.url, key, await service.version())).features[id]).toEqual({
      defaultValue: false,
      rules: [{ force: true }],
    });

    const { audits, events } = await service.history(id);
    expect(audits.map(({ event }) => event)).toEqual(['feature.create', 'feature.revision.create']);
    expect(events.map(({ event }) => event)).toEqual(['feature.created', 'feature.revision.created']);
    expect(events[1]?.data).toMatchObject({
      environments: ['production', 'dev'],
      data: { object: { featureId: id, version: 2, status: 'draft' } },
    });
    const v2 = await service.admin.call(getFeature, { params: { id }, query: { withRevisions: 'all' } });
    expect(v2.feature.revisions?.map(({ version, status }) => [version, status])).toEqual([
      [2, 'draft'],
      [1, 'published'],
    ]);
  });

  test('waits on what the same update publishes', async () => {
    const { id } = await newFeatureV1(service);
    const { feature } = await service.admin.call(updateFeatureV1, {
      params: { id },
      body: {
        description: 'Live',
        environments: { dev: { rules: [forceV1('a')], draft: { rules: [forceV1('a'), forceV1('b')] } } },
      },
    });
    expect(feature).toMatchObject({ description: 'Live', revision: { version: 2 } });
    expect(await drafts(id)).toMatchObject([
      { version: 3, baseVersion: 2, metadata: { description: 'Live' }, rules: { dev: [{ id: 'a' }, { id: 'b' }] } },
    ]);
    expect(await eventsOf(id)).toEqual([
      'feature.created',
      'feature.revision.published',
      'feature.updated',
      'feature.revision.created',
    ]);
  });

  test('alone makes no configuration version; the next change is numbered after it', async () => {
    const created = await newFeatureV1(service);
    const { id } = created;
    const version = await service.version();
    const { body, headers } = await service.admin.answer(updateFeatureV1, {
      params: { id },
      body: { environments: { dev: { draft: { enabled: false, rules: [] } } } },
    });
    expect(body.feature).toEqual(created);
    expect(headers.has('x-service-config-version')).toBe(false);
    expect(await service.version()).toBe(version);
    expect(await drafts(id)).toMatchObject([{ version: 2, baseVersion: 1 }]);
    const { feature } = await service.admin.call(updateFeature, { params: { id }, body: { description: 'x' } });
    expect(feature.revision.version).toBe(3);
    expect(await drafts(id)).toMatchObject([{ version: 2, baseVersion: 1, metadata: { description: '' } }]);
  });

  test('that says what is live is none', async () => {
    const { id } = await newFeatureV1(service, { environments: listed({ dev: [forceV1('a')] }) });
    const history = await service.history(id);
    const draft = { enabled: true, rules: [forceV1('a')] };
    await service.admin.call(updateFeatureV1, { params: { id }, body: { environments: { dev: { draft } } } });
    expect(await service.history(id)).toEqual(history);
  });

  test('that cannot be is refused with everything beside it', async () => {
    const { id } = await newFeatureV1(service);
    const history = await service.history(id);
    for (const draft of [
      { rules: [forceV1('a', { condition: '{' })] },
      { rules: [forceV1('a', { prerequisites: [{ id: 'missing', condition: '{"value":true}' }] })] },
      { rules: [{ type: 'experiment-ref', experimentId: 'exp_x', variations: [] }] },
    ]) {
      const environments = { dev: { rules: [forceV1('b')], draft } };
      await service.admin.refused(400, updateFeatureV1, { params: { id }, body: { environments } });
      const fresh = freshId();
      const body = { id: fresh, defaultValue: 'false', owner: service.owner.id };
      await service.admin.refused(400, postFeatureV1, {
        body: { ...body, environments: { dev: { enabled: true, rules: [], draft } } },
      });
      expect((await service.history(fresh)).revisions).toEqual([]);
    }
    expect(await service.history(id)).toEqual(history);
  });

  test('drafts made at the same time all get a number of their own', async () => {
    const { id } = await newFeatureV1(service);
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        service.admin.request(updateFeatureV1, {
          params: { id },
          body: { environments: { dev: { draft: { rules: [forceV1(`r${index}`)] } } } },
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((await drafts(id)).map(({ version }) => version)).toEqual([7, 6, 5, 4, 3, 2]);
  });

  test('goes with its feature', async () => {
    const { id } = await newFeatureV1(service, {
      archived: true,
      environments: { dev: { enabled: true, rules: [], draft: { rules: [forceV1('a')] } } },
    });
    expect((await service.history(id)).revisions).toHaveLength(2);
    await service.admin.call(deleteFeatureV1, { params: { id } });
    expect((await service.history(id)).revisions).toEqual([]);
  });
});
