import type { Permission } from '@halyard/contract';
import { describe, expect, test } from 'vitest';
import { featureState, force, put, type StatesInput, statesOf } from '../../../testing/flags/states.ts';
import { featureGroupReferences, featureKind } from '../../flags/index.ts';
import { entitlements } from '../../organization/index.ts';
import { type OrganizationStates, readerOf } from '../../record/index.ts';
import type { Requester } from '../../requester/index.ts';
import { createGroup } from './create-group.ts';
import type { SavedGroupTools } from './tools.ts';
import { archiveGroup, updateGroup } from './write-group.ts';

/** Somebody with some of the permissions: roles between all and reading come later. */
const requesterWith = (states: OrganizationStates, ...held: Permission[]): Requester => ({
  organization: states.organization,
  actor: { type: 'api_key', apiKey: 'key_1', name: 'Key' },
  may: (permission) => held.includes(permission),
  maySee: () => true,
  states: readerOf(states),
  members: { emailOf: () => undefined, idOf: () => undefined },
});

/** Judges everything and lands nothing. */
const judging = (states: OrganizationStates, granted: 'all' | [] = 'all') => {
  const notHere = () => {
    throw new Error('Nothing lands here.');
  };
  return {
    revisions: {
      async land(_, judge) {
        const { result } = await judge(readerOf(states));
        return { landed: null, result };
      },
      forget: notHere,
    },
    recorder: { publish: notHere },
    entitlements: entitlements(granted),
    paginate: notHere,
    newId: (prefix) => `${prefix}new`,
    references: [featureGroupReferences],
  } satisfies SavedGroupTools;
};

const attributes = { id: { datatype: 'string' } } as const;
const statesWith = (input: StatesInput) => statesOf({ attributes, ...input });
const values = (count: number) => Array.from({ length: count }, (_, index) => `u${index}`);
const writing = ['editSavedGroupDrafts', 'publishSavedGroups'] as const;

describe('the values of a saved group', () => {
  const limited = () => statesWith({ settings: { savedGroupSizeLimit: 3 }, savedGroups: { g: { values: values(3) } } });
  const update = (states: OrganizationStates, count: number, granted: 'all' | [], ...held: Permission[]) =>
    updateGroup(requesterWith(states, ...writing, ...held), 'g', { values: values(count) }, judging(states, granted));

  test('are no more than the organization allows, unless the caller may pass that; never above 1 MiB [flags M107]', async () => {
    const states = limited();
    const tooLong = { values: ['x'.repeat(2 ** 20)] };
    const [without, tools] = [requesterWith(states, ...writing, 'createSavedGroups'), judging(states)];
    const permitted = requesterWith(states, ...writing, 'createSavedGroups', 'bypassSavedGroupSizeLimit');
    const list = { name: 'Test', attributeKey: 'id' };
    await expect(createGroup(without, { ...list, values: values(4) }, tools)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('savedGroupSizeLimit'),
    });
    await expect(update(states, 4, 'all')).rejects.toMatchObject({ status: 400 });
    await expect(update(states, 3, 'all')).resolves.toMatchObject({});
    await expect(update(states, 4, 'all', 'bypassSavedGroupSizeLimit')).resolves.toMatchObject({});
    await expect(createGroup(permitted, { ...list, values: values(4) }, tools)).rejects.toThrow('always lands');
    await expect(createGroup(permitted, { ...list, ...tooLong }, tools)).rejects.toMatchObject({ status: 400 });
    await expect(updateGroup(permitted, 'g', tooLong, tools)).rejects.toMatchObject({ status: 400 });
  });

  test('become more than that only where large groups are on; a list that is large already may shrink', async () => {
    const states = limited();
    await expect(update(states, 4, [], 'bypassSavedGroupSizeLimit')).rejects.toMatchObject({
      status: 403,
      body: { details: { reason: 'entitlement_required', entitlement: 'large-saved-groups' } },
    });
    const large = statesWith({ settings: { savedGroupSizeLimit: 3 }, savedGroups: { g: { values: values(9) } } });
    await expect(update(large, 8, [], 'bypassSavedGroupSizeLimit')).resolves.toMatchObject({});
    await expect(update(large, 9, [])).resolves.toMatchObject({});
    await expect(update(large, 10, [], 'bypassSavedGroupSizeLimit')).rejects.toMatchObject({ status: 403 });
  });
});

describe('a saved group in use', () => {
  const rule = force({ savedGroupTargeting: [{ matchType: 'none', savedGroups: ['g'] }] });
  const states = statesWith({
    savedGroups: {
      g: { values: ['u1'] },
      nester: { condition: '{"$savedGroups":["g"]}' },
      old: { condition: '{"$savedGroups":["g"]}', archived: true },
    },
    features: { secret: { rules: [rule] }, archived: { rules: [rule], archived: true } },
  });
  put(
    states,
    featureKind,
    'through',
    featureState({ rules: [force({ condition: '{"$not":{"$savedGroups":["nester"]}}' })] }, [], states.at.instant),
  );

  test('is archived only by who says so; only counts of what is live are told', async () => {
    const requester = requesterWith(states, 'deleteSavedGroups');
    const gate = {
      type: 'archive-dependents',
      severity: 'warning',
      messages: [expect.stringContaining('2 features, 1 other saved group')],
      override: 'ignoreWarnings',
      requiresPermission: null,
      resolution: null,
    };
    const refusal = await archiveGroup(requester, 'g', false, judging(states)).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ status: 422, body: { gates: [gate], warnings: gate.messages } });
    expect(JSON.stringify(refusal)).not.toContain('secret');
    const { result } = await archiveGroup(requester, 'g', true, judging(states));
    expect(result.bypassed).toEqual([{ type: 'archive-dependents', outcome: 'bypassed', via: 'ignoreWarnings' }]);
  });

  test('is archived by nobody who may not delete it', async () => {
    const requester = requesterWith(states, ...writing, 'bypassApprovalSavedGroups');
    await expect(archiveGroup(requester, 'g', true, judging(states))).rejects.toMatchObject({ status: 403 });
  });
});

describe('a change past its approval', () => {
  const input = { name: 'Other', bypassApproval: true };

  test('is 403 for who may not pass approvals, unless the organization lets the API do so', async () => {
    const states = statesWith({ savedGroups: { g: {} } });
    const change = (...held: Permission[]) =>
      updateGroup(requesterWith(states, ...writing, ...held), 'g', input, judging(states));
    await expect(change()).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('bypassApprovalSavedGroups'),
    });
    await expect(change('bypassApprovalSavedGroups')).resolves.toMatchObject({});
    const open = statesWith({ settings: { restApiBypassesReviews: true }, savedGroups: { g: {} } });
    await expect(updateGroup(requesterWith(open, ...writing), 'g', input, judging(open))).resolves.toMatchObject({});
    const creator = requesterWith(states, 'createSavedGroups');
    const list = { name: 'Test', attributeKey: 'id', values: [] };
    await expect(createGroup(creator, { ...list, bypassApproval: true }, judging(states))).rejects.toMatchObject({
      status: 403,
    });
  });
});
