import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../support/quireCommand.ts';
import { startService, type ServiceProcess } from '../support/serviceProcess.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';

interface Sealed {
  readonly position: string;
  readonly previous: string | null;
  readonly object: null;
}

describe('quire seal', () => {
  let folder: TempFolder;
  let service: ServiceProcess;
  before(async () => {
    folder = tempFolder();
    service = await startService(folder.path, { SEAL_EVERY_MINUTES: '60' });
  });
  after(async () => {
    await service.stop('SIGKILL');
    folder.remove();
  });

  const quire = (...args: readonly string[]) => runCommand({ DATA_DIR: folder.path }, ...args);

  it('seals beside the running service, which has sealed by itself, and the audit checks all', async () => {
    const file = join(folder.path, 'seals.ndjson');
    const { code, out, err } = await quire('seal', '--file', file);
    expect(code, err).to.equal(0);
    const made = JSON.parse(out) as Sealed;
    expect(made.previous, 'the service made one at its start').to.match(/^[0-9a-f]{64}$/);
    const audit = await quire('audit', '--log-only', '--check-seal', file);
    expect(audit.code, audit.out + audit.err).to.equal(0);
    expect(audit.out).to.contain('✔ every sealed event is still there, unchanged (3)');
  });

  it('refuses with a sentence to lock seals in the embedded folder, and durations that are none', async () => {
    const { code, err } = await quire('seal', '--retain', '400d');
    expect([code, err]).to.deep.equal([1, err]);
    expect(err).to.contain('embedded folder').and.to.contain('S3_ENDPOINT');
    for (const args of [
      ['--every', 'often'],
      ['--retain', '1h'],
    ])
      expect((await quire('seal', ...args)).code, args.join(' ')).to.equal(2);
  });

  it('makes events whose hash can be verified by hand, as the document says', async () => {
    const how = readFileSync(resolve('docs/reference/audit.md'), 'utf8');
    const [, snippet] = /--input-type=module -e '\n([\s\S]+?)'\n/.exec(how) ?? [];
    const exported = await quire('events', 'export');
    const lines = exported.out.trim().split('\n');
    expect(lines.length).to.be.greaterThan(2);
    const file = folder.file('granted.ndjson', exported.out);
    // Where modules of the repository are found.
    const script = (snippet ?? '').replace('granted.ndjson', file);
    const run = (text: string) =>
      execFileSync(process.execPath, ['--input-type=module', '-e', text], { cwd: resolve('.') }).toString();
    expect(run(script).match(/ holds/g)).to.have.length(lines.length);
    writeFileSync(
      file,
      exported.out.replace('"revision":"0"', '"revision":"1"').replace('"revision":0', '"revision":1'),
    );
    expect(run(script)).to.contain('does not hold');
  });
});
