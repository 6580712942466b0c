import type { BodyOf, postSavedGroup, updateSavedGroup } from '@halyard/contract';
import { resolveOwner } from '../../access/index.ts';
import { type Entitlements, requireProjects, settingsOf } from '../../organization/index.ts';
import { invalid, quoted, quotedList } from '../../platform/index.ts';
import { personOf, type StateReader } from '../../record/index.ts';
import type { Requester } from '../../requester/index.ts';
import { attributeKind } from '../attributes.ts';
import { attributesIn, readCondition } from '../condition.ts';
import { groupsNamedIn } from '../condition-groups.ts';
import { notRegistered, unregisteredOf } from '../registered-attributes.ts';
import { checkNesting } from './nesting.ts';
import { groupFinder, type SavedGroupContent } from './saved-group.ts';

/** What a group is judged with. */
export interface GroupAdmission {
  readonly id: string;
  readonly states: StateReader;
  readonly requester: Requester;
  readonly entitlements: Entitlements;
}

/** The attributes of which there can be lists. */
const listable: readonly string[] = ['string', 'number', 'secureString'];
/** As JSON, in bytes. */
const longestList = 2 ** 20;

/**
 * Takes in a new group, in the order in which a caller meets the refusals.
 *
 * @throws Refusal (invalid, forbidden)
 */
export function admitNewGroup(asked: BodyOf<typeof postSavedGroup>, admission: GroupAdmission): SavedGroupContent {
  const { states, requester } = admission;
  const type = typeOf(asked);
  const projects = [...new Set(asked.projects)];
  requireProjects(requester, states, projects);
  const content: SavedGroupContent = {
    type,
    name: asked.name,
    owner: asked.owner === undefined ? defaultOwner(requester) : resolveOwner(requester.members, asked.owner),
    description: '',
    projects,
    archived: false,
    useEmptyListGroup: true,
    ...(type === 'list' ? newList(asked, states) : newCondition(asked)),
  };
  checkContent(null, content, admission);
  return content;
}

/**
 * Takes in what is asked to change. What is left out stays, and what is sent back as it is is not judged again.
 *
 * @throws Refusal (invalid, forbidden)
 */
export function admitChanges(
  asked: Omit<BodyOf<typeof updateSavedGroup>, 'bypassApproval'>,
  before: SavedGroupContent,
  admission: GroupAdmission,
): SavedGroupContent {
  const { states, requester } = admission;
  if (before.type === 'list' && asked.condition !== undefined) {
    throw invalid('The saved group is a list and takes no condition. What a saved group is never changes.');
  }
  if (before.type === 'condition' && asked.values !== undefined) {
    throw invalid('The saved group is a condition and takes no values. What a saved group is never changes.');
  }
  const projects = asked.projects === undefined ? before.projects : [...new Set(asked.projects)];
  requireProjects(requester, states, projects, before.projects);
  const content: SavedGroupContent = {
    ...before,
    name: asked.name ?? before.name,
    owner:
      asked.owner === undefined || asked.owner === before.owner
        ? before.owner
        : resolveOwner(requester.members, asked.owner),
    projects,
    condition: asked.condition ?? before.condition,
    values: asked.values === undefined ? before.values : [...new Set(asked.values)],
  };
  checkContent(before, content, admission);
  return content;
}

const defaultOwner = ({ actor }: Requester): string => personOf(actor)?.id ?? '';

function typeOf({ type, condition, attributeKey, values }: BodyOf<typeof postSavedGroup>): SavedGroupContent['type'] {
  if (type !== undefined) return type;
  if (condition !== undefined) return 'condition';
  if (attributeKey !== undefined && values !== undefined) return 'list';
  throw invalid('A saved group needs a condition, or an attributeKey with values.');
}

function newList(
  { condition, attributeKey, values }: BodyOf<typeof postSavedGroup>,
  states: StateReader,
): Pick<SavedGroupContent, 'condition' | 'attributeKey' | 'values'> {
  if (condition !== undefined) throw invalid('A list takes no condition: send attributeKey and values.');
  if (attributeKey === undefined) throw invalid('A list needs an attributeKey: the attribute whose values it holds.');
  if (values === undefined) throw invalid('A list needs values. They may be empty.');
  const attribute = states.get(attributeKind, attributeKey)?.state;
  if (attribute === undefined || attribute.archived === true) {
    throw invalid(`Unknown attribute ${quoted(attributeKey)} in attributeKey. Use one that GET /v1/attributes lists.`);
  }
  if (!listable.includes(attribute.datatype)) {
    throw invalid(
      `The attribute ${quoted(attributeKey)} is of the type ${attribute.datatype}. There can be lists of: ${listable.join(', ')}.`,
    );
  }
  return { condition: '', attributeKey, values: [...new Set(values)] };
}

function newCondition({
  condition,
  attributeKey,
  values,
}: BodyOf<typeof postSavedGroup>): Pick<SavedGroupContent, 'condition' | 'attributeKey' | 'values'> {
  if (attributeKey !== undefined || values !== undefined) {
    throw invalid('A condition takes no attributeKey and no values: they make a list.');
  }
  return { condition: condition ?? '', attributeKey: '', values: [] };
}

function checkContent(before: SavedGroupContent | null, content: SavedGroupContent, admission: GroupAdmission): void {
  const { id, states, requester } = admission;
  if (content.type === 'list') {
    checkValues(before, content, admission);
  } else if (content.condition !== before?.condition) {
    const find = groupFinder(requester, states, groupsNamedIn(before?.condition ?? ''));
    const condition = readCondition(content.condition, 'the saved group', find);
    if (condition === null) {
      throw invalid('The condition of the saved group must say something, such as {"country": "DE"}.');
    }
    // Where there is a group already, it is a gate.
    const unregistered = before === null ? unregisteredOf(states, attributesIn(condition), content.projects) : [];
    if (unregistered.length > 0) throw invalid(notRegistered(unregistered));
  }
  checkNesting(id, before, content, states);
}

/** Values that stay as they are may have become too many, or those of another type, since they came in. */
function checkValues(
  before: SavedGroupContent | null,
  { attributeKey, values, projects }: SavedGroupContent,
  { states, requester, entitlements }: GroupAdmission,
): void {
  if (before !== null && isSame(values, before.values)) return;
  if (states.get(attributeKind, attributeKey)?.state.datatype === 'number') {
    const others = values.filter((value) => numberOf(value) === null);
    if (others.length > 0) {
      throw invalid(
        `The attribute ${quoted(attributeKey)} is a number, and these values are none: ${quotedList(others)}.`,
      );
    }
  }
  const limit = settingsOf(states).savedGroupSizeLimit;
  if (limit !== null && values.length > limit) {
    const everywhere = [before?.projects ?? projects, projects];
    if (!everywhere.every((list) => requester.may('bypassSavedGroupSizeLimit', { projects: list }))) {
      throw invalid(
        `The saved group would have ${values.length} values, and the organization allows ${limit} (its setting savedGroupSizeLimit).`,
      );
    }
    if (values.length > (before?.values.length ?? 0)) entitlements.require('large-saved-groups');
  }
  const bytes = Buffer.byteLength(JSON.stringify(values));
  if (bytes > longestList) {
    throw invalid(
      `The values of a saved group must not be longer than ${longestList} bytes of JSON; these are ${bytes}.`,
    );
  }
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((value, index) => value === other[index]);

/** The number that a text stands for; null: none. */
export function numberOf(text: string): number | null {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : null;
}
