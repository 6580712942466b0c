import { getStaleFeatures, getStaleFeaturesV1, postProject, updateFeature } from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../testing/client.ts';
import { addRevision } from '../../testing/flags/revisions.ts';
import { newEnvironment, newFeature } from '../../testing/objects.ts';
import { startService, type TestService } from '../../testing/service.ts';
import { featureKind } from './feature.ts';

const day = 24 * 60 * 60 * 1_000;

describe('stale features', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
    await newEnvironment(service.admin, 'dev');
  });
  afterAll(() => service.stop());

  const findings = async (ids: string, client: Client = service.admin) =>
    (await client.call(getStaleFeatures, { query: { ids } })).features;
  const later = (days: number) => service.clock.advance(days * day);
  const daysAgo = (days: number) => new Date(service.clock.now().getTime() - days * day);
  const reasonsOf = async (...ids: string[]) => {
    const features = await findings(ids.join(','));
    return ids.map((id) => features[id]?.staleReason);
  };

  test('are those that have long served everyone the same; both versions say so, the old one as deprecated', async () => {
    const { id } = await newFeature(service, {
      environments: { production: { enabled: true }, dev: { enabled: false } },
      rules: [{ type: 'force', value: 'true' }],
    });
    expect(await reasonsOf(id)).toEqual(['recently-updated']);
    later(40);
    const finding = {
      featureId: id,
      isStale: true,
      staleReason: 'rules-one-sided',
      neverStale: false,
      staleByEnv: {
        production: { isStale: true, reason: 'rules-one-sided', evaluatesTo: 'true' },
        dev: { isStale: true, reason: 'toggled-off', evaluatesTo: 'null' },
      },
    };
    for (const [operation, deprecation] of [
      [getStaleFeatures, null],
      [getStaleFeaturesV1, 'true'],
    ] as const) {
      const { body, headers } = await service.admin.answer(operation, { query: { ids: id } });
      expect([body, headers.get('deprecation')]).toEqual([{ features: { [id]: finding } }, deprecation]);
    }
  });

  test('are asked for by ids of which each is decoded; those that are archived are left out [flags M59]', async () => {
    const [one, archived] = [await newFeature(service), await newFeature(service)];
    await service.admin.call(updateFeature, { params: { id: archived.id }, body: { archived: true } });
    const imported = 'from:elsewhere, 100%';
    await service.recorder.publish(service.id, { type: 'system' }, (states) => ({
      publication: {
        changes: [{ kind: featureKind, id: imported, state: states.get(featureKind, one.id)?.state ?? null }],
        audit: [],
      },
      result: null,
    }));
    const ids = [imported, one.id, archived.id].map(encodeURIComponent).join(',');
    expect(ids).toContain('%2C');
    expect(Object.keys(await findings(ids)).sort()).toEqual([one.id, imported].sort());
    expect(Object.keys(await findings(`,${one.id},,${one.id},`))).toEqual([one.id]);
  });

  test('are none where none are asked for; what is unknown or cannot be seen is left out', async () => {
    const { project } = await service.admin.call(postProject, { body: { name: 'Secret' } });
    const [hidden, open] = [await newFeature(service, { project: project.id }), await newFeature(service)];
    const nobody = { project: project.id, role: 'nobody', limitAccessByEnvironment: false, environments: [] };
    const key = await service.withKey({ role: 'readonly', projectRoles: [nobody] });
    const ids = `${hidden.id},${open.id},unknown,__proto__,%00`;
    expect(Object.keys(await findings(ids, key))).toEqual([open.id]);
    expect(Object.keys(await findings(ids))).toEqual([hidden.id, open.id]);
    expect(await findings('')).toEqual({});
    const blind = { 'x-service-requested-by': await service.newMember('blind@example.com', 'nobody') };
    expect(await key.call(getStaleFeatures, { query: { ids }, headers: blind })).toEqual({ features: {} });
  });

  test.each([
    [{}, 'ids'],
    [{ ids: '%' }, 'ids'],
    [{ ids: 'a,%zz' }, 'ids'],
    [{ ids: '%ff' }, 'ids'],
    [{ ids: 'a', id: 'b' }, 'id'],
  ])('%j is refused', async (query, place) => {
    for (const operation of [getStaleFeatures, getStaleFeaturesV1]) {
      const { message } = await service.admin.refused(400, operation, { query });
      expect(message).toContain(`[${place}]`);
    }
  });

  test.each(['draft', 'pending-review', 'approved', 'changes-requested'])(
    'are kept by what somebody works on: a revision that is %s',
    async (status) => {
      const { id } = await newFeature(service);
      const required = await newFeature(service);
      await service.admin.call(updateFeature, { params: { id }, body: { prerequisites: [required.id] } });
      later(60);
      expect(await reasonsOf(id, required.id)).toEqual(['no-rules', 'no-rules']);
      await addRevision(service, id, { status, date: daysAgo(40) });
      expect(await reasonsOf(id, required.id)).toEqual(['abandoned-draft', 'no-rules']);
      // The newest counts, also for what the draft's feature requires.
      await addRevision(service, id, { status, date: daysAgo(10) });
      await addRevision(service, id, { status, date: daysAgo(35) });
      expect(await reasonsOf(id, required.id)).toEqual(['active-draft', 'has-dependents']);
      expect(await reasonsOf(required.id)).toEqual(['has-dependents']);
    },
  );

  test('are not kept by revisions that nobody works on any more', async () => {
    const { id } = await newFeature(service);
    later(60);
    for (const status of ['discarded', 'published']) await addRevision(service, id, { status, date: daysAgo(1) });
    expect(await reasonsOf(id)).toEqual(['no-rules']);
  });
});
