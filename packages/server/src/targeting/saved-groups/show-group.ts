import type { SavedGroup, SavedGroupRevision } from '@halyard/contract';
import { ownerEmail } from '../../access/index.ts';
import { type Actor, personOf } from '../../record/index.ts';
import type { Directory } from '../../requester/index.ts';
import type { Revision } from '../../revisions/index.ts';
import type { LiveSavedGroup, SavedGroupContent } from './saved-group.ts';

type Dates = Pick<LiveSavedGroup, 'dateCreated' | 'dateUpdated'>;

/** A saved group as the interface shows it. */
export const showSavedGroup = ({ id, state, ...dates }: LiveSavedGroup, members: Directory): SavedGroup =>
  shown(id, state, dates, members);

function shown(
  id: string,
  content: SavedGroupContent,
  { dateCreated, dateUpdated }: Dates,
  members: Directory,
): SavedGroup {
  const { owner, useEmptyListGroup } = content;
  return {
    id,
    type: content.type,
    name: content.name,
    owner,
    ...ownerEmail(members, owner),
    description: content.description,
    condition: content.condition,
    attributeKey: content.attributeKey,
    values: [...content.values],
    projects: [...content.projects],
    archived: content.archived,
    ...(useEmptyListGroup === undefined ? {} : { useEmptyListGroup }),
    dateCreated: dateCreated.toISOString(),
    dateUpdated: dateUpdated.toISOString(),
  };
}

/** The fields that a revision may carry, by the names that its changes have. */
const changeable = {
  groupName: ({ name }) => name,
  owner: ({ owner }) => owner,
  description: ({ description }) => description,
  projects: ({ projects }) => projects,
  archived: ({ archived }) => archived,
  condition: ({ condition }) => condition,
  values: ({ values }) => values,
} as const satisfies Record<string, (content: SavedGroupContent) => unknown>;

/**
 * A revision that has landed, as the interface shows it.
 *
 * @param base the group as the revision found it
 */
export function showSavedGroupRevision(
  revision: Revision<SavedGroupContent>,
  base: LiveSavedGroup,
  members: Directory,
): SavedGroupRevision {
  const { id, version, content, createdBy, publishedBy, dateUpdated } = revision;
  const author = idOf(createdBy);
  const authorEmail = members.emailOf(author);
  const at = dateUpdated.toISOString();
  const log = (action: 'created' | 'merged', by: Actor) => ({
    id: `act_${action}_${id}`,
    userId: idOf(by),
    action,
    dateCreated: at,
  });
  const merger = publishedBy ?? createdBy;
  return {
    id,
    version,
    status: 'merged',
    authorId: author,
    ...(authorEmail === undefined ? {} : { authorEmail }),
    contributors: [author],
    reviews: [],
    activityLog: [log('created', createdBy), log('merged', merger)],
    resolution: { action: 'merged', userId: idOf(merger), dateCreated: at },
    dateCreated: at,
    dateUpdated: at,
    baseSavedGroup: showSavedGroup(base, members),
    proposedSavedGroup: shown(base.id, content, base, members),
    proposedChanges: proposedChanges(base.state, content),
  };
}

const proposedChanges = (base: SavedGroupContent, proposed: SavedGroupContent): SavedGroupRevision['proposedChanges'] =>
  Object.entries(changeable)
    .map(([field, of]) => ({ op: 'replace' as const, path: `/${field}`, before: of(base), value: of(proposed) }))
    .filter(({ before, value }) => JSON.stringify(before) !== JSON.stringify(value))
    .map(({ before: _before, ...change }) => change);

/** The member, else the key, else the part of the service. */
const idOf = (actor: Actor): string =>
  personOf(actor)?.id ?? (actor.type === 'api_key' ? actor.apiKey : actor.type === 'dashboard' ? actor.id : 'system');
