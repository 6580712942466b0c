import { getVersion } from '@halyard/contract';
import { bind, type Route } from './http/index.ts';
import type { Build } from './platform/index.ts';

/** Tells which build runs. */
export const versionRoute = ({ version, commit, date }: Build): Route =>
  bind(getVersion, async () => ({ version, commit, date }));
