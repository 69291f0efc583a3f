import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { pictureOf } from '../../engine/test/support/pagePictures.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAIN = fileURLToPath(new URL('./airGapMain.js', import.meta.url));

/** A command in a network namespace that has a loopback and nothing else. As root no user namespace is needed. */
const alone = (...command: readonly string[]): readonly string[] => {
  const own = process.getuid?.() === 0 ? ['--net'] : ['--map-root-user', '--net'];
  return [...own, 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...command];
};

const trial = spawnSync('unshare', alone('true'), { encoding: 'utf8' });

interface Answer {
  readonly status: number;
  readonly body: string;
}

interface Told {
  readonly outside: { readonly address: string; readonly name: string };
  readonly extracted: Answer;
  readonly recognised: Answer;
  readonly page: Answer;
  readonly audit: { readonly code: number | null; readonly out: string; readonly err: string };
  readonly output: string;
}

describe('a service without a network (needs unshare and ip, and the right to make namespaces)', function () {
  this.timeout(600_000);
  const folder = tempFolder();
  after(() => folder.remove());

  if (trial.status !== 0) {
    it('runs where a network namespace can be made');
    return;
  }
  it('starts, extracts, recognises a scan, shows its console and is audited: nothing is fetched', async () => {
    const scan = join(folder.path, 'scan.png');
    writeFileSync(scan, await pictureOf(readFileSync(join(ROOT, 'test/fixtures/invoice.pdf'))));
    const { stdout } = await run('unshare', alone(process.execPath, MAIN, join(folder.path, 'data'), scan), {
      cwd: ROOT,
      maxBuffer: 64 * 1024 * 1024,
    });
    const told = JSON.parse(stdout) as Told;
    expect(told.outside.address).to.equal('ENETUNREACH');
    expect(told.outside.name).to.be.oneOf(['EAI_AGAIN', 'ENOTFOUND']);
    expect(told.extracted.status, told.extracted.body).to.equal(200);
    const { result } = JSON.parse(told.extracted.body) as {
      readonly result: Readonly<Record<string, unknown>>;
    };
    expect(Object.keys(result), told.extracted.body).not.to.deep.equal([]);
    expect(told.recognised.status, told.recognised.body).to.equal(200);
    expect(told.recognised.body.toLowerCase(), 'words of the picture').to.contain('invoice');
    expect(told.page.status).to.equal(200);
    expect(told.page.body, 'the console loads nothing from elsewhere').not.to.match(/(?:src|href)="https?:/);
    expect(told.audit.code, `${told.audit.out}${told.audit.err}`).to.equal(0);
    expect(told.output, 'nobody has tried').not.to.match(/ENETUNREACH|EAI_AGAIN|ENOTFOUND|fetch failed/);
  });
});
