import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Which build runs: version, commit and its date; empty text where unknown. */
export interface Build {
  readonly version: string;
  readonly commit: string;
  readonly date: string;
}

/** Read once at start: the version from `package.json`, the commit from git where the service runs from a checkout. */
export function readBuild(): Build {
  const root = new URL('../../../../', import.meta.url);
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string };
  const [commit = '', date = ''] = lastCommit(root);
  return { version, commit, date };
}

function lastCommit(root: URL): string[] {
  try {
    return execFileSync('git', ['log', '-1', '--format=%H%n%cI'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 2_000,
    })
      .trim()
      .split('\n');
  } catch {
    return [];
  }
}
