import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Route } from '../../src/server/routes.ts';
import { JSON_BYTES_MAX } from '../../src/server/jsonBody.ts';
import { ADMIN_KEY } from '../support/serviceProcess.ts';
import { formOf, INVOICE, INVOICE_SCHEMA } from '../http/support/client.ts';
import { testApi, type TestApi } from '../http/support/testApi.ts';
import { sendRaw } from './rawSocket.ts';

const UPLOAD_BYTES_MAX = 1_000_000;
/** What a form may have beside its file. */
const FORM_BYTES_MAX = 2_097_152;

const pathOf = ({ path }: Route): string => path.replaceAll(/\{\w+\}/g, 'sample');

const headOf = ({ method }: Route, path: string, contentType: string): string =>
  [
    `${method.toUpperCase()} ${path} HTTP/1.1`,
    'Host: x',
    `X-API-KEY: ${ADMIN_KEY}`,
    `Content-Type: ${contentType}`,
    '',
  ].join('\r\n');

const chunkOf = (bytes: string): string => `${bytes.length.toString(16)}\r\n${bytes}\r\n`;

const MULTIPART = 'multipart/form-data; boundary=b';
const FILE_PART = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n';

describe('bodies', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  const isServing = async () =>
    expect((await api.call('get', '/health', { key: null })).status).to.equal(200);

  /** What a route takes: the most bytes, and the beginning of a body that has more. */
  const takenBy = async (route: Route) => {
    if (route.upload === true) {
      const begin = FILE_PART;
      return { path: pathOf(route), type: MULTIPART, bytesMax: UPLOAD_BYTES_MAX + FORM_BYTES_MAX, begin };
    }
    if (route.bytes === undefined)
      return { path: pathOf(route), type: 'application/json', bytesMax: JSON_BYTES_MAX, begin: '"' };
    const json = { tenant_id: 'bodies', file_name: 'a.txt', content_type: 'text/plain' };
    const { body } = await api.call('post', '/v1/uploads/presign', { json });
    const path = String(body['upload_url']).slice(api.url.length);
    return { path, type: 'text/plain', bytesMax: UPLOAD_BYTES_MAX, begin: '' };
  };

  describe('one byte more than its route takes', () => {
    const takers = () =>
      api.routes.filter(({ body, upload, bytes }) => body !== undefined || upload === true || bytes);

    it('is refused by the length that is announced, on every route, before a byte of it is sent', async () => {
      const routes = takers();
      expect(routes.length).to.be.greaterThan(20);
      for (const route of routes) {
        const { path, type, bytesMax } = await takenBy(route);
        const bytes = `${headOf(route, path, type)}Content-Length: ${String(bytesMax + 1)}\r\n\r\n`;
        const { statuses, text } = await sendRaw(api.url, bytes, { answers: 1 });
        expect(statuses, `${route.operationId}: ${text}`).to.deep.equal([413]);
        expect(text, route.operationId).to.match(/"code":"(?:body|file)_too_large"/);
      }
    });

    it('is refused by the bytes that come, on every route, before the body ends', async () => {
      for (const route of takers()) {
        const { path, type, begin } = await takenBy(route);
        const bytesMax = route.upload === true ? UPLOAD_BYTES_MAX : (await takenBy(route)).bytesMax;
        const head = `${headOf(route, path, type)}Transfer-Encoding: chunked\r\n\r\n${begin && chunkOf(begin)}`;
        const rest = chunkOf('x'.repeat(bytesMax + 1 - (route.upload === true ? 0 : begin.length)));
        // A form is judged at its end, for a field after the file may be what is wrong with it.
        const end = route.upload === true ? `${chunkOf('\r\n--b--\r\n')}0\r\n\r\n` : '';
        const { statuses, text } = await sendRaw(api.url, head + rest + end, { answers: 1 });
        expect(statuses, `${route.operationId}: ${text}`).to.deep.equal([413]);
      }
    });

    it('does not make the service read an endless body', async () => {
      for (const route of takers().filter(({ upload, bytes }) => upload === true || bytes !== undefined)) {
        const { path, type, begin } = await takenBy(route);
        let sent = 0;
        const piece = chunkOf('x'.repeat(65_536));
        const { closedByServer } = await sendRaw(
          api.url,
          `${headOf(route, path, type)}Transfer-Encoding: chunked\r\n\r\n${begin && chunkOf(begin)}`,
          {
            patienceMs: 20_000,
            send: (socket) => {
              const more = () => {
                while (!socket.destroyed && socket.write(piece)) sent += piece.length;
                sent += piece.length;
              };
              socket.on('drain', () => setImmediate(more));
              more();
            },
          },
        );
        expect(closedByServer, route.operationId).to.equal(true);
        // The kernel may have taken 36 MiB of it that nobody reads.
        expect(sent, route.operationId).to.be.lessThan(64 * 1024 * 1024);
      }
    });
  });

  it('that a route does not take change nothing, even where they are broken', async () => {
    const routes = api.routes.filter((route) => !takes(route) && route.method === 'get');
    expect(routes.length).to.be.greaterThan(20);
    for (const route of routes) {
      const path = pathOf(route);
      const bare = await api.call('get', path, { stay: true });
      const bytes = `${headOf(route, path, 'application/json')}Content-Length: 5\r\n\r\n{"a":`;
      const { statuses, text } = await sendRaw(api.url, bytes, { answers: 1 });
      expect(statuses, `${route.operationId}: ${text}`).to.deep.equal([bare.status]);
    }
  });

  const takes = ({ body, upload, bytes }: Route) =>
    body !== undefined || upload === true || bytes !== undefined;

  it('that are compressed are refused on every route that takes one: 415', async () => {
    for (const route of api.routes.filter(takes)) {
      const { path, type } = await takenBy(route);
      for (const coding of ['gzip', 'deflate', 'br', 'gzip, identity']) {
        const head = `${headOf(route, path, type)}Content-Encoding: ${coding}\r\nContent-Length: 2\r\n\r\n{}`;
        const { statuses, text } = await sendRaw(api.url, head, { answers: 1 });
        expect(statuses, `${route.operationId} ${coding}: ${text}`).to.deep.equal([415]);
      }
    }
  });

  describe('JSON', () => {
    const nested = (levels: number, open: string, close: string): string =>
      `${open.repeat(levels)}1${close.repeat(levels)}`;
    const scope = '"scope":{"tenant_id":"bodies"}';
    /** Where a caller can put a value of any shape. */
    const openPlaces: Readonly<Record<string, (value: string) => string>> = {
      '/v1/canonical': (value) =>
        `{"schema_version":"1.0","operation":"training.get",${scope},"payload":{"a":${value}}}`,
      '/v1/configs': (value) => `{"tenant_id":"bodies","schema":${value}}`,
      '/v1/training/jobs': (value) => `{"tenant_id":"bodies","schema":{},"examples":[{"expected":${value}}]}`,
      '/v1/documents/page-count': (value) => `{"documents":${value}}`,
    };
    const post = (path: string, raw: string, headers = {}) =>
      api.call('post', path, { raw, headers: { 'content-type': 'application/json', ...headers } });

    for (const [what, open, close] of [
      ['arrays', '[', ']'],
      ['objects', '{"a":', '}'],
    ] as const)
      for (const levels of [129, 10_000, 80_000])
        it(`refuses ${String(levels)} nested ${what} wherever a value is open: 400, and no defect`, async () => {
          for (const [path, bodyOf] of Object.entries(openPlaces)) {
            const reply = await post(path, bodyOf(nested(levels, open, close)), {
              'idempotency-key': randomUUID(),
            });
            expect([reply.status, reply.code], `${path}: ${reply.text}`).to.deep.equal([
              400,
              'malformed_json',
            ]);
            expect(reply.body['detail']).to.match(/nested deeper than 128/);
          }
        });

    it('takes brackets in texts for text, and a body as deep as it may be', async () => {
      const text = JSON.stringify(`\\"${'['.repeat(500)}\\`);
      const inText = await post('/v1/documents/page-count', `{"documents":[],"a":${text}}`);
      expect(inText.status, inText.text).to.equal(422);
      const deep = await post('/v1/canonical', openPlaces['/v1/canonical']?.(nested(120, '[', ']')) ?? '');
      expect(deep.code).to.not.equal('malformed_json');
    });

    it('keeps what pollutes a prototype from every place that takes any value', async () => {
      const value = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
      for (const [path, bodyOf] of Object.entries(openPlaces)) {
        const { status } = await post(path, bodyOf(value));
        expect(status, path).to.be.within(400, 422);
      }
      const schema =
        `{"type":"object","properties":{"__proto__":{"type":"string"},` +
        `"constructor":{"type":"string"},"a":{"type":"string"}}}`;
      const saved = await post('/v1/configs', `{"tenant_id":"bodies","schema":${schema}}`);
      expect(saved.status, saved.text).to.be.oneOf([200, 400]);
      const form = formOf({ schema }, INVOICE);
      const extracted = await api.call('post', '/v1/extract', { form });
      expect(extracted.status, extracted.text).to.be.oneOf([200, 400]);
      expect(({} as Readonly<Record<string, unknown>>)['polluted']).to.equal(undefined);
    });

    it('names no more than 50 of fifty thousand unknown members, and reads no more of them', async () => {
      const membersOf = (length: number) => Array.from({ length }, (_, at) => `"f${String(at)}":1`).join(',');
      const beyond = await post('/v1/api-keys', `{${membersOf(50_001)}}`);
      expect([beyond.status, beyond.body['max_values']]).to.deep.equal([413, 50_000]);
      const members = membersOf(49_999);
      const reply = await post('/v1/api-keys', `{${members}}`);
      expect(reply.status).to.equal(422);
      expect(reply.body['errors']).to.have.length(50);
      expect(reply.text.length).to.be.lessThan(10_000);
    });

    it('refuses a member that is sent twice: the first cannot hide the second', async () => {
      const [one, other] = [`twice-${randomUUID()}`, `twice-${randomUUID()}`];
      const key = await api.newKey(other);
      const hidden = await post('/v1/uploads/presign', `{"tenant_id":"${other}","tenant_id":"${one}"}`, {
        'x-api-key': key,
      });
      expect([hidden.status, hidden.code]).to.deep.equal([400, 'malformed_json']);
      expect(hidden.text).to.contain('tenant_id');
    });

    it('refuses numbers that a float does not hold', async () => {
      for (const [number, due] of [
        ['1e400', 400],
        ['-1e400', 400],
        ['9007199254740993', 422],
        ['1.5', 422],
        ['1e-400', 422],
      ] as const) {
        const body =
          `{"tenant_id":"bodies","provider_txn_id":"${randomUUID()}","credits":${number},` +
          '"gross_amount_minor":1}';
        const { status } = await post('/v1/billing/credits', body);
        expect(status, number).to.equal(due);
      }
    });
  });

  describe('forms', () => {
    const send = (body: string) =>
      sendRaw(
        api.url,
        `POST /v1/extract HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${ADMIN_KEY}\r\nContent-Type: ` +
          `${MULTIPART}\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`,
        { answers: 1 },
      );
    const field = (name: string, value: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const file = `${FILE_PART}x\r\n`;
    const bombs: Readonly<Record<string, readonly [string, number]>> = {
      'ten thousand fields': [
        Array.from({ length: 10_000 }, (_, at) => field(`f${String(at)}`, '1')).join(''),
        413,
      ],
      'a field of 400 kB': [field('schema', 'x'.repeat(400_000)), 413],
      'a field name of 400 kB': [field('x'.repeat(400_000), '1'), 422],
      'names that look like paths of objects': [field('__proto__[a]', '1') + field('a[b][c]', '1'), 422],
      'the name __proto__': [field('__proto__', '1'), 422],
      'two files': [file + file, 422],
      'a thousand files': [file.repeat(1_000), 422],
      'a field sent twice': [field('mode', 'fast') + field('mode', 'robust'), 422],
      'part headers without end': [`--b\r\n${'X-A: b\r\n'.repeat(100_000)}`, 422],
      'boundaries without parts': ['--b\r\n'.repeat(100_000), 400],
    };
    for (const [what, [parts, status]] of Object.entries(bombs))
      it(`refuses ${what}, and serves the next`, async () => {
        const { statuses, text } = await send(`${parts}${file}--b--\r\n`);
        expect(statuses, text).to.deep.equal([status]);
        await isServing();
      });

    it('keep their file names for names: no path, no header, no control character', async () => {
      const names = {
        '../../../../etc/passwd': 'passwd',
        'C:\\Windows\\win.ini': 'win.ini',
        '\u202egpj.exe': 'gpj.exe',
      };
      for (const [name, kept] of Object.entries(names)) {
        const form = formOf({ schema: INVOICE_SCHEMA }, INVOICE, name);
        const { status, body, text } = await api.call('post', '/v1/extract', { form });
        expect(status, text).to.equal(200);
        expect((body['meta'] as Readonly<Record<string, unknown>>)['file_name']).to.equal(kept);
      }
    });
  });

  describe('schemas', () => {
    it('with a catastrophic pattern cost their own request only', async () => {
      const schema = JSON.stringify({
        type: 'object',
        properties: { total: { type: 'string', pattern: '^(([a-zA-Z0-9.])+)+!$' } },
        required: ['total'],
      });
      const text = new Blob([`Total: ${'a'.repeat(60)}\n`], { type: 'text/plain' });
      const slow = api.call('post', '/v1/extract', { form: formOf({ schema }, text) });
      await isServing();
      const { status } = await slow;
      expect(status).to.be.within(400, 500);
      await isServing();
    });
  });
});
