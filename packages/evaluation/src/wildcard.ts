/** A pattern with `*` wildcards, as the texts between them; one text means no wildcard. */
export type WildcardPattern = readonly string[];

/**
 * Whether the whole text matches the pattern; each wildcard stands for any text, also none. Goes through the text
 * once, so that no pattern is slow on any text (a regular expression with many `.*` is).
 *
 * @example matchesWildcard('www.example.com', ['', '.example.com']) // true
 */
export function matchesWildcard(text: string, pattern: WildcardPattern): boolean {
  const first = pattern[0] ?? '';
  if (pattern.length < 2) return text === first;
  const last = pattern.at(-1) ?? '';
  if (!text.startsWith(first)) return false;
  let position = first.length;
  for (const part of pattern.slice(1, -1)) {
    const found = text.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  return text.length - last.length >= position && text.endsWith(last);
}
