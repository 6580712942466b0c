import type { EventWebhook } from '@halyard/contract';
import { type EventPayload, personOf } from '../../record/index.ts';
import { testEvent } from './matching.ts';

/** An event that is to be rendered. */
export interface RenderedEvent {
  readonly objectId: string;
  readonly payload: EventPayload;
}

/** What is sent of an event, JSON text; null: this type has no form of it, and nothing is sent. */
export function renderEvent(type: EventWebhook['payloadType'], event: RenderedEvent): string | null {
  switch (type) {
    case 'json':
      return JSON.stringify(event.payload);
    case 'raw':
      return isOfOldForm(event.payload.event) ? JSON.stringify(oldForm(event.payload)) : null;
    case 'slack':
      return JSON.stringify(slackMessage(event));
    case 'discord':
      return JSON.stringify({ content: discordText(event) });
  }
}

/** Events that were there when the old form was the only one. */
const isOfOldForm = (name: string): boolean =>
  /^(feature|experiment)\.(created|updated|deleted)$/.test(name) ||
  ['experiment.warning', 'user.login', testEvent].includes(name);

function oldForm({ object, event, data, user, projects, tags, environments, containsSecrets }: EventPayload): object {
  const previous = previousOf(data);
  return {
    object,
    event,
    data: { current: data.object, ...(previous === null ? {} : { previous }) },
    user,
    projects,
    tags,
    environments,
    containsSecrets,
  };
}

/** The object before an update: what it is now, with what it was. */
function previousOf({ object, previous_attributes, changes }: EventPayload['data']): object | null {
  if (previous_attributes === undefined) return null;
  const added = changes !== undefined && 'added' in changes ? Object.keys(changes.added ?? {}) : [];
  const kept = Object.entries(object).filter(([key]) => !added.includes(key));
  return { ...Object.fromEntries(kept), ...previous_attributes };
}

/** The lines that chat messages are made of: what happened, and more about it. */
function linesOf({ objectId, payload }: RenderedEvent): { title: string; details: string[] } {
  const words = payload.event
    .replaceAll('.', ' ')
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`)
    .toLowerCase();
  const { previous_attributes = {} } = payload.data;
  const changed = Object.keys(previous_attributes);
  return {
    title: `${words.charAt(0).toUpperCase()}${words.slice(1)}: ${objectId}`,
    details: [
      `By ${whoOf(payload)}`,
      ...(changed.length === 0 ? [] : [`Changed: ${changed.join(', ')}`]),
      ...(payload.environments.length === 0 ? [] : [`Environments: ${payload.environments.join(', ')}`]),
      ...(payload.projects.length === 0 ? [] : [`Projects: ${payload.projects.join(', ')}`]),
    ],
  };
}

function whoOf({ user }: EventPayload): string {
  if (user === null || user.type === 'system') return 'the system';
  const person = personOf(user);
  const name = person === null ? user.name : person.name || person.email;
  return name === '' ? 'an API key' : name;
}

const longestSlackText = 3_000;
const longestDiscordText = 2_000;

/** Text cannot become markup, a link or a mention. */
const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function slackMessage(event: RenderedEvent): object {
  const { title, details } = linesOf(event);
  const text = slackText(title).slice(0, longestSlackText);
  const section = [`*${text}*`, ...details.map(slackText)].join('\n').slice(0, longestSlackText);
  return { text, blocks: [{ type: 'section', text: { type: 'mrkdwn', text: section } }] };
}

/** Text cannot become markup; a mention is broken by a space of no width. */
const plainInDiscord = (text: string): string =>
  text.replaceAll(/[\\*_~`|>#[\]()<]/g, (mark) => `\\${mark}`).replaceAll('@', '@\u200b');

function discordText(event: RenderedEvent): string {
  const { title, details } = linesOf(event);
  return [`**${plainInDiscord(title)}**`, ...details.map(plainInDiscord)].join('\n').slice(0, longestDiscordText);
}
