import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import type { DocumentSource } from '../../../domain/ports/services.ts';
import { bytesInFlight } from '../../../src/commands/slots.ts';
import { withSource } from '../../../src/commands/fetchUpload.ts';
import { checkSource } from '@quire/engine/models/guard';
import { httpSource } from '../../../adapters/sources.ts';
import { until } from '../../../engine/test/support/until.ts';
import { formOf, INVOICE, INVOICE_SCHEMA, issuesIn } from '../support/client.ts';
import { startApi, testApi, type TestApi } from '../support/testApi.ts';

const TEXT = 'Invoice number: Q-17\nTotal: 12.50 EUR\n';
/** As many files of the largest size a tenant may have on their way. */
const FILES_IN_FLIGHT = 4;
const LATER = { prefer: 'respond-async' };

/** A host of documents, and what it was asked for. */
const documentHost = async () => {
  const asked: IncomingMessage[] = [];
  const answers: Record<string, (response: ServerResponse) => void> = {
    '/a%20file.txt': (response) => response.end(TEXT),
    '/moved': (response) => response.writeHead(302, { location: '/a%20file.txt' }).end(),
    '/gone': (response) => response.writeHead(404).end('secret words of the host'),
    '/part': (response) => response.writeHead(206).end(TEXT),
    '/packed': (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(TEXT),
    '/empty': (response) => response.end(),
    '/large': (response) => response.writeHead(200, { 'content-length': '2000000' }).flushHeaders(),
    '/endless': (response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536))) continue;
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    },
    '/broken': (response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('x');
      setImmediate(() => response.destroy());
    },
    '/unbounded': (response) => void response.socket?.end(`HTTP/1.1 200 OK\r\n\r\n${TEXT}`),
    '/silent': () => undefined,
    '/upgrade': (response) => response.writeHead(101, { connection: 'Upgrade', upgrade: 'other' }).end(),
    '/hints': (response) => response.writeEarlyHints({ link: '</x>; rel=preload' }, () => response.destroy()),
    '/hangup': (response) => response.destroy(),
  };
  const server: Server = createServer((request, response) => {
    asked.push(request);
    answers[(request.url ?? '').split('?')[0] ?? '']?.(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    at: (path: string) => `http://127.0.0.1:${String(port)}${path}`,
    port,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

describe('documents that are fetched from a source_url', () => {
  let api: TestApi;
  let host: Awaited<ReturnType<typeof documentHost>>;
  before(async () => {
    host = await documentHost();
    api = await startApi({ ALLOW_SOURCE_URLS: 'true', SOURCE_ALLOW_PRIVATE_NETWORK: 'true' });
  });
  after(async () => {
    await api.stop();
    await host.close();
  });

  const form = (fields: Record<string, string>) => {
    const made = new FormData();
    for (const [name, value] of Object.entries(fields)) made.append(name, value);
    return made;
  };
  const convert = (source_url: string, more: Record<string, string> = {}) =>
    api.call('post', '/v1/to-markdown', { form: form({ tenant_id: 't', source_url, ...more }) });

  it('are read by every call that reads documents', async () => {
    const source_url = host.at('/a%20file.txt?signature=x');
    const extracted = await api.call('post', '/v1/extract', {
      form: form({ tenant_id: 't', schema: INVOICE_SCHEMA, source_url }),
    });
    expect(extracted.status, extracted.text).to.equal(200);
    expect(extracted.body).to.have.nested.property('meta.file_name', 'a file.txt');
    const converted = await convert(source_url);
    expect(converted.body['plain_text']).to.include('Invoice number: Q-17');
    const json = { tenant_id: 't', source_url, file_name: 'other.txt' };
    const byJson = await api.call('post', '/v1/ocr/to-markdown', { json });
    expect(byJson.status, byJson.text).to.equal(200);
    expect(byJson.body).to.have.nested.property('meta.file_name', 'other.txt');
    const envelope = {
      schema_version: '1.0',
      operation: 'inference.extract',
      scope: { tenant_id: 't' },
      resource: { source_url },
      payload: { schema: JSON.parse(INVOICE_SCHEMA) as object },
    };
    const canonical = await api.call('post', '/v1/canonical', { json: envelope });
    expect(canonical.status, canonical.text).to.equal(200);
    expect(host.asked).to.have.lengthOf(4);
    expect(host.asked[0]?.headers).to.have.all.keys(
      'accept',
      'accept-encoding',
      'user-agent',
      'host',
      'connection',
    );
    const left = await readdir(api.uploadDir);
    expect(left.filter((name) => name.startsWith('source-'))).to.deep.equal([]);
  });

  it('are read later too', async () => {
    const source_url = host.at('/a%20file.txt');
    const made = form({ tenant_id: 't', schema: INVOICE_SCHEMA, source_url });
    const reply = await api.call('post', '/v1/extract', { form: made, headers: LATER });
    expect(reply.status, reply.text).to.equal(202);
    const id = String(reply.body['operation_id']);
    const before = host.asked.length;
    await until(async () => {
      await api.operations.drain();
      return (await api.call('get', `/v1/operations/${id}`)).body['status'] === 'succeeded';
    });
    expect(host.asked).to.have.lengthOf(before);
  });

  it('are the one document of their request', async () => {
    const source_url = host.at('/a%20file.txt');
    const withFile = await api.call('post', '/v1/to-markdown', {
      form: formOf({ tenant_id: 't', source_url }, INVOICE),
    });
    expect(issuesIn(withFile)).to.deep.equal(['body.source_url value_error']);
    const json = { tenant_id: 't', source_url, file_uri: 'quire://uploads/x' };
    const twice = await api.call('post', '/v1/ocr/to-markdown', { json });
    expect(issuesIn(twice)).to.deep.equal(['body.source_url value_error']);
    const none = await api.call('post', '/v1/ocr/to-markdown', { json: { tenant_id: 't' } });
    expect(issuesIn(none)).to.deep.equal(['body.file_uri missing']);
    const without = await api.call('post', '/v1/to-markdown', { form: form({ tenant_id: 't' }) });
    expect(without.code).to.equal('missing_file');
  });

  for (const [path, code, more] of [
    ['/moved', 'source_unavailable', { source_status: 302 }],
    ['/gone', 'source_unavailable', { source_status: 404 }],
    ['/part', 'source_unavailable', { source_status: 206 }],
    ['/packed', 'source_unavailable', { source_status: 200 }],
    ['/broken', 'source_unavailable', { source_status: null }],
    ['/unbounded', 'source_unavailable', { source_status: 200 }],
    ['/empty', 'empty_file', {}],
    ['/large', 'file_too_large', { max_bytes: 1_000_000 }],
    ['/endless', 'file_too_large', { max_bytes: 1_000_000 }],
  ] as const)
    it(`at ${path} are answered with ${code}, and leave nothing behind`, async () => {
      const reply = await convert(host.at(path));
      expect(reply.body, reply.text).to.include({ code, ...more });
      expect(reply.text).not.to.include('secret words');
      const left = await readdir(api.uploadDir);
      expect(left.filter((name) => name.startsWith('source-'))).to.deep.equal([]);
    });

  it('of a host that is away are answered so, and the transfer ends with the caller', async () => {
    const away = await convert('http://127.0.0.1:1/x.pdf');
    expect(away.body).to.include({ code: 'source_unavailable', source_status: null });
    const before = host.asked.length;
    const giveUp = new AbortController();
    const left = fetch(`${api.url}/v1/to-markdown`, {
      method: 'POST',
      headers: { 'x-api-key': await api.newKey('leaver') },
      body: form({ source_url: host.at('/silent') }),
      signal: giveUp.signal,
    }).catch(() => undefined);
    await until(() => host.asked.length > before);
    const closed = once(host.asked.at(-1)!.socket, 'close');
    giveUp.abort();
    await Promise.all([left, closed]);
  });

  for (const [path, source_status] of [
    ['/upgrade', 101],
    ['/hints', null],
    ['/hangup', null],
  ] as const)
    it(`at ${path} are answered, as often as they are asked for`, async () => {
      for (let time = 0; time <= FILES_IN_FLIGHT; time += 1) {
        const reply = await convert(host.at(path));
        expect(reply.body, reply.text).to.include({ code: 'source_unavailable', source_status });
      }
      expect((await convert(host.at('/a%20file.txt'))).status).to.equal(200);
    });

  it('that are too large are not waited for', async () => {
    const asked: AbortSignal[] = [];
    const open: DocumentSource['open'] = (address, signal) => {
      asked.push(signal);
      return httpSource().open(address, signal);
    };
    const resolve = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
    const policy = { allowPrivateNetwork: true, resolve };
    const deps = {
      source: { open },
      checkSource: (url: string) => checkSource(url, policy),
      dir: api.uploadDir,
      bytesMax: 1_000_000,
      inFlight: bytesInFlight(1_000_000),
    };
    const source_url = host.at('/large');
    const subject = { source_url, at: ['body'], tenant_id: 't', signal: new AbortController().signal };
    const done = await withSource(deps, subject, () => Promise.resolve({ kind: 'done' }));
    expect(done).to.include({ code: 'file_too_large' });
    expect(asked.map(({ aborted }) => aborted)).to.deep.equal([true]);
  });

  it('are not fetched where the installation does not say so', async () => {
    const shut = await testApi();
    const made = form({ tenant_id: 't', source_url: host.at('/a%20file.txt') });
    const reply = await shut.call('post', '/v1/to-markdown', { form: made });
    expect(issuesIn(reply)).to.deep.equal(['body.source_url value_error']);
  });

  it('are not fetched from addresses inside, whatever they are called', async () => {
    const guarded = await startApi({ ALLOW_SOURCE_URLS: 'true' });
    try {
      const before = host.asked.length;
      for (const source_url of [
        host.at('/a%20file.txt'),
        `https://127.0.0.1:${String(host.port)}/x`,
        'https://[::1]/x',
        'https://169.254.169.254/latest/meta-data',
        'https://localhost/x',
        'https://2130706433/x',
        'https://10.0.0.1/x',
        'ftp://example.com/x',
        'file:///etc/passwd',
        'https://u:p@8.8.8.8/x',
        'x',
      ]) {
        const made = form({ tenant_id: 't', source_url });
        const reply = await guarded.call('post', '/v1/to-markdown', { form: made });
        expect([reply.status, reply.code], source_url).to.deep.equal([422, 'unsafe_source_url']);
      }
      expect(host.asked).to.have.lengthOf(before);
    } finally {
      await guarded.stop();
    }
  });

  describe('by a name', () => {
    const named = (...addresses: readonly string[]) => {
      let lookups = 0;
      const resolve = () => {
        lookups += 1;
        return Promise.resolve(addresses.map((address) => ({ address, family: 4 })));
      };
      return { resolve, lookups: () => lookups };
    };

    it('that stands for an address inside too are refused', async () => {
      const policy = { allowPrivateNetwork: false, ...named('93.184.215.14', '127.0.0.1') };
      const checked = await checkSource('https://documents.example/x.pdf', policy);
      expect(checked.kind).to.equal('unsafe');
    });

    it('that leads elsewhere once it was checked go where it led before', async () => {
      const { resolve, lookups } = named('127.0.0.1');
      const url = `http://documents.example:${String(host.port)}/a%20file.txt`;
      const checked = await checkSource(url, { allowPrivateNetwork: true, resolve });
      if (checked.kind !== 'ok') throw new Error(checked.detail);
      const answer = await httpSource().open(checked, new AbortController().signal);
      if (answer.kind !== 'found') throw new Error(answer.detail);
      const chunks: Uint8Array[] = [];
      for await (const chunk of answer.bytes) chunks.push(chunk);
      expect(Buffer.concat(chunks).toString()).to.equal(TEXT);
      expect(lookups()).to.equal(1);
    });
  });
});
