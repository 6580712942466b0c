import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EventPayload } from '../../record/index.ts';
import { eventSignature } from './event-work.ts';
import { renderEvent } from './rendering.ts';

const payload: EventPayload = {
  event: 'feature.updated',
  object: 'feature',
  api_version: '2024-07-31',
  created: 1_700_000_000_000,
  data: {
    object: { id: 'a', description: 'new', tags: ['x'], added: 1 },
    previous_attributes: { description: 'old' },
    changes: { added: { added: 1 }, removed: {}, modified: [] },
  },
  projects: ['prj_1'],
  tags: ['x'],
  environments: ['production'],
  containsSecrets: false,
  user: { type: 'dashboard', id: 'u_1', name: 'Dana <&>', email: 'dana@example.com' },
};
const render = (type: Parameters<typeof renderEvent>[0], more: Partial<EventPayload> = {}, objectId = 'a'): unknown =>
  JSON.parse(renderEvent(type, { objectId, payload: { ...payload, ...more } }) ?? 'null');

describe('an event', () => {
  test('is signed as receivers expect it', () => {
    expect(eventSignature('ewhk_test', '{"a":1}')).toBe(
      '014bd542d87645ce0aa39172adc52eee7a134df9430c7b7cac7c9ab901c84a28',
    );
  });

  test('is sent as it is stored', () => {
    expect(render('json')).toEqual(payload);
  });

  test('in the old form has the object as it is and was', () => {
    expect(render('raw')).toEqual({
      object: 'feature',
      event: 'feature.updated',
      data: {
        current: payload.data.object,
        previous: { id: 'a', description: 'old', tags: ['x'] },
      },
      user: payload.user,
      projects: ['prj_1'],
      tags: ['x'],
      environments: ['production'],
      containsSecrets: false,
    });
    expect(render('raw', { event: 'feature.created', data: { object: { id: 'a' } } })).toMatchObject({
      data: { current: { id: 'a' } },
    });
  });

  test('that is younger than the old form has none', () => {
    expect(
      renderEvent('raw', { objectId: 'a', payload: { ...payload, event: 'feature.revision.published' } }),
    ).toBeNull();
    for (const event of ['feature.created', 'feature.deleted', 'webhook.test', 'experiment.warning', 'user.login'])
      expect(render('raw', { event })).toMatchObject({ event });
  });

  test('can be read in a chat', () => {
    const section = [
      '*Feature revision review requested: a*',
      'By Dana &lt;&amp;&gt;',
      'Changed: description',
      'Environments: production',
      'Projects: prj_1',
    ].join('\n');
    expect(render('slack', { event: 'feature.revision.reviewRequested' })).toEqual({
      text: 'Feature revision review requested: a',
      blocks: [{ type: 'section', text: { type: 'mrkdwn', text: section } }],
    });
    expect(render('discord', { user: null })).toEqual({
      content: [
        '**Feature updated: a**',
        'By the system',
        'Changed: description',
        'Environments: production',
        'Projects: prj\\_1',
      ].join('\n'),
    });
  });

  test('becomes neither markup nor a mention in a chat, nor longer than a chat takes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('<', '!', '>', '@', 'everyone', '`', '*', '[x](y)', ' '.repeat(50)) }),
        (id) => {
          const { text } = render('slack', {}, id) as { text: string };
          expect(text).not.toMatch(/[<>]/);
          const { content } = render('discord', {}, id) as { content: string };
          expect(content).not.toContain('@everyone');
          expect(content.length).toBeLessThanOrEqual(2_000);
        },
      ),
    );
  });
});
