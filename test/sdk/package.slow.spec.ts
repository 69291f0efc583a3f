import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { build, transform } from 'esbuild';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { client } from '../http/support/client.ts';
import { WEB } from './webGlobals.ts';
import { ADMIN_KEY, startService, type ServiceProcess } from '../support/serviceProcess.ts';

const run = promisify(execFile);

const PROGRAM = /^```ts\n([\s\S]*?)^```$/gm;
const programsOf = (file: string): readonly string[] =>
  [...readFileSync(file, 'utf8').matchAll(PROGRAM)].map(([, text = '']) => text);
const PROGRAMS = programsOf('sdk/README.md');
const TOUR = programsOf('docs/tutorials/quick-tours.md');

const TSC = resolve('node_modules/typescript/bin/tsc');

/** Throws what the TypeScript compiler finds wrong. */
const compile = async (...args: readonly string[]): Promise<void> => {
  const { stdout } = await run(process.execPath, [TSC, ...args]).catch(
    (error: unknown) => error as { stdout: string },
  );
  expect(stdout).to.equal('');
};

const SECRET = `whsec_${Buffer.from('a secret of the specs only').toString('base64')}`;
const MESSAGE = JSON.stringify({ type: 'operation.ended' });

describe('the packed client', () => {
  let app: TempFolder;
  let service: ServiceProcess;
  let env: Readonly<Record<string, string>>;

  before(async () => {
    app = tempFolder();
    service = await startService(join(app.path, 'data'));
    const tool = ['tools/build/run.js', 'tools/sdk/packMain.ts', app.path];
    const { stdout } = await run(process.execPath, tool);
    app.file('package.json', JSON.stringify({ name: 'app', private: true, type: 'module' }));
    execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', stdout.trim()], {
      cwd: app.path,
      stdio: 'ignore',
    });
    for (const copy of ['invoice.pdf', 'test/fixtures/invoice.pdf']) {
      mkdirSync(dirname(join(app.path, copy)), { recursive: true });
      copyFileSync('test/fixtures/invoice.pdf', join(app.path, copy));
    }
    const operator = client(service.url);
    const key = await operator.newKey('acme');
    await operator.sell('acme', 10_000);
    const { PATH = '' } = process.env;
    env = {
      PATH,
      QUIRE_URL: service.url,
      QUIRE_API_KEY: key,
      TENANT: 'acme',
      WEBHOOK_SECRET: SECRET,
      URL: service.url,
      ADMIN: ADMIN_KEY,
    };
  });
  after(async () => {
    await service.stop('SIGKILL');
    app.remove();
  });

  /** Writes a program of the README with lines after it, and gives what it prints. */
  const printedBy = async (program: string, after = ''): Promise<string> => {
    const { code } = await transform(program + after, { loader: 'ts', format: 'esm' });
    const file = app.file('program.mjs', code);
    const { stdout, stderr } = await run(process.execPath, [file], { cwd: app.path, env });
    expect(stderr).to.equal('');
    return stdout;
  };

  it('is typed: the programs of its README compile in the strictest way', async () => {
    const files = [...PROGRAMS, ...TOUR].map((text, at) => app.file(`program${String(at)}.ts`, text));
    const options = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--exactOptionalPropertyTypes',
      '--noUncheckedIndexedAccess',
    ];
    const types = ['--types', 'node', '--typeRoots', resolve('node_modules/@types')];
    for (const module of [
      ['--module', 'nodenext'],
      ['--module', 'esnext', '--moduleResolution', 'bundler'],
    ])
      await compile(
        ...options,
        ...types,
        ...module,
        '--target',
        'es2022',
        '--skipLibCheck',
        'false',
        ...files,
      );
  });

  it('runs the first program: extracts, waits, and verifies a webhook', async () => {
    const [program = ''] = PROGRAMS;
    const lines = program.split('\n').filter((line) => line.trim() !== '');
    expect(lines.length).to.be.at.most(30);
    const at = new Date();
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(SECRET).sign('msg_1', at, MESSAGE),
    };
    const sent = (body: string) =>
      `console.log((await onWebhook(new Request('http://app', { method: 'POST', ` +
      `headers: ${JSON.stringify(headers)}, body: ${JSON.stringify(body)} }))).status);\n`;
    const printed = await printedBy(program, sent(MESSAGE) + sent('{}'));
    expect(printed).to.match(/invoice_number: '[^']+',\s+total: [\d.]+/);
    expect(printed.trim().split('\n').slice(-3)).to.deep.equal(["{ type: 'operation.ended' }", '204', '401']);
  });

  it('runs the others', async () => {
    const [, ...others] = PROGRAMS;
    expect(others).to.have.length(1);
    const printed = await printedBy(others.join('\n'));
    const { size } = { size: readFileSync('test/fixtures/invoice.pdf').length };
    expect(printed.trim().split('\n').slice(-3)).to.deep.equal([
      `${String(size)} of ${String(size)} bytes`,
      '1 page',
      '10000',
    ]);
  });

  it('runs the quick tour', async () => {
    const printed = await printedBy(TOUR.join('\n'));
    expect(printed).to.contain("path: '/invoice_number'").and.to.contain('free_pages_remaining: 4');
    expect(printed.trim().split('\n').at(-1)).to.match(/^400 empty_file /);
  });

  it('needs nothing that only Node has', async () => {
    const { outputFiles } = await build({
      stdin: { contents: `export { Quire } from '@quire/client';`, resolveDir: app.path },
      bundle: true,
      platform: 'browser',
      format: 'iife',
      globalName: 'client',
      write: false,
    });
    const context = createContext({ ...WEB });
    runInContext(outputFiles[0]?.text ?? '', context);
    Object.assign(context, { given: env, file: new Blob(['Invoice number: Q-1001\n']) });
    const answer = (await runInContext(
      `new client.Quire({ url: given.QUIRE_URL, key: given.QUIRE_API_KEY }).extract({
        file, schema: { type: 'object', properties: { invoice_number: { type: 'string' } } },
      })`,
      context,
    )) as { readonly result: unknown };
    expect(answer.result).to.deep.equal({ invoice_number: 'Q-1001' });
  });
});
