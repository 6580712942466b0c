import type { JsonValue } from './payload.ts';
import type { Predicate } from './predicate.ts';

/** What stands for everything that is neither text nor a number. */
const NO_VERSION = '0';

const NUMERIC = /^[0-9]+$/;
const NUMERIC_WIDTH = 5;

/**
 * A version as text that sorts like the version (flags 8.3): numeric parts padded to width 5, and `~` behind a
 * version of three parts, so that `1.2.3-rc` sorts before `1.2.3`. Anything that is neither text nor a number is 0.
 *
 * @example paddedVersion('v1.2.3+build') // "    1-    2-    3-~"
 */
export function paddedVersion(version: unknown): string {
  const text = versionText(version);
  const parts = text.slice(startOf(text), endOf(text)).split(/[-.]/);
  if (parts.length === 3) parts.push('~');
  return parts.map((part) => (NUMERIC.test(part) ? part.padStart(NUMERIC_WIDTH) : part)).join('-');
}

/** An operator on versions: what it wants of the order, which is below, at or above 0 as in a sort function. */
export type VersionOrder = (order: number) => boolean;

/**
 * Compares a value with a version.
 *
 * @example comparesVersion((order) => order > 0, '1.9.0')('1.10.0') // true
 */
export function comparesVersion(isWanted: VersionOrder, operand: JsonValue): Predicate {
  const padded = paddedVersion(operand);
  return (value) => isWanted(orderOf(versionText(value), padded));
}

function versionText(version: unknown): string {
  const text = typeof version === 'number' ? String(version) : version;
  return typeof text === 'string' && text !== '' ? text : NO_VERSION;
}

/** Behind one leading `v`. */
function startOf(text: string): number {
  return text.startsWith('v') ? 1 : 0;
}

/** Before the build. */
function endOf(text: string): number {
  const build = text.indexOf('+');
  return build < 0 ? text.length : build;
}

const SPACE = 32;
const HYPHEN = 45;
const DOT = 46;
const DIGIT_ZERO = 48;
const DIGIT_NINE = 57;

/**
 * How `paddedVersion(text)` sorts beside a padded version, found without making it: the text is an attribute of the
 * user, so this is done for each user and rule.
 */
function orderOf(text: string, padded: string): number {
  const end = endOf(text);
  let at = 0;
  let count = 0;
  for (let start = startOf(text); start <= end; count++) {
    if (count > 0) {
      const order = HYPHEN - unitAt(padded, at++);
      if (order !== 0) return order;
    }
    const stop = endOfPart(text, start, end);
    if (isNumeric(text, start, stop)) {
      for (let width = stop - start; width < NUMERIC_WIDTH; width++) {
        const order = SPACE - unitAt(padded, at++);
        if (order !== 0) return order;
      }
    }
    for (let position = start; position < stop; position++) {
      const order = text.charCodeAt(position) - unitAt(padded, at++);
      if (order !== 0) return order;
    }
    start = stop + 1;
  }
  if (count === 3) return paddedEnd('-~', padded, at);
  return paddedEnd('', padded, at);
}

/** The order of what is left: our end beside the rest of the padded version. */
function paddedEnd(ours: string, padded: string, at: number): number {
  const theirs = padded.slice(at);
  if (ours === theirs) return 0;
  return ours < theirs ? -1 : 1;
}

/** Beyond the end, something that sorts before everything. */
function unitAt(text: string, position: number): number {
  return position < text.length ? text.charCodeAt(position) : -1;
}

function endOfPart(text: string, start: number, end: number): number {
  let position = start;
  while (position < end && text.charCodeAt(position) !== HYPHEN && text.charCodeAt(position) !== DOT) position++;
  return position;
}

function isNumeric(text: string, start: number, stop: number): boolean {
  for (let position = start; position < stop; position++) {
    const unit = text.charCodeAt(position);
    if (unit < DIGIT_ZERO || unit > DIGIT_NINE) return false;
  }
  return stop > start;
}
