import { eventNames, eventWildcard } from '@halyard/contract';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isTold, type RoutedEvent, type Subscription } from './matching.ts';

const event: RoutedEvent = { event: 'feature.updated', objectId: 'a', projects: [], tags: [], environments: [] };
const webhook: Subscription = {
  id: 'w',
  enabled: true,
  events: ['feature.*'],
  projects: [],
  tags: [],
  environments: [],
};
const names = eventNames.filter((name) => name !== 'webhook.test');

describe('an event webhook is told', () => {
  test('by wildcard of everything below, however deep, and of nothing beside it [tenancy M89]', () => {
    const told = (wanted: string, name: string) => isTold({ ...webhook, events: [wanted] }, { ...event, event: name });
    expect(told('feature.*', 'feature.revision.published')).toBe(true);
    expect(told('feature.*', 'feature.created')).toBe(true);
    expect(told('feature.revision.*', 'feature.revision.published')).toBe(true);
    expect(told('feature.revision.*', 'feature.created')).toBe(false);
    expect(told('feature.*', 'featureX.created')).toBe(false);
    expect(told('feature.*', 'savedGroup.updated')).toBe(false);
    expect(told('feature.updated', 'feature.updated')).toBe(true);
    expect(told('feature.updated', 'feature.updatedX')).toBe(false);
    expect(told('feature.*', 'feature.yet.toCome')).toBe(true);
  });

  const ids = fc.subarray(['a', 'b', 'c']);
  const subscriptions = fc.record({
    id: fc.constantFrom('w', 'v'),
    enabled: fc.boolean(),
    events: fc.subarray(['feature.*', 'feature.updated', 'feature.revision.*', 'webhook.*', 'savedGroup.*'], {
      minLength: 1,
    }),
    projects: ids,
    tags: ids,
    environments: ids,
  });
  const events = fc.record({
    event: fc.constantFrom(...names),
    objectId: fc.constantFrom('w', 'v'),
    projects: ids,
    tags: ids,
    environments: ids,
  });

  test('where it is on, a name fits, and each filter is empty or has something in common with the event', () => {
    fc.assert(
      fc.property(subscriptions, events, (one, of) => {
        const byName = one.events.includes(of.event);
        const byWildcard = one.events.some(
          (wanted) =>
            eventWildcard.test(wanted) &&
            of.event
              .split('.')
              .join(' .')
              .startsWith(wanted.slice(0, -2).split('.').join(' .') + ' .'),
        );
        const passes = (filter: string[], values: string[]) =>
          filter.length === 0 || new Set([...filter, ...values]).size < filter.length + values.length;
        expect(isTold(one, of)).toBe(
          one.enabled &&
            (byName || byWildcard) &&
            passes(one.projects, of.projects) &&
            passes(one.tags, of.tags) &&
            passes(one.environments, of.environments),
        );
      }),
    );
  });

  test('where a filter is set, of no event that has nothing of that kind', () => {
    fc.assert(
      fc.property(subscriptions, events, fc.constantFrom('projects', 'tags', 'environments'), (one, of, filter) => {
        expect(isTold({ ...one, [filter]: ['a'] }, { ...of, [filter]: [] })).toBe(false);
      }),
    );
  });

  test('of a test that is meant for it, and of no other, whatever its filters say', () => {
    fc.assert(
      fc.property(subscriptions, events, (one, of) => {
        expect(isTold(one, { ...of, event: 'webhook.test' })).toBe(one.id === of.objectId);
      }),
    );
  });
});
