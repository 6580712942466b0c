import type { EventUser } from '@halyard/contract';

interface NamedMember {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/** Who did something, as history keeps it. */
export type Actor =
  | { readonly type: 'dashboard'; readonly id: string; readonly name: string; readonly email: string }
  | {
      readonly type: 'api_key';
      /** Id of the key's record. */
      readonly apiKey: string;
      /** The key's description, or the person's name where the key is a person's. */
      readonly name: string;
      /** The person, where the key is a person's. */
      readonly id?: string;
      readonly email?: string;
      /** The member whom the request named. */
      readonly requestedBy?: NamedMember;
      /** The request acted as that member. */
      readonly assumedRole?: true;
    }
  | { readonly type: 'system'; readonly subtype?: string; readonly id?: string };

/** The person behind an actor, where there is one: a name given only for the record does not count. */
export function personOf(actor: Actor): NamedMember | null {
  if (actor.type === 'dashboard') return { id: actor.id, name: actor.name, email: actor.email };
  if (actor.type === 'system') return null;
  if (actor.id !== undefined) return { id: actor.id, name: actor.name, email: actor.email ?? '' };
  return actor.assumedRole === true ? (actor.requestedBy ?? null) : null;
}

/** An actor as answers show it. */
export function eventUserOf(actor: Actor): EventUser {
  if (actor.type === 'system') return { type: 'system', ...(actor.id === undefined ? {} : { id: actor.id }) };
  if (actor.type === 'dashboard') return { type: 'dashboard', id: actor.id, name: actor.name, email: actor.email };
  const person = personOf(actor);
  return {
    type: 'api_key',
    id: person?.id ?? actor.apiKey,
    name: actor.name,
    ...(person === null ? {} : { email: person.email }),
    ...(actor.requestedBy === undefined ? {} : { requestedBy: actor.requestedBy }),
    ...(actor.assumedRole === undefined ? {} : { assumedRole: actor.assumedRole }),
  };
}

/** An actor as the v1 interface shows it: one word of text. */
export function actorText(actor: Actor | null): string {
  if (actor === null) return '';
  if (actor.type === 'system') return 'SYSTEM';
  const person = personOf(actor);
  if (person === null) return 'API';
  return person.name === '' ? person.email : person.name;
}
