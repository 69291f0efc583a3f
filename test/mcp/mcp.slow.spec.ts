import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'chai';
import { ratedOperation } from '../../domain/account/messages.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { client as httpClient } from '../http/support/client.ts';
import { startService, type ServiceProcess } from '../support/serviceProcess.ts';
import { runCommand } from '../support/quireCommand.ts';

const INVOICE = 'Invoice number: Q-1001\nDate: 2026-03-01\nTotal: 120.50 EUR\n';
const SCHEMA = { type: 'object', properties: { invoice_number: { type: 'string' } } };
const TOOLS = ['balance', 'convert', 'extract', 'propose_schema', 'quote'];

type Call = (
  name: string,
  args: Record<string, unknown>,
) => Promise<{ text: string; data: unknown; failed: boolean }>;

describe('quire mcp', () => {
  let folder: TempFolder;
  let service: ServiceProcess;
  let key: string;
  let path: string;
  before(async () => {
    folder = tempFolder();
    path = folder.file('invoice.txt', INVOICE);
    service = await startService(join(folder.path, 'data'));
    key = await httpClient(service.url).newKey('acme');
  });
  after(async () => {
    await service.stop('SIGKILL');
    folder.remove();
  });

  const callsOf =
    (agent: Client): Call =>
    async (name, args) => {
      const { content, structuredContent, isError } = await agent.callTool({ name, arguments: args });
      const [first] = content;
      return {
        text: first?.type === 'text' ? first.text : '',
        data: structuredContent,
        failed: isError === true,
      };
    };

  const newAgent = () => new Client({ name: 'agent', version: '1' });

  const worksWith = async (agent: Client, document: Record<string, unknown>, names = TOOLS) => {
    const call = callsOf(agent);
    const { tools } = await agent.listTools();
    expect(tools.map(({ name }) => name).sort()).to.deep.equal(names);
    for (const { description, inputSchema } of tools) {
      expect(description).to.be.a('string');
      expect(inputSchema.type).to.equal('object');
    }
    expect((await call('convert', document)).text).to.contain('Q-1001');
    const proposed = await call('propose_schema', document);
    expect(proposed.data).to.have.nested.property('properties.total.type', 'number');
    const extracted = await call('extract', { ...document, schema: proposed.data });
    expect(extracted.data).to.have.nested.property('result.invoice_number', 'Q-1001');
    expect(extracted.data).to.have.nested.property('citations[0].page', 1);
    for (const operation of ratedOperation.options) {
      const quote = await call('quote', { operation, pages: 60, tenant_id: 'acme' });
      expect(quote.failed, quote.text).to.equal(false);
      expect(quote.data).to.include({ tenant_id: 'acme', operation, pages: 60 });
    }
    expect((await call('balance', { tenant_id: 'acme' })).data).to.have.property('balance_credits', 0);
    const other = await call('balance', { tenant_id: 'globex' });
    expect(other.failed).to.equal(true);
    expect(other.text).to.match(/^tenant_(?:mismatch|not_found): /);
    return call;
  };

  it('serves an agent over stdin and stdout, which names files by their paths', async () => {
    const { PATH = '' } = process.env;
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [resolve('bin/quire.js'), 'mcp'],
      env: { PATH, QUIRE_URL: service.url, QUIRE_API_KEY: key, QUIRE_TENANT: 'acme' },
    });
    const agent = newAgent();
    await agent.connect(transport);
    const call = await worksWith(agent, { path });
    expect((await call('balance', {})).failed).to.equal(false);
    const missing = await call('convert', { path: join(folder.path, 'none.pdf') });
    expect(missing)
      .to.include({ failed: true })
      .and.have.property('text')
      .that.contains('none.pdf cannot be read');
    expect(await call('convert', {})).to.include({ failed: true, text: 'Give path or content_base64.' });
    await agent.close();
  });

  it('says what is missing in its environment', async () => {
    const without = await runCommand({ QUIRE_URL: service.url }, 'mcp');
    expect(without).to.include({ code: 2 });
    expect(without.err).to.contain('QUIRE_API_KEY');
    expect((await runCommand({ QUIRE_URL: 'nowhere' }, 'mcp')).err).to.contain('QUIRE_URL must be a URL');
  });

  describe('over HTTP', () => {
    let child: ChildProcess;
    let url: string;
    before(async () => {
      const { PATH = '' } = process.env;
      child = spawn(process.execPath, [resolve('bin/quire.js'), 'mcp', '--http', '--port', '0'], {
        env: { PATH, QUIRE_URL: service.url },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      if (child.stderr === null) throw new Error('no stderr');
      const [line] = (await once(createInterface({ input: child.stderr }), 'line')) as [string];
      url = /http:\S+\/mcp/.exec(line)?.[0] ?? '';
    });
    after(async () => {
      child.kill('SIGTERM');
      await once(child, 'exit');
    });

    const post = (headers: Record<string, string>) =>
      fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      });

    it('serves agents that send their keys and documents', async () => {
      const headers = { authorization: `Bearer ${key}` };
      const agent = newAgent();
      await agent.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
      const content_base64 = Buffer.from(INVOICE).toString('base64');
      const document = { content_base64, file_name: 'invoice.txt' };
      const call = await worksWith(agent, document, [...TOOLS, 'upload']);
      expect(await call('convert', { path })).to.include({
        failed: true,
        text: 'Give content_base64 or file_uri.',
      });
      expect(await call('balance', {})).to.include({ failed: true });
      const long = Buffer.from('Lorem ipsum dolor sit amet.\n'.repeat(7_500)).toString('base64');
      const unpaid = await call('extract', { content_base64: long, schema: SCHEMA });
      expect(unpaid.text).to.match(/^insufficient_credits: /);
      const large = Buffer.from('Lorem ipsum dolor sit amet.\n'.repeat(200_000)).toString('base64');
      const sent = call('extract', { content_base64: large, schema: SCHEMA });
      expect(await sent.catch(String)).to.contain('more than 1048576 bytes');
      await agent.close();
    });

    it('refuses callers without a key, pages of the web, other names and other paths', async () => {
      expect((await post({})).status).to.equal(401);
      const bearer = { authorization: `Bearer ${key}` };
      expect((await post(bearer)).status).to.equal(200);
      expect((await post({ ...bearer, origin: 'https://evil.example' })).status).to.equal(403);
      expect((await fetch(new URL('/other', url), { headers: bearer })).status).to.equal(404);
    });

    it('tells an agent that its key is wrong', async () => {
      const agent = newAgent();
      const requestInit = { headers: { authorization: 'Bearer wrong' } };
      const connected = agent.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
      expect(await connected.catch(String)).to.contain('The key opens nothing.');
      await agent.close();
    });
  });
});
