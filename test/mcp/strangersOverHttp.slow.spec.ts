import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { client as httpClient } from '../http/support/client.ts';
import { startService, type ServiceProcess } from '../support/serviceProcess.ts';

const MIB = 1_048_576;
/** Requests of one key at once: all places but those that are kept for others. */
const OF_ONE_KEY = 28;
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

const statusIn = (text: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);

describe('quire mcp --http', () => {
  let folder: TempFolder;
  let service: ServiceProcess;
  let child: ChildProcess;
  let url: URL;
  const keys: string[] = [];
  const open = new Set<Socket>();
  before(async () => {
    folder = tempFolder();
    service = await startService(join(folder.path, 'data'));
    const admin = httpClient(service.url);
    keys.push(await admin.newKey('acme'), await admin.newKey('globex'));
    child = spawn(process.execPath, [resolve('bin/quire.js'), 'mcp', '--http', '--port', '0'], {
      env: { PATH: process.env['PATH'], QUIRE_URL: service.url },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    if (child.stderr === null) throw new Error('no stderr');
    const [line] = (await once(createInterface({ input: child.stderr }), 'line')) as [string];
    url = new URL(/http:\S+\/mcp/.exec(line)?.[0] ?? '');
  });
  afterEach(() => {
    for (const socket of open) socket.destroy();
    open.clear();
  });
  after(async () => {
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await service.stop('SIGKILL');
    folder.remove();
  });

  /** Sends a text as it is, and gives what comes first; '' where the connection is closed without a word. */
  const raw = async (text: string): Promise<string> => {
    const socket = connect(Number(url.port), '127.0.0.1');
    open.add(socket);
    socket.on('error', () => undefined);
    socket.write(text);
    const [first] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown];
    return first instanceof Buffer ? first.toString('latin1') : '';
  };

  const head = (key: string, ...more: readonly string[]): string =>
    [
      'POST /mcp HTTP/1.1',
      `host: ${url.host}`,
      `authorization: Bearer ${key}`,
      'content-type: application/json',
      'accept: application/json, text/event-stream',
      ...more,
      '',
      '',
    ].join('\r\n');

  const post = (message: unknown, key = keys[0] ?? ''): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${key}`,
      },
      body: JSON.stringify(message),
    });

  const called = async (name: string, args: object): Promise<{ text: string; data: unknown }> => {
    const answer = await post({
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name, arguments: args },
    });
    const text = await answer.text();
    const line = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '');
    const { result } = JSON.parse(line) as {
      result: { content: { text: string }[]; structuredContent?: unknown };
    };
    return { text: result.content[0]?.text ?? '', data: result.structuredContent };
  };

  for (const line of [
    'TRACE /mcp HTTP/1.1',
    'GET //[ HTTP/1.1',
    'POST //[ HTTP/1.1',
    'GET http://[/mcp HTTP/1.1',
    'CONNECT /mcp HTTP/1.1',
    'CONNECT 127.0.0.1:1 HTTP/1.1',
    'TRACK /mcp HTTP/1.1',
    'GET * HTTP/1.1',
    'OPTIONS * HTTP/1.1',
    'BREW /mcp HTTP/1.1',
    'GET /mcp HTTP/9.9',
    '\u0000\u0001\u0002',
  ])
    it(`goes on after ${JSON.stringify(line)}`, async () => {
      const first = await raw(`${line}\r\nhost: ${url.host}\r\n\r\n`);
      expect([0, 400, 401, 404, 405]).to.include(statusIn(first));
      expect((await post(LIST)).status).to.equal(200);
      expect(child.exitCode).to.equal(null);
    });

  it('goes on after headers that no request has', async () => {
    for (const header of [
      'x-a: \u00ff\u0080',
      'host: [',
      'host: a, b',
      'origin: [',
      'authorization: Bearer \u00e9',
    ]) {
      const first = await raw(`POST /mcp HTTP/1.1\r\nhost: ${url.host}\r\n${header}\r\n\r\n`);
      expect([0, 400, 401, 403], header).to.include(statusIn(first));
    }
    expect((await post(LIST)).status).to.equal(200);
  });

  it('refuses a key that opens nothing before it reads the body', async () => {
    const first = await raw(head('wrong', 'content-length: 69000000'));
    expect(statusIn(first)).to.equal(401);
    expect(first.toLowerCase()).to.contain('www-authenticate: bearer');
  });

  it('refuses a body of more than a mebibyte, whether its length is said or not', async () => {
    const [key = ''] = keys;
    expect(statusIn(await raw(head(key, `content-length: ${String(MIB + 1)}`)))).to.equal(413);
    const chunk = `${(65_536).toString(16)}\r\n${' '.repeat(65_536)}\r\n`;
    expect(statusIn(await raw(head(key, 'transfer-encoding: chunked') + chunk.repeat(17)))).to.equal(413);
    expect((await post({ ...LIST, params: { x: 'x'.repeat(MIB) } })).status).to.equal(413);
  });

  it('refuses batches, whatever the version of the protocol', async () => {
    for (const batch of [[], [LIST], [LIST, { jsonrpc: '2.0', method: 'notifications/initialized' }]]) {
      const refused = await post(batch);
      expect(refused.status).to.equal(400);
      expect(await refused.json()).to.have.nested.property('error.code', -32600);
    }
  });

  it('works on a few requests of one key at once, and on those of others', async () => {
    const [first = '', second = ''] = keys;
    const waiting = head(first, 'content-length: 100', 'expect: 100-continue');
    for (let n = 0; n < OF_ONE_KEY; n += 1) expect(await raw(waiting)).to.match(/^HTTP\/1\.1 100 /);
    const refused = await post(LIST, first);
    expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([429, '1']);
    expect((await post(LIST, second)).status).to.equal(200);
  });

  it('keeps nothing open: a subscription is refused, and GET and DELETE are no methods', async () => {
    const [key = ''] = keys;
    const authorization = `Bearer ${key}`;
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const refused = await fetch(url, { method, headers: { authorization, accept: 'text/event-stream' } });
      expect([refused.status, refused.headers.get('allow')], method).to.deep.equal([405, 'POST']);
    }
    const agent = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    const requestInit = { headers: { authorization } };
    await agent.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    const refused = await agent.listen({ toolsListChanged: true }).catch((error: unknown) => String(error));
    expect(refused).to.contain('Subscription limit reached');
    await agent.close();
  });

  it('takes files by an upload', async () => {
    const place = await called('upload', { file_name: 'invoice.html', tenant_id: 'acme' });
    const { upload_url, headers, file_uri } = place.data as {
      upload_url: string;
      headers: Record<string, string>;
      file_uri: string;
    };
    // More than a body may have.
    const body = `<p>Invoice number: Q-1001</p><p>Total: 120.50 EUR</p><!--${' '.repeat(MIB)}-->`;
    expect((await fetch(upload_url, { method: 'PUT', headers, body })).status).to.equal(200);
    const document = { file_uri, tenant_id: 'acme' };
    expect((await called('convert', document)).text).to.contain('Q-1001');
    const schema = { type: 'object', properties: { invoice_number: { type: 'string' } } };
    const { data } = await called('extract', { ...document, schema });
    expect(data).to.have.nested.property('result.invoice_number', 'Q-1001');
    const proposed = await called('propose_schema', document);
    expect(proposed.data).to.have.nested.property('properties.total.type', 'number');
    expect((await called('convert', { file_uri })).text).to.contain('tenant_id');
  });
});
