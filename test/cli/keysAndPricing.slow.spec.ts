import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { isWellFormedKey } from '../../domain/apiKey.ts';
import { instantGiven } from '../../src/cli/terminal.ts';
import { ADMIN_KEY, startService, type ServiceProcess } from '../support/serviceProcess.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { NODE_OPTIONS } from '../support/program.ts';

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

describe('times on the command line', () => {
  const NOW = Date.parse('2026-11-21T12:00:00.000Z');
  it('are dates, times, or days from now', () => {
    expect(instantGiven('--expires', '90d', NOW)).to.equal('2027-02-19T12:00:00.000Z');
    expect(instantGiven('--expires', '2027-01-31', NOW)).to.equal('2027-01-31T00:00:00.000Z');
    expect(instantGiven('--expires', '2027-01-31T12:00:00+02:00', NOW)).to.equal('2027-01-31T10:00:00.000Z');
  });
  it('are refused when they are none, by the name of the option', () => {
    for (const text of ['soon', '0d', '2027-02-30', '2027-13-01', '1', ''])
      expect(() => instantGiven('--expires', text, NOW), text).to.throw('--expires');
  });
});

describe('keys and prices on the command line', () => {
  let folder: TempFolder;
  let service: ServiceProcess;

  before(async () => {
    folder = tempFolder();
    service = await startService(folder.path);
  });
  after(async () => {
    await service.stop('SIGKILL');
    folder.remove();
  });

  const quire = async (...args: readonly string[]): Promise<Ran> => {
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(process.execPath, [...NODE_OPTIONS, resolve('bin/quire.js'), ...args], {
      env: { PATH, HOME, DATA_DIR: folder.path },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, out, err };
  };
  const done = async (...args: readonly string[]): Promise<Ran> => {
    const ran = await quire(...args);
    expect(ran.code, ran.err).to.equal(0);
    return ran;
  };
  const json = async (...args: readonly string[]) =>
    JSON.parse((await done(...args, '--json')).out) as Record<string, unknown>;
  const get = async (path: string, key: string) =>
    fetch(`${service.url}${path}`, { headers: { 'X-API-KEY': key } });
  const rates = async (key: string) => (await get('/v1/billing/rates', key)).status;

  it('makes a key that works at once, prints it alone, and stores it nowhere', async () => {
    const made = await done('keys', 'create', '--tenant', 'acme', '--expires', '30d');
    const key = made.out.trim();
    expect(isWellFormedKey(key)).to.equal(true);
    expect(made.err).to.contain('tenant key of acme until ').and.not.contain(key);
    expect(await rates(key)).to.equal(200);
    expect((await get('/v1/admin/provider-pricing', key)).status).to.equal(403);
    for (const name of readdirSync(folder.path, { recursive: true, withFileTypes: true }))
      if (name.isFile())
        expect(readFileSync(join(name.parentPath, name.name)).includes(key), name.name).to.equal(false);
    expect(service.output()).to.not.contain(key);
  });

  it('revokes by key_id or by the key: it is refused from the answer on', async () => {
    const byId = await json('keys', 'create', '--tenant', 'acme');
    const byKey = await json('keys', 'create', '--role', 'admin', '--name', 'ops');
    const [first, second] = [String(byId['key']), String(byKey['key'])];
    expect([await rates(first), await rates(second)]).to.deep.equal([200, 200]);
    expect((await done('keys', 'revoke', String(byId['key_id']))).out).to.contain('is revoked');
    expect(await rates(first)).to.equal(401);
    const revoked = await quire('keys', 'revoke', second);
    expect(revoked.out).to.contain('admin key of operator is revoked').and.not.contain(second);
    expect(revoked.err).to.contain('No admin key is left');
    expect(await rates(second)).to.equal(401);
    expect((await done('keys', 'revoke', second)).out).to.contain('was revoked already');
  });

  it('lists keys that open something, or all, without what opens it', async () => {
    const made = await json('keys', 'create', '--tenant', 'listed', '--name', 'till');
    const other = await json('keys', 'create', '--tenant', 'listed');
    await done('keys', 'revoke', String(other['key_id']));
    const listed = async (...args: readonly string[]) =>
      (await done('keys', 'list', '--tenant', 'listed', '--json', ...args)).out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    const [only, ...none] = await listed();
    expect(none).to.deep.equal([]);
    const key = String(made['key']);
    expect(only).to.include({ key_id: made['key_id'], role: 'tenant', state: 'active', name: 'till' });
    expect(key.startsWith(String(only?.['prefix'])) && key.endsWith(String(only?.['last4']))).to.equal(true);
    const all = await listed('--all');
    expect(all.map(({ state }) => state)).to.deep.equal(['active', 'revoked']);
    const { out } = await done('keys', 'list');
    expect(out)
      .to.match(/^KEY_ID +ROLE +TENANT +KEY +STATE/)
      .and.not.contain(key);
    const nobody = await done('keys', 'list', '--tenant', 'nobody');
    expect(nobody).to.include({ out: '' });
    expect(nobody.err).to.contain('There is no such key');
  });

  it('says what is wrong with what it was given', async () => {
    const wrong = async (code: number, words: string, ...args: readonly string[]) => {
      const ran = await quire('keys', ...args);
      expect(ran.code, args.join(' ')).to.equal(code);
      expect(ran.err).to.contain(words);
    };
    await wrong(2, '--tenant', 'create');
    await wrong(2, '--tenant', 'create', '--tenant', '-x/y');
    await wrong(2, 'Allowed choices', 'create', '--role', 'king');
    await wrong(2, 'lies in the past', 'create', '--tenant', 'acme', '--expires', '2020-01-01');
    await wrong(2, '--expires', 'create', '--tenant', 'acme', '--expires', 'soon');
    await wrong(1, 'There is no such key', 'revoke', 'key_nobody');
  });

  it('imports prices beside the service: some, then all, then none', async () => {
    const listed = async () => {
      const reply = await get('/v1/admin/provider-pricing', ADMIN_KEY);
      return ((await reply.json()) as { history: { provider: string }[] }).history;
    };
    expect(await listed()).to.deep.equal([]);
    const dry = await done('pricing', 'import', '--dry-run', '--provider', 'azure_di');
    expect(dry.out).to.contain('azure_di/prebuilt-layout').and.to.contain('nothing was published');
    expect(await listed()).to.deep.equal([]);
    expect(await json('pricing', 'import', '--provider', 'azure_di')).to.include({ added: 2, changed: 0 });
    const all = await json('pricing', 'import');
    expect(all['unchanged']).to.equal(2);
    expect(all['added']).to.be.above(500);
    expect(await json('pricing', 'import')).to.include({ added: 0, changed: 0, unchanged: all['prices'] });
    expect(await listed()).to.have.length(Number(all['prices']));
  });

  it("imports LiteLLM's table from a time on, and refuses other files", async () => {
    const entry = {
      litellm_provider: 'xai',
      mode: 'chat',
      input_cost_per_token: 1.5e-7,
      output_cost_per_token: 6e-7,
    };
    const file = folder.file('prices.json', JSON.stringify({ 'xai/grok-of-specs': entry }));
    const from = '2025-01-01T00:00:00.000Z';
    const report = await json('pricing', 'import', file, '--effective-from', '2025-01-01');
    expect(report).to.include({ added: 1, effective_from: from });
    const bad = await quire('pricing', 'import', folder.file('bad.json', '{"a": 1}'));
    expect(bad.code).to.equal(1);
    expect(bad.err).to.contain('not a price table of LiteLLM');
    expect((await quire('pricing', 'import', join(folder.path, 'none.json'))).code).to.equal(2);
    expect((await quire('pricing', 'import', '--provider', 'nobody')).err).to.contain('Choose from: openai');
    expect((await quire('pricing', 'import', '--effective-from', 'soon')).code).to.equal(2);
    const ahead = await quire('pricing', 'import', file, '--effective-from', '2999-01-01');
    expect(ahead.code).to.not.equal(0);
    expect(ahead.err).to.contain('one day ahead');
  });

  it('works without a service too', async () => {
    await service.stop('SIGTERM');
    const key = (await done('keys', 'create', '--role', 'service')).out.trim();
    expect(await json('pricing', 'import', '--provider', 'openai')).to.include({ added: 0, changed: 0 });
    service = await startService(folder.path);
    expect(await rates(key)).to.equal(200);
    expect((await done('audit')).code).to.equal(0);
  });
});
