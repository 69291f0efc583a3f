import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { VERSION } from '../../src/version.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { client } from '../http/support/client.ts';
import { ADMIN_KEY, startService, type ServiceProcess } from '../support/serviceProcess.ts';
import { PYTHON } from '../support/python.ts';

const run = promisify(execFile);

const CLIENT = 'sdk-python';
const PROGRAM = /^```python\n([\s\S]*?)^```$/gm;
const programsOf = (file: string): readonly string[] =>
  [...readFileSync(file, 'utf8').matchAll(PROGRAM)].map(([, text = '']) => text);
const PROGRAMS = programsOf(`${CLIENT}/README.md`);
const TOUR = programsOf('docs/tutorials/quick-tours.md');

const SECRET = `whsec_${Buffer.from('a secret of the specs only').toString('base64')}`;
const MESSAGE = JSON.stringify({ type: 'operation.ended' });

/** The tests of the client, as `Class.test`. */
const TESTS = readdirSync(`${CLIENT}/tests`, { recursive: true, encoding: 'utf8' })
  .filter((name) => basename(name).startsWith('test_') && name.endsWith('.py'))
  .flatMap((name) => {
    const text = readFileSync(`${CLIENT}/tests/${name}`, 'utf8');
    const [, group = ''] = /^class (\w+)/m.exec(text) ?? [];
    return [...text.matchAll(/^ {4}(?:async )?def (test_\w+)/gm)].map(([, test = '']) => `${group}.${test}`);
  });

/** What became of each test, by its name, as unittest tells it. */
const outcomesIn = (output: string): ReadonlyMap<string, string> =>
  new Map(
    [...output.matchAll(/^(test_\w+) \([\w.]*?([A-Z]\w*)[\w.]*\) \.\.\. (\w+)/gm)].map(
      ([, test = '', group = '', outcome = '']) => [`${group}.${test}`, outcome],
    ),
  );

describe('the Python client, built and installed (needs Debian’s python3-httpx, -build, -venv and mypy)', () => {
  let app: TempFolder;
  let service: ServiceProcess;
  let source: string;
  let python: string;
  let env: Readonly<Record<string, string>>;

  const ran = async (program: string, args: readonly string[], cwd = app.path): Promise<string> => {
    const { stdout, stderr } = await run(program, args, { cwd, env, maxBuffer: 10_000_000 }).catch(
      (error: unknown) => error as { readonly stdout: string; readonly stderr: string },
    );
    return stdout + stderr;
  };

  before(async () => {
    app = tempFolder();
    source = join(app.path, 'source');
    cpSync(CLIENT, source, { recursive: true });
    service = await startService(join(app.path, 'data'));
    const operator = client(service.url);
    const key = await operator.newKey('acme');
    await operator.sell('acme', 10_000);
    const { PATH = '', HOME = '' } = process.env;
    env = {
      PATH,
      HOME,
      QUIRE_URL: service.url,
      QUIRE_API_KEY: key,
      TENANT: 'acme',
      WEBHOOK_SECRET: SECRET,
      ADMIN_KEY,
      MYPYPATH: join(source, 'src'),
    };
    copyFileSync('test/fixtures/invoice.pdf', join(app.path, 'invoice.pdf'));
    const built = await ran(PYTHON, ['-m', 'build', '--no-isolation', '--outdir', app.path, source]);
    expect(built).to.contain('Successfully built');
    const venv = join(app.path, 'venv');
    await ran(PYTHON, ['-m', 'venv', '--system-site-packages', venv]);
    python = join(venv, 'bin/python');
    const wheel = join(app.path, `quire_client-${VERSION}-py3-none-any.whl`);
    const installed = await ran(python, ['-m', 'pip', 'install', '--no-index', wheel]);
    expect(installed).to.contain('Successfully installed');
  });
  after(async () => {
    await service.stop('SIGKILL');
    app.remove();
  });

  it('is a wheel and a source package, with types and licence', async () => {
    const wheel = await ran(PYTHON, ['-m', 'zipfile', '-l', `quire_client-${VERSION}-py3-none-any.whl`]);
    for (const file of ['quire_client/py.typed', 'quire_client/_sync/client.py', 'dist-info/LICENSE'])
      expect(wheel).to.contain(file);
    const archive = readdirSync(app.path).find((name) => name.endsWith(`-${VERSION}.tar.gz`)) ?? '';
    const sources = await ran(PYTHON, ['-m', 'tarfile', '-l', archive]);
    for (const file of ['src/quire_client/models.py', 'README.md', 'LICENSE'])
      expect(sources).to.contain(file);
    expect(readFileSync(`${CLIENT}/LICENSE`, 'utf8')).to.equal(readFileSync('LICENSE', 'utf8'));
  });

  it('is typed: mypy finds nothing in it, its tests and its programs, in the strictest way', async () => {
    const files = [...PROGRAMS, ...TOUR].map((text, at) => app.file(`program${String(at)}.py`, text));
    const given = ['--cache-dir', join(app.path, 'mypy'), 'src', 'tests', ...files];
    const found = await ran(PYTHON, ['-m', 'mypy', ...given], source);
    expect(found).to.match(/^Success: no issues found in \d+ source files\n$/);
  });

  it('runs the first program: extracts, waits, and verifies a webhook', async () => {
    const [program = ''] = PROGRAMS;
    expect(program.split('\n').filter((line) => line.trim() !== '').length).to.be.at.most(30);
    const at = new Date();
    const headers = JSON.stringify({
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(SECRET).sign('msg_1', at, MESSAGE),
    });
    const sent = (body: string) => `print(on_webhook(${JSON.stringify(body)}.encode(), ${headers}))\n`;
    const file = app.file('first.py', program + sent(MESSAGE) + sent('{}'));
    const printed = await ran(python, [file]);
    expect(printed).to.match(/^\{'invoice_number': '[^']+', 'total': [\d.]+\}\noperation.ended\n204\n401\n$/);
  });

  it('runs the second: sends a file, counts its pages and reads a list', async () => {
    const [, program = '', ...others] = PROGRAMS;
    expect(others).to.deep.equal([]);
    const printed = await ran(python, [app.file('second.py', program)]);
    const size = String(readFileSync('test/fixtures/invoice.pdf').length);
    expect(printed).to.equal(`${size} of ${size} bytes\n1 page\n10000\n`);
  });

  describe('its own tests, against a running service', () => {
    let output: string;
    let outcomes: ReadonlyMap<string, string>;
    before(async () => {
      output = await ran(
        python,
        ['-m', 'unittest', 'discover', '-b', '-v', '-s', 'tests', '-t', '.'],
        source,
      );
      outcomes = outcomesIn(output);
    });

    for (const test of TESTS)
      it(test.replace('.test_', ': ').replaceAll('_', ' '), () => {
        expect(outcomes.get(test), output).to.equal('ok');
      });

    it('are all that there are', () => {
      expect([...outcomes.keys()].sort()).to.deep.equal([...TESTS].sort());
      expect(TESTS.length).to.be.above(40);
    });
  });
});
