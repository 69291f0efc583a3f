import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Problem } from '../../../src/server/problems.ts';
import { answersOut, sendPieces, sendWhole } from '../../../src/server/answers.ts';

/** More than the buffers of the system take. */
const LONG = '\u{1F4C4}x'.repeat(4_000_000);

/** A server that answers every request by `send`, until `work` is done. */
const serving = async (
  send: (res: ServerResponse) => Promise<void>,
  work: (port: number) => Promise<void>,
): Promise<void> => {
  const server = createServer((_req, res) => void send(res));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await work((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

describe('an answer', () => {
  it('that is long arrives whole, its letters too', () =>
    serving(
      (res) => sendWhole(res, LONG),
      async (port) => {
        const answer = await fetch(`http://127.0.0.1:${String(port)}/`);
        expect((await answer.text()) === LONG).to.equal(true);
        expect(answer.headers.get('content-length')).to.equal(String(Buffer.byteLength(LONG)));
      },
    ));

  const cutOff = async (send: (res: ServerResponse) => Promise<void>): Promise<void> => {
    const left = new Promise<ServerResponse>((resolve) => {
      void serving(
        async (res) => {
          await send(res);
          resolve(res);
        },
        async (port) => {
          const socket = connect(port, '127.0.0.1').on('error', () => undefined);
          socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
          socket.pause();
          await left;
          socket.destroy();
        },
      );
    });
    expect((await left).destroyed).to.equal(true);
  };

  it('that nobody reads is cut off', () => cutOff((res) => sendWhole(res, LONG, { silentMs: 50 })));

  it('in pieces that nobody reads is cut off', () =>
    cutOff((res) => sendPieces(res, [LONG, 'more'], { silentMs: 50 })));

  it('in pieces that fails is no whole answer', () =>
    serving(
      async (res) => {
        const failing = (async function* () {
          yield await Promise.resolve('a');
          throw new Error('away');
        })();
        await sendPieces(res, failing).catch(() => res.destroy());
      },
      async (port) => {
        const answer = fetch(`http://127.0.0.1:${String(port)}/`).then((reply) => reply.text());
        expect(await answer.catch(() => 'broken')).to.equal('broken');
      },
    ));

  it('that waits to be read counts for its tenant until it was', () => {
    const unread = answersOut(100);
    const refused = (tenant: string): boolean => {
      try {
        unread.check(tenant);
        return false;
      } catch (error) {
        return error instanceof Problem && error.code === 'rate_limited';
      }
    };
    const release = [unread.hold('a', 60), unread.hold('a', 60)];
    expect([refused('a'), refused('b')]).to.deep.equal([true, false]);
    release[0]?.();
    expect(refused('a')).to.equal(false);
  });
});
