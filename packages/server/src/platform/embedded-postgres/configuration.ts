import { chown, writeFile } from 'node:fs/promises';
import { LOOPBACK, SOCKET_PORT } from './connection.ts';
import type { Layout } from './layout.ts';
import { namesAllowedToConnect, type ServerUser } from './server-user.ts';

/** Where the server listens: on its socket, or on a port of the loopback interface. */
export type Listening = { readonly on: 'socket' } | { readonly on: 'loopback'; readonly port: number };

/**
 * Writes PostgreSQL's configuration anew, as it is before each of its starts: nothing in these files is for editing.
 * They belong to Halyard's user; PostgreSQL's own may read them only.
 */
export async function writeConfiguration(layout: Layout, listening: Listening, user: ServerUser): Promise<void> {
  const files = [
    [layout.configurationFile, serverConfiguration(layout, listening)],
    [layout.authenticationFile, authentication(listening)],
    [layout.userMapFile, userMap(namesAllowedToConnect(user))],
  ] as const;
  for (const [path, text] of files) {
    await writeFile(path, `# Written by Halyard before each start.\n${text}`, { mode: 0o640 });
    if (user.isOther) await chown(path, 0, user.gid);
  }
}

function serverConfiguration(layout: Layout, listening: Listening): string {
  const settings: Record<string, string | number> = {
    ...(listening.on === 'socket'
      ? {
          listen_addresses: '',
          port: SOCKET_PORT,
          // A list of directories; the inner quotes keep a comma in the path from parting it.
          unix_socket_directories: `"${layout.socketDirectory.replaceAll('"', '""')}"`,
          unix_socket_permissions: '0700',
        }
      : { listen_addresses: LOOPBACK, port: listening.port, unix_socket_directories: '' }),
    hba_file: layout.authenticationFile,
    ident_file: layout.userMapFile,
    cluster_name: 'halyard',

    // An acknowledged write is on the disk.
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',

    // A small neighbour: no processes that would only wait, no segments in a container's narrow /dev/shm.
    max_connections: 100,
    shared_buffers: '64MB',
    huge_pages: 'off',
    io_method: 'sync',
    max_worker_processes: 2,
    max_parallel_workers: 0,
    max_parallel_workers_per_gather: 0,
    max_parallel_maintenance_workers: 0,
    max_logical_replication_workers: 0,
    autovacuum_max_workers: 2,
    autovacuum_worker_slots: 2,
    max_wal_size: '256MB',
    min_wal_size: '32MB',
    jit: 'off',

    // To the file that Halyard opens and keeps small. Terse, because details of an error hold people's values.
    log_destination: 'stderr',
    logging_collector: 'off',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    log_line_prefix: '%m [%p] ',

    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    allow_alter_system: 'off',
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${typeof value === 'number' ? value : quoted(value)}\n`)
    .join('');
}

/** Over the socket the kernel says who is at the other end; over TCP a password does. Nobody else is let in. */
function authentication(listening: Listening): string {
  return listening.on === 'socket'
    ? 'local all halyard peer map=halyard\n'
    : `host all halyard ${LOOPBACK}/32 scram-sha-256\n`;
}

function userMap(names: string[]): string {
  return names.map((name) => `halyard "${name.replaceAll('"', '""')}" halyard\n`).join('');
}

function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
