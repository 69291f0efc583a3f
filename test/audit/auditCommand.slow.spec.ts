import { execFile } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import type { AuditReport } from '../../src/audit/runAudit.ts';
import { lockDataDir } from '../../adapters/local/dataFolder.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { history, POOR, RICH } from './auditedHistory.ts';
import { CLI, NODE_OPTIONS } from '../support/program.ts';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

describe('quire audit', () => {
  let folder: TempFolder;
  let dataDir: string;
  before(async () => {
    folder = tempFolder();
    dataDir = join(folder.path, 'data');
    cpSync(await history(), dataDir, { recursive: true });
  });
  after(() => {
    folder.remove();
  });

  const quireIn = (folderOfData: string, ...args: readonly string[]): Promise<Ran> =>
    new Promise((resolve) => {
      const options = { env: { PATH: process.env['PATH'], DATA_DIR: folderOfData } };
      const child = execFile(process.execPath, [...NODE_OPTIONS, CLI, ...args], options, (error, out, err) =>
        resolve({ code: error === null ? 0 : (child.exitCode ?? -1), out, err }),
      );
    });

  const quire = (...args: readonly string[]): Promise<Ran> => quireIn(dataDir, 'audit', ...args);

  it('says that nothing is wrong, and exits 0', async () => {
    const { code, out, err } = await quire();
    expect(code, out + err).to.equal(0);
    expect(out).to.contain('Nothing is wrong.').and.to.contain('the event log and');
    expect(out).to.contain('✔ the read models match the events');
  });

  it('prints the same as JSON', async () => {
    const { code, out } = await quire('--log-only', '--json');
    expect(code).to.equal(0);
    const report = JSON.parse(out) as Record<string, unknown>;
    expect(report).to.include({ total: 0, read_models: null });
    expect(report).to.include.keys('facts', 'checks', 'findings', 'notes');
  });

  it('prints balances at a moment, of all tenants or of one', async () => {
    const all = await quire('--as-of', '2999-12-31');
    expect(all.code).to.equal(0);
    expect(all.out).to.contain(RICH).and.to.contain(POOR).and.to.contain('AVAILABLE');
    const one = await quire('--as-of', '2999-12-31', '--tenant', POOR, '--json');
    const { balances } = JSON.parse(one.out) as { balances: Record<string, unknown>[] };
    expect(balances).to.have.length(1);
    expect(balances[0]).to.include({ balance_credits: '960', tenant_id: POOR });
    const before = await quire('--as-of', '2020-01-01', '--json');
    expect(JSON.parse(before.out)).to.deep.equal({ as_of: '2020-01-01T23:59:59.999Z', balances: [] });
  });

  it('refuses what makes no sense, with exit code 2', async () => {
    expect((await quire('--tenant', POOR)).code).to.equal(2);
    const noFile = await quire('--log-only', '--check-seal', join(folder.path, 'none.json'));
    expect(noFile.code).to.equal(2);
    expect(noFile.err).to.contain('there is no such file');
    expect((await quire('--as-of', 'yesterday')).code).not.to.equal(0);
  });

  it('says how to audit beside a running service', async () => {
    const lock = await lockDataDir(dataDir, () => undefined);
    const refused = await quire();
    const beside = await quire('--log-only');
    await lock.release();
    expect(refused.code).to.equal(2);
    expect(refused.err).to.contain('--log-only');
    expect(beside.code).to.equal(0);
  });

  it('begins at a seal, and says what to do where there is none', async () => {
    const copy = join(folder.path, 'sealed');
    cpSync(dataDir, copy, { recursive: true });
    const since = (...args: readonly string[]) => quireIn(copy, 'audit', '--since-seal', ...args);
    const never = await since();
    expect([never.code, never.err]).to.deep.equal([2, never.err]);
    expect(never.err).to.contain('Run quire seal');
    expect((await quireIn(copy, 'seal')).code).to.equal(0);
    const { code, out, err } = await since('--json');
    expect(code, out + err).to.equal(0);
    const report = JSON.parse(out) as AuditReport;
    expect(report).to.include({ total: 0, read_models: null });
    expect(report.since).to.include({ from: '$seals', events: 1 });
    const early = await since('2020-01-31');
    expect([early.code, early.err]).to.deep.equal([2, early.err]);
    expect(early.err).to.contain('No seal was made until 2020-01-31T23:59:59.999Z');
    for (const args of [['yesterday'], ['--seal', 'seal.json'], ['--as-of', '2026-01-31']])
      expect((await since(...args)).code, args.join(' ')).to.equal(2);
    const db = new Database(join(copy, 'events.db'));
    db.exec(
      `update events set log_digest = '${'0'.repeat(64)}' where position = ${report.since?.position ?? ''}`,
    );
    db.close();
    const edited = await since();
    expect(edited.code).to.equal(1);
    expect(edited.out).to.contain('✘ every sealed event is still there');
  });

  it('writes a seal, and finds by it what was cut off', async () => {
    const seal = join(folder.path, 'seal.json');
    expect((await quire('--log-only', '--seal', seal)).code).to.equal(0);
    expect(JSON.parse(readFileSync(seal, 'utf8'))).to.include.keys('digest', 'heads', 'made_at', 'position');
    expect((await quire('--log-only', '--check-seal', seal)).code).to.equal(0);
    const db = new Database(join(dataDir, 'events.db'));
    db.exec(
      `delete from events where position > (select max(position) from events where stream = 'account-${RICH}') - 1`,
    );
    db.close();
    const { code, out } = await quire('--log-only', '--check-seal', seal);
    expect(code).to.equal(1);
    expect(out).to.contain(`account-${RICH} has lost events`).and.to.contain('✘');
    const compared = await quire();
    expect(compared.code).to.equal(1);
    expect(compared.out).to.contain('the end of the log was cut off');
    const told = await quire('--log-only', '--check-seal', seal, '--tell');
    expect(told.code, told.err).to.equal(1);
    const log = new Database(join(dataDir, 'events.db'));
    const row = log
      .prepare(`select data from events where stream = 'finding-audit' order by position desc`)
      .get();
    log.close();
    expect(JSON.stringify(row)).to.contain('findings').and.to.contain('seal');
  });
});
