const quotationMark = '"';
const backslash = 0x5c;

/**
 * The members of a JSON object by name, each as it is written. A parser would lose what makes the bytes of a payload: it puts
 * keys that look like numbers first.
 *
 * @param text of a valid object, without the braces around it and without spaces between its own members
 * @throws SyntaxError
 */
export function jsonMembers(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (let at = 0; at < text.length; ) {
    const nameEnd = endOfString(text, at);
    if (text[nameEnd] !== ':') throw new SyntaxError(`There is no colon after the name at ${at}.`);
    const end = endOfValue(text, nameEnd + 1);
    members.set(JSON.parse(text.slice(at, nameEnd)) as string, text.slice(nameEnd + 1, end));
    at = end + 1;
  }
  return members;
}

/** Where the string that begins there has ended. */
function endOfString(text: string, begin: number): number {
  if (text[begin] !== quotationMark) throw new SyntaxError(`No string begins at ${begin}.`);
  for (let quote = text.indexOf(quotationMark, begin + 1); quote >= 0; quote = text.indexOf(quotationMark, quote + 1)) {
    let first = quote;
    while (text.charCodeAt(first - 1) === backslash) first--;
    if ((quote - first) % 2 === 0) return quote + 1;
  }
  throw new SyntaxError(`The string at ${begin} does not end.`);
}

/** Where the value that begins there has ended: at the comma behind it, or at the end. */
function endOfValue(text: string, begin: number): number {
  let depth = 0;
  for (let at = begin; at < text.length; at++) {
    switch (text[at]) {
      case quotationMark:
        at = endOfString(text, at) - 1;
        break;
      case '{':
      case '[':
        depth++;
        break;
      case '}':
      case ']':
        depth--;
        break;
      case ',':
        if (depth === 0) return at;
        break;
      default:
    }
  }
  return text.length;
}
