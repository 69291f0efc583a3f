import { expect } from 'chai';
import type { Socket } from 'node:net';
import { ADMIN_KEY } from '../support/serviceProcess.ts';
import { startApi, type TestApi } from '../http/support/testApi.ts';
import { sendRaw } from './rawSocket.ts';
import { until } from '../../engine/test/support/until.ts';

const HEAD = [
  'POST /v1/documents/page-count HTTP/1.1',
  'Host: x',
  `X-API-KEY: ${ADMIN_KEY}`,
  'Content-Type: application/json',
  '',
].join('\r\n');

/** What an attacker wants the service to take for a request of its own. */
const SMUGGLED = 'GET /v1/smuggled HTTP/1.1\r\nHost: x\r\n\r\n';

const chunked = (body: string, header = 'Transfer-Encoding: chunked'): string =>
  `${HEAD}${header}\r\n\r\n${body}`;
const ONE_CHUNK = '2\r\n{}\r\n0\r\n\r\n';

/** Requests that two parsers in a row may cut at different places. */
const AMBIGUOUS: Readonly<Record<string, string>> = {
  'Content-Length before Transfer-Encoding': `${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'Transfer-Encoding before Content-Length': `${HEAD}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
  'two Content-Lengths': `${HEAD}Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}`,
  'the same Content-Length twice': `${HEAD}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`,
  'a list of Content-Lengths': `${HEAD}Content-Length: 2, 2\r\n\r\n{}`,
  'a Content-Length with a sign': `${HEAD}Content-Length: +2\r\n\r\n{}`,
  'a negative Content-Length': `${HEAD}Content-Length: -2\r\n\r\n{}`,
  'a hexadecimal Content-Length': `${HEAD}Content-Length: 0x2\r\n\r\n{}`,
  'a Content-Length that overflows': `${HEAD}Content-Length: 99999999999999999999\r\n\r\n{}`,
  'an unknown transfer coding': chunked(ONE_CHUNK, 'Transfer-Encoding: xchunked'),
  'chunked that is not the last coding': chunked(ONE_CHUNK, 'Transfer-Encoding: chunked, identity'),
  'chunked twice': chunked(ONE_CHUNK, 'Transfer-Encoding: chunked, chunked'),
  'chunked with a parameter': chunked(ONE_CHUNK, 'Transfer-Encoding: chunked;q=1'),
  'chunked in quotes': chunked(ONE_CHUNK, 'Transfer-Encoding: "chunked"'),
  'a space before the colon': chunked(ONE_CHUNK, 'Transfer-Encoding : chunked'),
  'a folded Transfer-Encoding': chunked(ONE_CHUNK, 'Transfer-Encoding:\r\n chunked'),
  'a folded header': `${HEAD}X-A: b\r\n c\r\nContent-Length: 2\r\n\r\n{}`,
  'line feeds alone': `${HEAD}Content-Length: 2\r\n\r\n{}`.replaceAll('\r\n', '\n'),
  'one line feed alone': `${HEAD}X-A: b\nContent-Length: 2\r\n\r\n{}`,
  'a carriage return alone': `${HEAD}X-A: b\rContent-Length: 2\r\n\r\n{}`,
  'headers that end with a stray carriage return': `${HEAD}Content-Length: 2\r\n\rX{}`,
  'NUL in a header': `${HEAD}X-A: b\0c\r\nContent-Length: 2\r\n\r\n{}`,
  'no Host': 'GET /health HTTP/1.1\r\n\r\n',
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
};

