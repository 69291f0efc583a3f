import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type EsdbDouble, startEsdbDouble } from '../support/esdbDouble/esdbDouble.ts';
import { PYTHON } from '../support/python.ts';
import { ADMIN_KEY, startService, type ServiceProcess } from '../support/serviceProcess.ts';
import { NODE_OPTIONS } from '../support/program.ts';

/** From the compiled spec to the checkout. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const documentsIn = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => join(folder, file));

const BLOCK = /^ *```(sh|python)\n([\s\S]*?)^ *```$/gm;

/** The blocks of a document, as one script that ends at the first command that fails. */
const scriptOf = (file: string): string => {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(BLOCK)]
    .map(([, language, block = '']) => (language === 'python' ? `${PYTHON} - <<'END'\n${block}END` : block))
    .join('\n');
};

interface Ran {
  readonly code: number;
  readonly output: string;
}

describe('the tutorials and how-tos (need curl, and Python with httpx)', () => {
  let folder: string;
  let service: ServiceProcess;
  let double: EsdbDouble;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quire-docs-'));
    double = await startEsdbDouble();
    service = await startService(join(folder, 'data'), {
      FIELD_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      WEBHOOKS_ALLOW_PRIVATE_NETWORK: 'true',
    });
  });
  after(async () => {
    await double.close();
    await service.stop('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  });

  const run = (script: string): Promise<Ran> =>
    new Promise((resolve) => {
      const { PATH = '', HOME = '' } = process.env;
      const env = { PATH, HOME };
      // The same command without npm's start-up time.
      const quire = [process.execPath, ...NODE_OPTIONS, join(ROOT, 'bin/quire.js')].join(' ');
      const text = script
        // What a reader types instead: no variable is set but by the document.
        .replaceAll('http://127.0.0.1:8080', service.url)
        .replaceAll('esdb://eventstore:2113?tls=false', double.connectionString)
        .replaceAll("'the admin key'", ADMIN_KEY)
        .replaceAll('npx --no-install quire', quire)
        .replaceAll('test/fixtures', join(ROOT, 'test/fixtures'));
      const paths = {
        NODE_PATH: join(ROOT, 'node_modules'),
        PYTHONPATH: join(ROOT, 'sdk-python/src'),
        PYTHONDONTWRITEBYTECODE: '1',
      };
      const options = { env: { ...env, ...paths }, cwd: folder };
      const child = execFile('bash', ['-euo', 'pipefail', '-c', text], options, (error, out, err) =>
        resolve({ code: error === null ? 0 : (child.exitCode ?? 1), output: `${out}\n${err}` }),
      );
    });

  for (const file of [...documentsIn('docs/tutorials'), ...documentsIn('docs/how-to')])
    it(`${file}: every command of it does what it should`, async () => {
      const script = scriptOf(file);
      expect(script, 'it has no block that can be run').not.to.equal('');
      const { code, output } = await run(script);
      expect(code, output).to.equal(0);
    });
});
