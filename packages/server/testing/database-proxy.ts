import { once } from 'node:events';
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TestDatabase } from './database.ts';

/** A network between a service and its database that can fail in the ways networks do. */
export interface DatabaseProxy {
  readonly address: TestDatabase['address'];
  /** Everything passes at once. */
  pass(): void;
  /** Whatever passes in either direction takes so many milliseconds longer. */
  delay(milliseconds: number): void;
  /** Connections stay open and new ones open, but nothing passes in either direction any more: a half-open network. */
  swallow(): void;
  /** Connections end and new ones are refused: a server that is stopped. */
  refuse(): void;
  stop(): Promise<void>;
}

type Mode =
  | { readonly kind: 'pass' | 'swallow' | 'refuse' }
  | { readonly kind: 'delay'; readonly milliseconds: number };

/** Puts a proxy in front of a database. */
export async function proxyOf(database: TestDatabase['address']): Promise<DatabaseProxy> {
  let mode: Mode = { kind: 'pass' };
  const sockets = new Set<Socket>();

  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    return socket;
  };
  const relay = (from: Socket, to: Socket): void => {
    from.on('data', (chunk) => {
      if (mode.kind === 'swallow') return;
      if (mode.kind === 'delay') setTimeout(() => to.write(chunk), mode.milliseconds);
      else to.write(chunk);
    });
    from.on('close', () => to.destroy());
  };

  const server = createServer((near) => {
    keep(near);
    if (mode.kind === 'refuse') {
      near.destroy();
      return;
    }
    const far = keep(connectTo(join(database.host, `.s.PGSQL.${database.port}`)));
    relay(near, far);
    relay(far, near);
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };

  return {
    address: { ...database, host: '127.0.0.1', port },
    pass() {
      // What was swallowed is lost: such connections are of no more use.
      if (mode.kind === 'swallow') cut();
      mode = { kind: 'pass' };
    },
    delay(milliseconds) {
      mode = { kind: 'delay', milliseconds };
    },
    swallow() {
      mode = { kind: 'swallow' };
    },
    refuse() {
      mode = { kind: 'refuse' };
      cut();
    },
    async stop() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