/** Framing that breaks within the body: the request may be answered, what follows is never read as one. */
const BROKEN_CHUNKS: Readonly<Record<string, string>> = {
  'a chunk size that overflows': chunked('fffffffffffffffff\r\n{}\r\n0\r\n\r\n'),
  'a negative chunk size': chunked('-2\r\n{}\r\n0\r\n\r\n'),
  'a chunk size with 0x': chunked('0x2\r\n{}\r\n0\r\n\r\n'),
  'a chunk size ended by a line feed alone': chunked('2\n{}\r\n0\r\n\r\n'),
  'a chunk longer than its size': chunked('2\r\n{}XX0\r\n\r\n'),
  'a chunk extension of 20 kB': chunked(`2;a=${'b'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
  'trailers of 20 kB': chunked(`2\r\n{}\r\n0\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`),
  'a trailer that frames': chunked('2\r\n{}\r\n0\r\nContent-Length: 3\r\n\r\n'),
};

/** Less patience than in service: what takes minutes there takes a blink here. */
const IMPATIENT = {
  headersTimeout: 1_000,
  requestTimeout: 2_000,
  keepAliveTimeout: 300,
  connectionsCheckingInterval: 50,
  unreadTimeout: 200,
};

describe('HTTP over raw sockets', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi({}, undefined, IMPATIENT);
  });
  after(() => api.stop());

  const isServing = async () =>
    expect((await api.call('get', '/health', { key: null })).status).to.equal(200);

  describe('request smuggling', () => {
    for (const [what, bytes] of Object.entries(AMBIGUOUS))
      it(`refuses ${what}, and reads nothing behind it`, async () => {
        const { statuses, closedByServer, text } = await sendRaw(api.url, bytes + SMUGGLED);
        expect(statuses, text).to.deep.equal([400]);
        expect(closedByServer).to.equal(true);
      });

    for (const [what, bytes] of Object.entries(BROKEN_CHUNKS))
      it(`closes the connection at ${what}, and reads nothing behind it`, async () => {
        const { statuses, closedByServer, text } = await sendRaw(api.url, bytes + SMUGGLED);
        expect(
          statuses.every((status) => status >= 400 && status !== 404),
          text,
        ).to.equal(true);
        expect(statuses.length).to.be.at.most(1);
        expect(closedByServer).to.equal(true);
      });

    it('takes a body of a request without one for a body, not for a request', async () => {
      const bytes = `GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`;
      const { statuses } = await sendRaw(api.url, bytes);
      expect(statuses).to.deep.equal([200]);
    });

    it('answers pipelined requests in order, one each, the refused too', async () => {
      const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
      const bytes = `${chunked(ONE_CHUNK)}${get('/health')}${get('/nothing')}${get('/health')}${get('/nothing')}`;
      const { statuses } = await sendRaw(api.url, bytes, { answers: 5 });
      expect(statuses).to.deep.equal([422, 200, 404, 200, 404]);
    });
  });

  describe('what is large', () => {
    it('refuses headers of more than 16 kB: 431', async () => {
      const bytes = `GET /health HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(17_000)}\r\n\r\n`;
      expect((await sendRaw(api.url, bytes)).statuses).to.deep.equal([431]);
    });

    it('refuses a path of more than 16 kB: 431', async () => {
      const bytes = `GET /health?${'a'.repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`;
      expect((await sendRaw(api.url, bytes)).statuses).to.deep.equal([431]);
    });

    it('stands very many small headers: answered, or 431 where Node counts more than their bytes', async () => {
      const sent = (count: number) => {
        const many = Array.from({ length: count }, (_, at) => `${String(at % 10)}:`).join('\r\n');
        return sendRaw(api.url, `GET /health HTTP/1.1\r\nHost: x\r\n${many}\r\n\r\n`, { answers: 1 });
      };
      expect((await sent(500)).statuses).to.deep.equal([200]);
      expect([[200], [431]]).to.deep.include((await sent(3_000)).statuses);
      expect((await sent(500)).statuses).to.deep.equal([200]);
    });
  });

  describe('what never becomes a request', () => {
    const host = 'Host: x\r\n';
    const refused: readonly (readonly [string, string, number, string])[] = [
      ['a line that is none', 'GET\r\n\r\n', 400, 'malformed_request'],
      ['no Host', 'GET /health HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
      ['two Hosts', `GET /health HTTP/1.1\r\n${host}${host}\r\n`, 400, 'malformed_request'],
      ['two Hosts that differ', `GET /health HTTP/1.1\r\n${host}host: y\r\n\r\n`, 400, 'malformed_request'],
      [
        'headers of more than 16 kB',
        `GET /health HTTP/1.1\r\n${host}X-A: ${'a'.repeat(17_000)}\r\n\r\n`,
        431,
        'headers_too_large',
      ],
      [
        'chunk extensions of 20 kB',
        chunked(`2;a=${'b'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
        413,
        'body_too_large',
      ],
      [
        'an expectation',
        `GET /health HTTP/1.1\r\n${host}Expect: 200-maybe\r\n\r\n`,
        417,
        'expectation_failed',
      ],
      ['nothing, for a while', '', 408, 'request_timeout'],
    ];
    for (const [what, bytes, status, code] of refused)
      it(`is answered with a problem, and the connection ends: ${what}`, async () => {
        const { statuses, text, closedByServer } = await sendRaw(api.url, bytes);
        expect([statuses, closedByServer], text).to.deep.equal([[status], true]);
        const [head = '', body = ''] = text.split('\r\n\r\n');
        expect(head.toLowerCase()).to.include('content-type: application/problem+json');
        expect(head.toLowerCase()).to.include('x-content-type-options: nosniff');
        const problem = JSON.parse(body) as Readonly<Record<string, unknown>>;
        expect(problem).to.include({ status, code, type: `/docs/problems/${code}` });
        expect(problem['detail']).to.be.a('string').that.matches(/\.$/);
        expect(head.toLowerCase()).to.include(`x-request-id: ${String(problem['request_id'])}`);
      });
  });

  describe('what is slow', () => {
    /** Sends one byte after the other until the connection is closed. */
    const trickle =
      (text: string, everyMs: number) =>
      (socket: Socket): void => {
        let at = 0;
        const timer = setInterval(() => {
          socket.write(text[at % text.length] ?? '');
          at += 1;
        }, everyMs);
        socket.once('close', () => clearInterval(timer));
      };

    it('closes a connection that sends nothing', async () => {
      const { statuses, closedByServer } = await sendRaw(api.url, '');
      expect([statuses, closedByServer]).to.deep.equal([[408], true]);
    });

    it('closes a connection whose headers trickle in, and answers others meanwhile', async () => {
      const slow = sendRaw(api.url, 'GET /health HTTP/1.1\r\nHost: x\r\n', {
        send: trickle('X-A: b\r\n', 20),
      });
      await isServing();
      const { statuses, closedByServer } = await slow;
      expect([statuses, closedByServer]).to.deep.equal([[408], true]);
    });

    it('closes a connection whose body trickles in, and answers others meanwhile', async () => {
      const bytes = `${HEAD}Content-Length: 100000\r\n\r\n`;
      const slow = sendRaw(api.url, bytes, { send: trickle(' ', 20) });
      await isServing();
      const { statuses, closedByServer } = await slow;
      expect([statuses, closedByServer]).to.deep.equal([[408], true]);
    });

    it('closes a connection whose endless body nobody wants, a while after the answer', async () => {
      const bytes = 'GET /health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
      const { statuses, closedByServer } = await sendRaw(api.url, bytes, { send: trickle('1\r\nx\r\n', 10) });
      expect(statuses[0]).to.equal(200);
      expect(closedByServer).to.equal(true);
    });

    it('closes a connection that stays idle after its answer', async () => {
      const { statuses, closedByServer } = await sendRaw(api.url, 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
      expect([statuses, closedByServer]).to.deep.equal([[200], true]);
    });

    it('keeps an idle connection for longer than pools do, and for less long once half of all are taken', async () => {
      const small = await startApi({}, undefined, {
        connectionsMax: 3,
        keepAliveTimeout: 75_000,
        crowdedKeepAliveTimeout: 50,
      });
      try {
        const get = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';
        const kept: Socket[] = [];
        const first = sendRaw(small.url, get, { send: (socket) => kept.push(socket) });
        await until(() => (kept[0]?.bytesRead ?? 0) > 0);
        const second = await sendRaw(small.url, get);
        expect([second.statuses, second.closedByServer]).to.deep.equal([[200], true]);
        expect(kept[0]!.destroyed, 'the first is kept').to.equal(false);
        kept[0]!.destroy();
        expect((await first).text).to.match(/Keep-Alive: timeout=75/i);
      } finally {
        await small.stop();
      }
    });

    it('ends without waiting for a connection whose last request is answered meanwhile', async () => {
      const ending = await startApi();
      const body = '{}';
      const sent: Socket[] = [];
      const heard = sendRaw(ending.url, `${HEAD}Content-Length: ${body.length}\r\n\r\n`, {
        send: (socket) => sent.push(socket),
      });
      await until(() => sent.length === 1);
      await isServing();
      const ended = ending.stop();
      sent[0]!.write(body);
      await ended;
      expect((await heard).closedByServer).to.equal(true);
    });

    it('answers others while hundreds of connections hang', async () => {
      const hanging = Array.from({ length: 300 }, () => sendRaw(api.url, 'GET /health HT'));
      await isServing();
      const heard = await Promise.all(hanging);
      expect(heard.every(({ closedByServer }) => closedByServer)).to.equal(true);
    });
  });

  describe('what is unusual', () => {
    const get = (line: string, headers = 'Host: x\r\n') => `${line}\r\n${headers}\r\n`;

    it('answers HTTP/1.0 and closes', async () => {
      const { statuses, closedByServer } = await sendRaw(api.url, get('GET /health HTTP/1.0', ''));
      expect([statuses, closedByServer]).to.deep.equal([[200], true]);
    });

    it('answers an absolute URI by its path: it is no proxy', async () => {
      const { statuses, text } = await sendRaw(api.url, get('GET http://evil.example/health HTTP/1.1'), {
        answers: 1,
      });
      expect(statuses).to.deep.equal([200]);
      expect(text).to.not.include('evil.example');
    });

    it('never puts the Host header into an answer', async () => {
      const bytes = get(
        'GET /v1/nothing HTTP/1.1',
        'Host: evil.example\r\nX-Forwarded-Host: evil.example\r\n',
      );
      const { statuses, text } = await sendRaw(api.url, bytes, { answers: 1 });
      expect(statuses).to.deep.equal([404]);
      expect(text).to.not.include('evil.example');
    });

    it('asks for the body that waits for 100-continue, and refuses other expectations: 417', async () => {
      const asked = await sendRaw(api.url, `${HEAD}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n`, {
        answers: 1,
      });
      expect(asked.statuses).to.deep.equal([100]);
      const other = await sendRaw(api.url, `${HEAD}Content-Length: 2\r\nExpect: 200-maybe\r\n\r\n{}`, {
        answers: 1,
      });
      expect(other.statuses).to.deep.equal([417]);
    });

    it('does not trace: what was sent does not come back', async () => {
      const { statuses, text } = await sendRaw(
        api.url,
        get('TRACE /health HTTP/1.1', `Host: x\r\nX-API-KEY: ${ADMIN_KEY}\r\n`),
        { answers: 1 },
      );
      expect(statuses).to.deep.equal([405]);
      expect(text).to.not.include(ADMIN_KEY);
    });

    it('does not tunnel: CONNECT is closed without an answer', async () => {
      const { statuses, closedByServer } = await sendRaw(api.url, get('CONNECT 127.0.0.1:22 HTTP/1.1'));
      expect([statuses, closedByServer]).to.deep.equal([[], true]);
    });

    it('does not switch protocols: WebSocket and h2c get the plain answer', async () => {
      for (const upgrade of [
        'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAA\r\nSec-WebSocket-Version: 13\r\n',
        'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n',
      ]) {
        const bytes = get('GET /health HTTP/1.1', `Host: x\r\n${upgrade}`);
        expect((await sendRaw(api.url, bytes, { answers: 1 })).statuses).to.deep.equal([200]);
      }
    });

    it('does not take two keys for one', async () => {
      const headers = `Host: x\r\nX-API-KEY: ${ADMIN_KEY}\r\nX-API-KEY: ${ADMIN_KEY}\r\n`;
      const { statuses } = await sendRaw(api.url, get('GET /v1/admin/tenants HTTP/1.1', headers), {
        answers: 1,
      });
      expect(statuses).to.deep.equal([401]);
    });
  });

  it('takes no more connections than it may, and new ones when those have gone', async () => {
    const small = await startApi({}, undefined, { connectionsMax: 3, headersTimeout: 60_000 });
    try {
      const idle: Socket[] = [];
      const held = Array.from({ length: 3 }, () =>
        sendRaw(small.url, 'GET /health HT', { send: (socket) => idle.push(socket), patienceMs: 20_000 }),
      );
      await until(() => idle.length === 3);
      const refused = await sendRaw(small.url, 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
      expect([refused.statuses, refused.closedByServer]).to.deep.equal([[], true]);
      for (const socket of idle) socket.destroy();
      await Promise.all(held);
      const again = async () =>
        (await sendRaw(small.url, 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n', { answers: 1 })).statuses[0];
      let status = await again();
      for (let tries = 0; tries < 100 && status === undefined; tries += 1) status = await again();
      expect(status).to.equal(200);
    } finally {
      await small.stop();
    }
  });
});
