import { parseSync, type StringLiteral, type TemplateLiteral, Visitor } from 'oxc-parser';

/** One mention of another file or package in a file. */
export interface Import {
  readonly specifier: string;
  readonly line: number;
}

/**
 * Everything that a file imports: statically, dynamically, for its types alone, or to export it again.
 *
 * @throws when the file cannot be parsed
 */
export function readImports(path: string, text: string): Import[] {
  const { program, errors } = parseSync(path, text);
  const [error] = errors;
  if (error !== undefined) throw new Error(error.message);
  const found: Import[] = [];
  const note = (source: { value: string; start: number } | null): void => {
    if (source === null) return;
    found.push({ specifier: source.value, line: text.slice(0, source.start).split('\n').length });
  };
  new Visitor({
    ImportDeclaration: ({ source }) => note(source),
    ExportAllDeclaration: ({ source }) => note(source),
    ExportNamedDeclaration: ({ source }) => note(source),
    ImportExpression: ({ source }) => note(textOf(source)),
    TSImportType: ({ source }) => note(source),
  }).visit(program);
  return found.toSorted((one, other) => one.line - other.line);
}

/** A specifier that is put together at run time cannot be judged. */
function textOf(source: { type: string; start: number }): { value: string; start: number } | null {
  if (source.type === 'Literal') return { value: String((source as StringLiteral).value), start: source.start };
  if (source.type !== 'TemplateLiteral') return null;
  const { quasis, expressions } = source as TemplateLiteral;
  return expressions.length > 0 ? null : { value: quasis[0]?.value.cooked ?? '', start: source.start };
}
