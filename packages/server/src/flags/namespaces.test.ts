import { deleteNamespace, getNamespace, postNamespace, postNamespaceRotateSeed, putNamespace } from '@halyard/contract';
import type { FeatureDefinition } from '@halyard/evaluation';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchPayload, payloadOf } from '../../testing/delivery.ts';
import { featureState, inlineExperiment } from '../../testing/flags/states.ts';
import { newConnection } from '../../testing/objects.ts';
import { startService, type TestService } from '../../testing/service.ts';
import type { Actor } from '../record/index.ts';
import { type FeatureContent, featureKind } from './feature.ts';

const actor: Actor = { type: 'system', subtype: 'test' };

describe('inline experiments in a namespace', () => {
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await startService();
    ({ key } = await newConnection(service.admin));
  });
  afterAll(() => service.stop());

  const create = async (displayName: string) =>
    (await service.admin.call(postNamespace, { body: { displayName, hashAttribute: 'company' } })).namespace;
  /** Publishes a feature with one rule, in some part of the namespace. */
  const publish = async (id: string, namespace: string, content: Partial<FeatureContent> = {}): Promise<number> => {
    const rules = [inlineExperiment({ namespace: { enabled: true, name: namespace, ranges: [[0, 0.5]] } })];
    const state = featureState({ rules, ...content }, ['production'], service.clock.now());
    const { landed } = await service.recorder.publish(service.id, actor, () => ({
      publication: { changes: [{ kind: featureKind, id, state }], audit: [] },
      result: null,
    }));
    return landed?.version ?? 0;
  };
  const filterOf = async (id: string, version: number) => {
    const definition: FeatureDefinition | undefined = (await payloadOf(service.url, key, version)).features[id];
    const [rule] = definition?.rules ?? [];
    return rule !== undefined && 'filters' in rule ? rule.filters?.[0] : undefined;
  };

  test('go by its seed and its hash attribute, and by others as soon as those change', async () => {
    const { id, seed } = await create('Hashed');
    const params = { id };
    const first = await publish('hashed', id);
    const filter = { attribute: 'company', seed, hashVersion: 2, ranges: [[0, 0.5]] };
    expect(await filterOf('hashed', first)).toEqual(filter);
    const rotated = await service.admin.answer(postNamespaceRotateSeed, { params, body: { seed: 'other' } });
    expect(await filterOf('hashed', rotated.version)).toEqual({ ...filter, seed: 'other' });
    const moved = await service.admin.answer(putNamespace, { params, body: { hashAttribute: 'device' } });
    expect(await filterOf('hashed', moved.version)).toEqual({ ...filter, seed: 'other', attribute: 'device' });
  });

  test('are served the same, to the byte, whatever people call the namespace and whether it is offered', async () => {
    const { id } = await create('Called');
    const version = await publish('called', id);
    await payloadOf(service.url, key, version);
    const before = await fetchPayload(service.url, key);
    const body = { displayName: 'Renamed', description: 'Changed', status: 'inactive' } as const;
    const renamed = await service.admin.answer(putNamespace, { params: { id }, body });
    expect(renamed.version).toBeGreaterThan(version);
    await payloadOf(service.url, key, renamed.version);
    const after = await fetchPayload(service.url, key);
    expect(after.headers.get('etag')).toBe(before.headers.get('etag'));
    expect(await after.text()).toBe(await before.text());
  });

  test('keep it from being deleted, without being named, until they are gone or their feature is archived', async () => {
    const { id } = await create('Kept');
    const params = { id };
    await publish('secret-one', id);
    await publish('secret-two', id);
    const { message } = await service.admin.refused(409, deleteNamespace, { params });
    expect(message).toContain('2 features have rules in it');
    expect(message).not.toContain('secret');
    await service.admin.call(getNamespace, { params });
    await publish('secret-one', id, { archived: true });
    expect((await service.admin.refused(409, deleteNamespace, { params })).message).toContain('a feature has a rule');
    const off = inlineExperiment({ namespace: { enabled: false, name: id, range: [0, 1] } });
    await publish('secret-two', id, { rules: [off] });
    await service.admin.call(deleteNamespace, { params });
  });
});
