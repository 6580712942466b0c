import { isDeepStrictEqual } from 'node:util';

/** What differs between two states of a resource, for subscribers who want to say it in words. */
export interface Changes {
  readonly added: Readonly<Record<string, unknown>>;
  readonly removed: Readonly<Record<string, unknown>>;
  readonly modified: readonly ModifiedKey[];
}

interface ModifiedKey {
  readonly key: string;
  readonly oldValue?: unknown;
  readonly newValue?: unknown;
  /** For lists whose items have ids, and for maps: what happened to each item. */
  readonly items?: ItemChanges;
}

interface ItemChanges {
  readonly added: readonly unknown[];
  readonly removed: readonly unknown[];
  readonly modified: readonly ModifiedItem[];
  /** The order of the items that were there before and after, where it differs. */
  readonly order?: { readonly old: readonly string[]; readonly new: readonly string[] };
}

interface ModifiedItem {
  readonly id: string;
  readonly fieldChanges: readonly { readonly field: string; readonly oldValue: unknown; readonly newValue: unknown }[];
}

type Resource = Readonly<Record<string, unknown>>;

/** Keys whose old value a subscriber is told, of those that differ. */
export function previousAttributes(before: object, after: object, ignored: ReadonlySet<string>): Resource {
  const old = before as Resource;
  return Object.fromEntries(differing(old, after as Resource, ignored).map((key) => [key, old[key]]));
}

/** Null where nothing differs beside what is ignored. */
export function changesBetween(before: object, after: object, ignored: ReadonlySet<string>): Changes | null {
  const old = before as Resource;
  const fresh = after as Resource;
  const keys = differing(old, fresh, ignored);
  if (keys.length === 0) return null;
  const pick = (from: Resource, wanted: readonly string[]) => Object.fromEntries(wanted.map((key) => [key, from[key]]));
  const added = keys.filter((key) => old[key] === undefined);
  const removed = keys.filter((key) => fresh[key] === undefined);
  const modified = keys.filter((key) => !added.includes(key) && !removed.includes(key));
  return {
    added: pick(fresh, added),
    removed: pick(old, removed),
    modified: modified.map((key) => modifiedKey(key, old[key], fresh[key], ignored)),
  };
}

function differing(old: Resource, fresh: Resource, ignored: ReadonlySet<string>): string[] {
  const keys = [...new Set([...Object.keys(old), ...Object.keys(fresh)])];
  return keys.filter(
    (key) => !ignored.has(key) && !isDeepStrictEqual(without(old[key], ignored), without(fresh[key], ignored)),
  );
}

/** The value without ignored keys one level down: what is derived inside an environment is no change of it. */
function without(value: unknown, ignored: ReadonlySet<string>): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      isObject(member) ? Object.fromEntries(Object.entries(member).filter(([inner]) => !ignored.has(inner))) : member,
    ]),
  );
}

function modifiedKey(key: string, oldValue: unknown, newValue: unknown, ignored: ReadonlySet<string>): ModifiedKey {
  const old = keyed(oldValue);
  const fresh = keyed(newValue);
  if (old === null || fresh === null) return { key, oldValue, newValue };
  const kept = [...fresh.keys()].filter((id) => old.has(id));
  const keptBefore = [...old.keys()].filter((id) => fresh.has(id));
  const modified = kept.flatMap((id) => {
    const fieldChanges = fieldsChanged(old.get(id) ?? {}, fresh.get(id) ?? {}, ignored);
    return fieldChanges.length === 0 ? [] : [{ id, fieldChanges }];
  });
  const moved = Array.isArray(newValue) && !isDeepStrictEqual(kept, keptBefore);
  return {
    key,
    items: {
      added: [...fresh].filter(([id]) => !old.has(id)).map(([, item]) => item),
      removed: [...old].filter(([id]) => !fresh.has(id)).map(([, item]) => item),
      modified,
      ...(moved ? { order: { old: keptBefore, new: kept } } : {}),
    },
  };
}

const fieldsChanged = (old: Resource, fresh: Resource, ignored: ReadonlySet<string>) =>
  differing(old, fresh, ignored).map((field) => ({ field, oldValue: old[field], newValue: fresh[field] }));

const isObject = (value: unknown): value is Resource =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Items by id, for a list of objects with ids or a map of objects; null for anything else. */
function keyed(value: unknown): Map<string, Resource> | null {
  const entries = Array.isArray(value)
    ? value.map((item: unknown): [unknown, unknown] => [isObject(item) ? item.id : undefined, item])
    : isObject(value)
      ? Object.entries(value)
      : null;
  if (entries === null || !entries.every(([id, item]) => typeof id === 'string' && isObject(item))) return null;
  return new Map(entries as [string, Resource][]);
}
