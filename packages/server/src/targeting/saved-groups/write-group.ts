import type { BodyOf, BypassedGate, updateSavedGroup } from '@halyard/contract';
import { forbidden } from '../../platform/index.ts';
import type { StateReader, Written } from '../../record/index.ts';
import { demand, type Requester, whoLacksIt } from '../../requester/index.ts';
import { clearanceOf, dependentsGate, directWriteComment, type Gate, passGates } from '../../revisions/index.ts';
import { attributesIn } from '../condition.ts';
import { conditionIn } from '../condition-groups.ts';
import { notRegistered, unregisteredOf } from '../registered-attributes.ts';
import { admitChanges } from './admit-group.ts';
import { countedReferences, referencesTo } from './group-users.ts';
import { groupAfter, isChanged, landGroups } from './land-groups.ts';
import { refuseGrowth } from './nesting.ts';
import { contentOf, findSavedGroup, type LiveSavedGroup, type SavedGroupContent } from './saved-group.ts';
import type { SavedGroupTools } from './tools.ts';

/** What a direct write came to. */
export interface GroupWrite {
  readonly live: LiveSavedGroup;
  readonly bypassed: readonly BypassedGate[];
}

/** Changes what is asked and publishes the change; what is left out stays. */
export function updateGroup(
  requester: Requester,
  id: string,
  { bypassApproval, ...asked }: BodyOf<typeof updateSavedGroup>,
  tools: SavedGroupTools,
): Promise<Written<GroupWrite>> {
  return writeDirectly(requester, id, false, tools, ({ state }, states) => {
    for (const projects of [state.projects, asked.projects ?? state.projects]) {
      demand(requester, 'editSavedGroupDrafts', { projects });
      demand(requester, 'publishSavedGroups', { projects });
    }
    if (bypassApproval === true) demandBypass(requester, state.projects, states);
    const before = contentOf(state);
    const { entitlements } = tools;
    const content = admitChanges(asked, before, { id, states, requester, entitlements });
    refuseGrowth(id, content, states, tools.references);
    return { content, gates: () => attributeGates(before, content, states) };
  });
}

/** Archives a group. Where something still refers to it, it keeps its effect. */
export function archiveGroup(
  requester: Requester,
  id: string,
  ignoreWarnings: boolean,
  tools: SavedGroupTools,
): Promise<Written<GroupWrite>> {
  return writeDirectly(requester, id, ignoreWarnings, tools, ({ state }, states) => {
    demand(requester, 'deleteSavedGroups', { projects: state.projects });
    return { content: { ...contentOf(state), archived: true }, gates: () => dependentsGates(id, states, tools) };
  });
}

export function unarchiveGroup(requester: Requester, id: string, tools: SavedGroupTools): Promise<Written<GroupWrite>> {
  return writeDirectly(requester, id, false, tools, ({ state }) => {
    demand(requester, 'publishSavedGroups', { projects: state.projects });
    return { content: { ...contentOf(state), archived: false }, gates: () => [] };
  });
}

/** What a direct write wants to make of a group, and what stands in its way. */
interface Wanted {
  readonly content: SavedGroupContent;
  readonly gates: () => readonly Gate[];
}

/**
 * Changes a group and publishes the change as one revision; does nothing where the content stays what it is.
 *
 * @param want states the change, having checked who may make it and whether it can be
 */
async function writeDirectly(
  requester: Requester,
  id: string,
  ignoreWarnings: boolean,
  { revisions }: SavedGroupTools,
  want: (live: LiveSavedGroup, states: StateReader) => Wanted,
): Promise<Written<GroupWrite>> {
  const { landed, result } = await revisions.land(requester, async (states) => {
    const before = findSavedGroup(requester, states, id);
    const { content, gates } = want(before, states);
    const change = { id, before, content };
    if (!isChanged(change)) return { landing: null, result: { change, bypassed: [] } };
    const bypassed = passGates(gates(), clearance(requester, ignoreWarnings, before.state.projects, states));
    const { members } = requester;
    return { landing: landGroups([change], directWriteComment, { states, members }), result: { change, bypassed } };
  });
  const { change, bypassed } = result;
  return { landed, result: { live: landed === null ? change.before : groupAfter(change, landed), bypassed } };
}

const clearance = (requester: Requester, ignoreWarnings: boolean, projects: readonly string[], states: StateReader) =>
  clearanceOf(requester, 'bypassApprovalSavedGroups', projects, states, {
    ignoreWarnings,
    skipSchemaValidation: false,
    skipHooks: false,
  });

/** @throws Refusal (forbidden) for who asks to land a change without approval and must not */
export function demandBypass(requester: Requester, projects: readonly string[], states: StateReader): void {
  const { mayBypass, restApiBypassesReviews } = clearance(requester, false, projects, states);
  if (mayBypass || restApiBypassesReviews) return;
  throw forbidden(
    `bypassApproval needs the permission bypassApprovalSavedGroups, which ${whoLacksIt(requester.actor)}.`,
  );
}

/** A changed condition must not begin to use attributes that the organization does not let it use. */
function attributeGates(before: SavedGroupContent, after: SavedGroupContent, states: StateReader): Gate[] {
  if (before.condition === after.condition) return [];
  const [known, wanted] = [before, after].map(({ condition }) => attributesIn(conditionIn(condition) ?? {}));
  const added = [...(wanted ?? [])].filter((attribute) => known?.has(attribute) !== true);
  const unregistered = unregisteredOf(states, added, after.projects);
  if (unregistered.length === 0) return [];
  return [
    {
      type: 'unregistered-attribute',
      severity: 'blocker',
      messages: [notRegistered(unregistered)],
      override: null,
      requiresPermission: null,
      resolution: null,
    },
  ];
}

function dependentsGates(id: string, states: StateReader, { references }: SavedGroupTools): Gate[] {
  const { users, groups } = referencesTo(id, states, references);
  const counted = countedReferences({
    users: users.filter(({ archived }) => !archived),
    groups: groups.filter(({ state }) => !state.archived),
  });
  if (counted === null) return [];
  return [
    dependentsGate(`The saved group is still in use, and keeps its effect there while it is archived: ${counted}.`),
  ];
}
