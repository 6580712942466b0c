import { readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { DataDirectoryError } from './data-directory-error.ts';

/** The operating system's user that PostgreSQL runs as. */
export interface ServerUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  /** Halyard is root and has to change to this user, because PostgreSQL refuses to run as root. */
  readonly isOther: boolean;
}

/**
 * Which user PostgreSQL gets when Halyard is root, in this order: one of its own where the operator made it, the
 * one that PostgreSQL packages make, and the one that every Linux has. (`nobody` serves other programs as well and
 * can be reached by them; making a user `halyard` before the first start is better.)
 */
const PREFERRED = ['halyard', 'postgres', 'nobody'];

interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * The user for PostgreSQL: Halyard's own, or an unprivileged one when Halyard is root. A database that exists keeps
 * the user who owns its files, whatever users are made later.
 *
 * @param files PostgreSQL's own files, which need not exist yet
 * @param effectiveUid Halyard's own user
 */
export function chooseServerUser(files: string, effectiveUid = process.geteuid?.() ?? 0): ServerUser {
  const owner = statSync(files, { throwIfNoEntry: false })?.uid;
  return effectiveUid === 0 ? userBesideRoot(files, owner) : ownUser(files, owner, effectiveUid);
}

function ownUser(files: string, owner: number | undefined, uid: number): ServerUser {
  if (owner !== undefined && owner !== uid) {
    throw new DataDirectoryError(
      `The database in ${files} belongs to ${nameOf(owner)}: start Halyard as the user it was made with (root, if ${nameOf(owner)} ` +
        `is the user of PostgreSQL alone), or set HALYARD_DATA_DIR to another directory.`,
    );
  }
  return { name: ownName(uid), uid, gid: process.getegid?.() ?? uid, isOther: false };
}

function userBesideRoot(files: string, owner: number | undefined): ServerUser {
  const accounts = readAccounts();
  if (owner === undefined) {
    const account = preferred(accounts);
    if (account !== undefined) return { ...account, isOther: true };
    throw new DataDirectoryError(
      `PostgreSQL does not run as root, and there is no user it could run as: make one (useradd --system halyard), ` +
        `start Halyard as an unprivileged user, or set DATABASE_URL.`,
    );
  }
  const account = accounts.find((candidate) => candidate.uid === owner);
  if (owner === 0 || account === undefined) {
    const name = preferred(accounts)?.name ?? 'nobody';
    throw new DataDirectoryError(
      `The database in ${files} belongs to ${owner === 0 ? 'root' : `an unknown user (${owner})`}, as which PostgreSQL ` +
        `cannot run: give it to another user (chown -R ${name} '${files}').`,
    );
  }
  return { ...account, isOther: true };
}

function preferred(accounts: Account[]): Account | undefined {
  const found = PREFERRED.map((name) => accounts.find((account) => account.name === name && account.uid !== 0));
  return found.find((account) => account !== undefined);
}

/** The names of the users that may connect over the socket: PostgreSQL asks the kernel who is at the other end. */
export function namesAllowedToConnect(user: ServerUser): string[] {
  // Root is always among them: it may do everything anyway, and the operator's commands are often run with sudo.
  return [...new Set([user.name, rootName()])];
}

function ownName(uid: number): string {
  try {
    return userInfo().username;
  } catch (error) {
    // As in a container that is given just any number; initdb and the check at the socket both want a name.
    throw new DataDirectoryError(
      `The user ${uid} has no name on this machine, and PostgreSQL wants one: add it to /etc/passwd, start Halyard as ` +
        `a user that has one, or set DATABASE_URL.`,
      { cause: error },
    );
  }
}

function rootName(): string {
  return readAccounts().find((account) => account.uid === 0)?.name ?? 'root';
}

/** A name for messages. */
export function nameOf(uid: number): string {
  return readAccounts().find((account) => account.uid === uid)?.name ?? `user ${uid}`;
}

function readAccounts(): Account[] {
  let text: string;
  try {
    text = readFileSync('/etc/passwd', 'utf8');
  } catch {
    return [];
  }
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
  });
}
