import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** A service of a compose file, as far as it concerns us. */
export interface ComposedService {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly build?: { readonly context: string; readonly dockerfile: string };
}

export interface Composed {
  readonly services: Readonly<Record<string, ComposedService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

export const deployFile = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../deploy/${name}`, import.meta.url)), 'utf8');

export const readCompose = (name: string): Composed => parse(deployFile(name), { merge: true }) as Composed;

/** Fills in `${NAME}`, `${NAME:-otherwise}` and `${NAME:?what it is}` as compose does. */
export function filledIn(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, mark?: string, rest = '') => {
    const value = variables[name] ?? '';
    if (value !== '') return value;
    if (mark === '?') throw new Error(`${name} is not set: ${rest}`);
    return rest;
  });
}
