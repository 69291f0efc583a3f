import { expect } from 'chai';
import type { LookupAddress } from 'node:dns';
import type { Duplex } from 'node:stream';
import { checkedHost } from '@quire/engine/models/guard';
import { webhookTransport } from '../../adapters/webhooks.ts';
import { until } from '../../engine/test/support/until.ts';
import { hanging, startReceiver, status, type Receiver } from '../http/webhooks/receiver.ts';

const NEVER = new AbortController().signal;

describe('a message over HTTP', () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.stop());

  /** Far more than an answer takes on a busy machine. */
  const PATIENT_MS = 60_000;
  let timeoutMs: number;
  beforeEach(() => {
    timeoutMs = PATIENT_MS;
  });

  /** A transport whose names stand for these addresses, one after the other. */
  const over = (allowPrivateNetwork: boolean, ...answers: readonly string[]) => {
    let asked = 0;
    const resolve = (): Promise<readonly LookupAddress[]> => {
      const address = answers[Math.min(asked, answers.length - 1)]!;
      asked += 1;
      return Promise.resolve([{ address, family: 4 }]);
    };
    const policy = { allowPrivateNetwork, resolve };
    const transport = webhookTransport({
      addressesOf: (url) => checkedHost(url, policy),
      timeoutMs,
    });
    const { port } = new URL(receiver.url);
    const url = `http://hooks.example.com:${port}/quire`;
    const headers = { 'webhook-id': 'msg_1' };
    return {
      send: (signal = NEVER) => transport({ url, headers, body: '{"type":"x"}', signal }),
      asked: () => asked,
    };
  };

  it('goes to the address that was checked, whatever the name stands for a moment later', async () => {
    const { send, asked } = over(true, '127.0.0.1', '192.0.2.1');
    expect(await send()).to.deep.equal({ error: null, response_status: 204, retryAfterMs: 0 });
    expect(asked()).to.equal(1);
    expect(receiver.received[0]!.headers['host']).to.include('hooks.example.com');
  });

  it('goes nowhere when a name that was public stands for a private address now', async () => {
    const { send } = over(false, '127.0.0.1');
    expect(await send()).to.deep.include({ error: 'unsafe_address', response_status: null });
    expect(receiver.received).to.have.lengthOf(0);
  });

  it('takes 2xx for delivered, and nothing else', async () => {
    const { send } = over(true, '127.0.0.1');
    for (const [code, error] of [
      [200, null],
      [299, null],
      [302, 'redirect'],
      [400, 'status'],
      [500, 'status'],
    ] as const) {
      receiver.answerWith(status(code));
      expect(await send(), String(code)).to.deep.include({ error, response_status: code });
    }
  });

  it('ends in time when nothing is answered, and when the connection breaks', async () => {
    timeoutMs = 200;
    const hurried = over(true, '127.0.0.1');
    receiver.answerWith(hanging);
    expect(await hurried.send()).to.deep.include({ error: 'timeout', response_status: null });
    timeoutMs = 2_000;
    const { send } = over(true, '127.0.0.1');
    receiver.answerWith((_message, response) => response.socket?.destroy());
    expect(await send()).to.deep.include({ error: 'connection', response_status: null });
    receiver.answerWith((_message, response) => void response.writeHead(200).write('{'));
    expect(await send(), 'a body without an end').to.deep.include({ error: null, response_status: 200 });
  });

  it('ends when the receiver wants another protocol, at once and whatever it does then', async () => {
    const { send } = over(true, '127.0.0.1');
    const sockets: Duplex[] = [];
    receiver.answerWith((_message, response) => {
      const { socket } = response;
      if (socket === null) throw new Error('no socket');
      sockets.push(socket);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: quire\r\n\r\n');
    });
    expect(await send()).to.deep.equal({ error: 'status', response_status: 101, retryAfterMs: 0 });
    await until(() => sockets.every((socket) => socket.destroyed));
  });

  it('ends in time when it is told to wait again and again, and when its caller gives up', async () => {
    timeoutMs = 200;
    const { send } = over(true, '127.0.0.1');
    receiver.answerWith((_message, { socket }) => {
      const more = (): void => {
        if (socket?.destroyed === false)
          socket.write('HTTP/1.1 102 Processing\r\n\r\n', () => setImmediate(more));
      };
      more();
    });
    expect(await send()).to.deep.include({ error: 'timeout', response_status: null });
    receiver.answerWith(hanging);
    const leaving = new AbortController();
    const sending = send(leaving.signal);
    leaving.abort();
    expect(await sending).to.deep.include({ error: 'timeout', response_status: null });
    expect(await send(AbortSignal.abort())).to.deep.include({ error: 'timeout', response_status: null });
  });

  it('takes a pause that is asked for in seconds, for a day at most', async () => {
    const { send } = over(true, '127.0.0.1');
    for (const [header, ms] of [
      ['30', 30_000],
      ['999999', 86_400_000],
      ['tomorrow', 0],
      ['-1', 0],
    ] as const) {
      receiver.answerWith(status(503, { 'retry-after': header }));
      expect(await send(), header).to.deep.include({ error: 'status', retryAfterMs: ms });
    }
  });
});
