import { getFeature, toggleFeature } from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newEnvironment, newFeature } from '../../testing/objects.ts';
import { startService, type TestService } from '../../testing/service.ts';

describe('toggling a feature', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
    await newEnvironment(service.admin, 'dev');
  });
  afterAll(() => service.stop());

  const toggle = (id: string, environments: object, reason?: string) =>
    service.admin.call(toggleFeature, {
      params: { id },
      body: { environments: environments as Record<string, boolean>, ...(reason === undefined ? {} : { reason }) },
    });

  test.each([true, 'true', '1', 1])('%j switches on', async (value) => {
    const { id } = await newFeature(service);
    expect((await toggle(id, { dev: value })).feature.environments.dev?.enabled).toBe(true);
  });

  test.each([false, 'false', '0', 0, ''])('%j switches off', async (value) => {
    const { id } = await newFeature(service);
    expect((await toggle(id, { production: value })).feature.environments.production?.enabled).toBe(false);
  });

  test('anything else is 400, and so is an unknown environment; no environment changes then [flags M38]', async () => {
    const { id } = await newFeature(service);
    for (const environments of [{ dev: 'on' }, { dev: true, mars: true }, { dev: null }, { dev: 2 }, { dev: [true] }]) {
      await service.admin.refused(400, toggleFeature, { params: { id }, body: { environments } });
    }
    const { feature } = await service.admin.call(getFeature, { params: { id } });
    expect(feature.environments.dev?.enabled).toBe(false);
    expect(feature.revision.version).toBe(1);
  });

  test('to the state it is in: nothing changes, the version stays [flags M39]', async () => {
    const created = await newFeature(service);
    const version = await service.version();
    expect((await toggle(created.id, { production: true, dev: false })).feature).toEqual(created);
    expect(await service.version()).toBe(version);
  });

  test('the reason is in the audit log', async () => {
    const { id } = await newFeature(service);
    await toggle(id, { dev: true }, 'Incident 42');
    const { audits } = await service.history(id);
    expect(audits.map(({ event, reason }) => [event, reason])).toEqual([
      ['feature.create', null],
      ['feature.toggle', 'Incident 42'],
    ]);
  });

  test('parallel toggles of different features all apply', async () => {
    const features = await Promise.all(Array.from({ length: 6 }, () => newFeature(service)));
    const answers = await Promise.all(features.map(({ id }) => toggle(id, { dev: true })));
    expect(answers.every(({ feature }) => feature.environments.dev?.enabled)).toBe(true);
  });
});
