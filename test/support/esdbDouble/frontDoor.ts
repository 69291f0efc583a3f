import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { pipeline, Transform } from 'node:stream';

/** Where a front door leads to. */
export interface Inside {
  readonly host: string;
  readonly port: number;
}

/** A TCP relay in front of a server: it can cut or freeze connections, which the server cannot. */
export interface FrontDoor {
  readonly port: number;
  /** Cuts every connection; new ones are taken. */
  readonly closeConnections: () => void;
  /**
   * While frozen, nothing passes in either direction, no connection is cut and new ones are taken: what a
   * server does whose process is stopped.
   */
  readonly freeze: (frozen: boolean) => void;
  readonly close: () => Promise<void>;
}

/** Port 0 takes a free one. */
export const frontDoor = async (port: number, inside: Inside): Promise<FrontDoor> => {
  const sockets = new Set<Socket>();
  let thawed = Promise.resolve();
  let thaw: () => void = () => undefined;
  let isFrozen = false;
  const gate = () =>
    new Transform({
      transform: (chunk: Buffer, _, passed) => void thawed.then(() => passed(null, chunk)),
    });
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.setNoDelay(true).once('close', () => sockets.delete(socket));
  };
  const relay = createServer((caller) => {
    const server = keep(connect(inside.port, inside.host));
    const [request, answer] = [gate(), gate()];
    // A connection that was cut takes the other half with it.
    const end = () => {
      for (const part of [caller, server, request, answer]) part.destroy();
    };
    pipeline(keep(caller), request, server, end);
    pipeline(server, answer, caller, end);
  });
  relay.listen(port, '127.0.0.1');
  await once(relay, 'listening');
  const closeConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (relay.address() as AddressInfo).port,
    closeConnections,
    freeze: (frozen) => {
      if (frozen === isFrozen) return;
      isFrozen = frozen;
      if (frozen) thawed = new Promise((resolve) => (thaw = resolve));
      else thaw();
    },
    close: async () => {
      const closed = once(relay, 'close');
      relay.close();
      closeConnections();
      await closed;
    },
  };
};
