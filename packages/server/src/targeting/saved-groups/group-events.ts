import type { SavedGroup } from '@halyard/contract';
import { environmentsOf } from '../../organization/index.ts';
import { type EventDraft, previousAttributes, type StateReader } from '../../record/index.ts';
import type { Directory } from '../../requester/index.ts';
import { contentOf, type LiveSavedGroup } from './saved-group.ts';
import { showSavedGroup, showSavedGroupRevision } from './show-group.ts';

const ignored = new Set(['dateUpdated']);

const common = (event: string, { id }: LiveSavedGroup) => ({ event, object: 'savedGroup', objectId: id, tags: [] });

export const savedGroupCreated = (live: LiveSavedGroup, members: Directory): EventDraft => ({
  ...common('savedGroup.created', live),
  data: { object: showSavedGroup(live, members) },
  projects: live.state.projects,
  environments: [],
});

export const savedGroupDeleted = (live: LiveSavedGroup, members: Directory): EventDraft => ({
  ...common('savedGroup.deleted', live),
  data: { object: showSavedGroup(live, members) },
  projects: live.state.projects,
  environments: [],
});

/** What is told of an update: that its revision was published, and what it changed. */
export function savedGroupUpdated(
  before: LiveSavedGroup,
  after: LiveSavedGroup,
  members: Directory,
  states: StateReader,
): EventDraft[] {
  const [old, fresh] = [showSavedGroup(before, members), showSavedGroup(after, members)];
  const previous = previousAttributes(old, fresh, ignored);
  const revision = {
    ...after.state.revision,
    baseVersion: before.state.revision.version,
    status: 'merged',
    content: contentOf(after.state),
    dateUpdated: after.dateUpdated,
    datePublished: after.dateUpdated,
  };
  const routing = {
    projects: [...new Set([...before.state.projects, ...after.state.projects])],
    environments: reachesUsers(previous) ? environmentsOf(states).map(({ id }) => id) : [],
  };
  return [
    {
      ...common('savedGroup.revision.published', after),
      data: { object: showSavedGroupRevision(revision, before, members) },
      ...routing,
    },
    { ...common('savedGroup.updated', after), data: { object: fresh, previous_attributes: previous }, ...routing },
  ];
}

/** Whether others are in the group than before: then it may matter in every environment. */
const reachesUsers = (previous: Partial<Record<keyof SavedGroup, unknown>>): boolean =>
  'condition' in previous || 'values' in previous;
