import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import express from 'express';
import { consolePage } from '../../../src/server/pages.ts';
import { listen, type HttpServer } from '../../../src/server/connections.ts';

describe('the console’s page and files', () => {
  let folder: string;
  let server: HttpServer;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quire-console-'));
    const app = express();
    app.use(consolePage({ folder: join(folder, 'dist'), uploadOrigin: 'https://s3.example.com' }));
    server = await listen(app, { host: '127.0.0.1', port: 0 });
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });
  const get = (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers });
  const build = async (page: string) => {
    await mkdir(join(folder, 'dist/assets/parts-1/maps'), { recursive: true });
    for (const [name, text] of [
      ['app-1.js', 'plain'],
      ['app-1.js.br', 'as br'],
      ['app-1.js.gz', 'as gzip'],
      ['look-1.css', 'css'],
      ['parts-1/maps/a.bcmap', 'map'],
    ] as const)
      await writeFile(join(folder, 'dist/assets', name), text);
    await writeFile(join(folder, 'secret.txt'), 'for nobody');
    await writeFile(join(folder, 'dist/index.html'), page);
  };

  it('ask again while they are being built', async () => {
    const page = await get('/');
    expect([page.status, await page.text()].join()).to.match(/^503,.*http-equiv="refresh"/s);
    const asset = await get('/app/assets/app-1.js');
    expect([asset.status, asset.headers.get('retry-after')]).to.deep.equal([503, '2']);
  });

  it('are one page at every address of the console, under a strict policy', async () => {
    await build('<p>console</p>');
    for (const path of ['/', '/app', '/app/', '/app/usage', '/app/tenants/a']) {
      const page = await get(path);
      expect([page.status, await page.text()], path).to.deep.equal([200, '<p>console</p>']);
      const policy = page.headers.get('content-security-policy') ?? '';
      expect(policy)
        .to.include("default-src 'none'")
        .and.include("connect-src 'self' https://s3.example.com");
      expect(policy).to.not.include('unsafe');
    }
    expect((await get('/apple')).status).to.equal(404);
  });

  it('carry a nonce for style tags, another in each answer', async () => {
    await build('<meta property="csp-nonce" nonce="__STYLE_NONCE__"><i>rebuilt</i>');
    const nonceOf = async () => {
      const page = await get('/');
      const nonce = /nonce="(.+?)"/.exec(await page.text())?.[1] ?? '';
      expect(page.headers.get('content-security-policy')).to.include(`style-src 'self' 'nonce-${nonce}';`);
      expect(page.headers.get('cache-control')).to.equal('no-store');
      return nonce;
    };
    const [first, second] = [await nonceOf(), await nonceOf()];
    expect(first).to.match(/^[\w+/]{22}==$/);
    expect(second).to.not.equal(first);
  });

  it('may lie in folders, which are no files themselves', async () => {
    await build('<p>console</p>');
    const map = await get('/app/assets/parts-1/maps/a.bcmap');
    expect([map.status, await map.text()]).to.deep.equal([200, 'map']);
    for (const path of [
      'parts-1',
      'parts-1/',
      'parts-1/maps',
      'parts-1/maps/../../../index.html',
      'parts-1%2fmaps%2fa.bcmap',
    ])
      expect((await get(`/app/assets/${path}`)).headers.get('cache-control') ?? '', path).to.not.include(
        'immutable',
      );
  });

  it('let scripts call this origin alone, and decode: threads have the policy of their file', async () => {
    await build('<p>console</p>');
    const policy = (await get('/app/assets/app-1.js')).headers.get('content-security-policy') ?? '';
    expect(policy.split('; ')).to.deep.equal([
      "default-src 'none'",
      "script-src 'self' 'wasm-unsafe-eval'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
    ]);
    expect((await get('/')).headers.get('content-security-policy')).to.include("worker-src 'self';");
  });

  it('are kept for good by their names, as they were compressed', async () => {
    const plain = await get('/app/assets/app-1.js', { 'accept-encoding': 'identity' });
    expect(await plain.text()).to.equal('plain');
    expect(plain.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
    expect(plain.headers.get('content-type')).to.match(/javascript/);
    const head = await fetch(`${server.url}/app/assets/app-1.js`, {
      method: 'HEAD',
      headers: { 'accept-encoding': 'gzip, br' },
    });
    expect(head.headers.get('content-encoding')).to.equal('br');
    expect(head.headers.get('content-length')).to.equal('5');
    expect((await get('/app/assets/look-1.css')).headers.get('content-type')).to.match(/css/);
  });

  it('are sent as they are where the build left no compressed copy', async () => {
    await build('<p>console</p>');
    const css = await get('/app/assets/look-1.css', { 'accept-encoding': 'gzip, br' });
    expect([css.status, css.headers.get('content-encoding'), await css.text()]).to.deep.equal([
      200,
      null,
      'css',
    ]);
  });

  it('are those of the folder, whatever a path says', async () => {
    for (const name of ['../index.html', '..%2f..%2fsecret.txt', '%2e%2e/secret.txt', 'no-1.js', '', '.'])
      expect(await (await get(`/app/assets/${name}`)).text(), name).to.not.include('for nobody');
    expect((await get('/app/assets/..%2fsecret.txt')).status).to.equal(404);
    expect((await get('/app/assets/no-1.js')).status).to.equal(404);
  });
});
