import { copyFileSync, existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { systemClock } from '../../adapters/local/local.ts';
import { minioLockedObjects, openMinioObjectStore } from '../../adapters/minio.ts';
import { runAudit, type AuditReport } from '../../src/audit/runAudit.ts';
import { accountWriter } from '../../src/writer/accountWriter.ts';
import { CannotSeal, logSealer, sealLog } from '../../src/commands/sealing.ts';
import { openLockedObjects } from '../../src/parts/parts.ts';
import { findSeals } from '../../src/operator/auditedLog.ts';
import { adjustment } from '../support/money/accountCommands.ts';
import { startLockedS3, type LockedS3 } from '../support/lockedS3.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { intruderIn, type Intruder } from './tampering.ts';

const NONE = { retainDays: null, signal: new AbortController().signal };
const NOT_YET = '2000-01-01T00:00:00.000Z';

describe('seals that the service makes by itself', () => {
  let folder: TempFolder;
  let s3: LockedS3;
  beforeEach(async () => {
    folder = tempFolder();
    s3 = await startLockedS3({ hasLock: true });
    await openMinioObjectStore(s3.options);
  });
  afterEach(async () => {
    await s3.close();
    folder.remove();
  });

  const path = () => join(folder.path, 'events.db');
  const config = (withS3: boolean) => ({
    s3: withS3 ? { ...s3.options, publicEndpoint: undefined } : undefined,
  });

  /** Two movements of two tenants, and a seal after each pair; gives what was sealed. */
  const sealed = async (rounds: number, retainDays: number | null) => {
    const log = openSqliteEventLog({ path: path() });
    const writer = accountWriter({ store: log });
    const locked = await openLockedObjects(config(retainDays !== null));
    const made = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const tenant of ['acme', 'other'])
        await writer.execute(adjustment(tenant, 100, `key-${String(round)}`));
      made.push(await sealLog({ log, locked, clock: systemClock() }, { ...NONE, retainDays }));
    }
    await writer.close();
    await log.close();
    return made;
  };

  const audited = async (withS3: boolean, tamper: (intruder: Intruder) => void): Promise<AuditReport> => {
    const copy = join(tempCopy(), 'events.db');
    const db = new Database(copy);
    tamper(intruderIn(db));
    db.close();
    const feed = openSqliteEventLog({ path: copy, readOnly: true, stored: true });
    try {
      const { seals, flaws: sealFlaws, notes } = await findSeals(config(withS3), feed, NOT_YET);
      return (await runAudit({ feed, dense: true, seals, sealFlaws, notes })).report;
    } finally {
      await feed.close();
    }
  };

  const tempCopy = (): string => {
    const to = mkdtempSync(join(folder.path, 'copy-'));
    for (const end of ['', '-wal', '-shm'])
      if (existsSync(`${path()}${end}`)) copyFileSync(`${path()}${end}`, join(to, `events.db${end}`));
    return to;
  };

  /** Moves the first movement of one tenant behind the first event of another; the file fits again. */
  const swapTenants = ({ all, run, redigest }: Intruder): void => {
    const [a, b] = all('position in (2, 3) order by position');
    const move = 'update events set position = ? where position = ?';
    run(move, -1, a!.position);
    run(move, a!.position, b!.position);
    run(move, b!.position, -1);
    redigest();
  };

  it('are chained, each over all that was there, and the audit finds nothing', async () => {
    const made = await sealed(3, null);
    expect(made.map((one) => one?.seal.events)).to.deep.equal([4, 7, 10]);
    expect(made[0]?.seal.previous).to.equal(null);
    const report = await audited(false, () => undefined);
    expect(report.findings).to.deep.equal([]);
    expect(report.checks.find(({ check }) => check === 'seal')).to.include({ checked: 3 });
  });

  it('show two tenants’ events that changed places, where nothing else does', async () => {
    await sealed(3, null);
    const report = await audited(false, swapTenants);
    expect(report.findings.map(({ check }) => check)).to.deep.equal(['seal']);
    expect(report.findings[0]?.message).to.contain('$seals').and.to.contain('Up to position');
  });

  it('name the seal before the edit that holds', async () => {
    const made = await sealed(3, null);
    const report = await audited(false, (intruder) => {
      const event = intruder.all(`type = 'CreditsAdjusted' and position > 5 order by position`)[0]!;
      const data = event.data.replace(/"reason":"[^"]*"/, '"reason":"none of yours"');
      expect(data).not.to.equal(event.data);
      intruder.run('update events set data = ? where position = ?', data, event.position);
      intruder.rechain(event.stream);
    });
    const [finding] = report.findings.filter(({ check }) => check === 'seal');
    expect(finding?.message).to.contain(`up to position ${made[0]?.seal.position ?? ''}, holds`);
  });

  it('cannot be rewritten with the log when they are locked in the object store', async () => {
    const made = await sealed(3, 400);
    const key = `/${s3.options.bucket}/${made[2]?.object?.key ?? ''}`;
    expect([...s3.retained.keys()]).to.contain(key);
    expect(s3.retained.get(key)).to.equal(made[2]?.object?.retained_until);
    const objects = await openMinioObjectStore(s3.options);
    const refused = await objects.remove(made[2]?.object?.key ?? '').catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Error);
    expect((await audited(true, () => undefined)).findings).to.deep.equal([]);
    const dropSeals = (intruder: Intruder) => {
      swapTenants(intruder);
      intruder.run(`delete from events where stream = '$seals' and revision = 2`);
    };
    expect((await audited(false, dropSeals)).findings, 'the seals in the log alone').not.to.be.empty;
    const report = await audited(true, dropSeals);
    expect(report.findings.map(({ message }) => message).join()).to.contain('the object store');
  });

  it('may be made by hand, into the log alone, beside those that are locked away', async () => {
    for (const retainDays of [400, null, 400]) await sealed(1, retainDays);
    const report = await audited(true, () => undefined);
    expect(report.findings).to.deep.equal([]);
    const dropped = await audited(true, ({ run }) => {
      run(`delete from events where stream = '$seals' and revision = 1`);
    });
    const messages = dropped.findings.map(({ message }) => message);
    expect(messages.filter((message) => message.includes('names a seal before it'))).to.have.length(1);
  });

  it('are missed when they were locked away and are not there', async () => {
    await sealed(2, 400);
    await s3.close();
    s3 = await startLockedS3({ hasLock: true });
    await openMinioObjectStore(s3.options);
    const { findings } = await audited(true, () => undefined);
    expect(findings).to.have.length(2);
    expect(findings[0]?.message).to.contain('is not there');
  });

  it('are found changed in the object store, and where one was taken away between two', async () => {
    const made = await sealed(3, 400);
    const keys = made.map((one) => one?.object?.key ?? '');
    (s3.retained as Map<string, string>).clear();
    const objects = await openMinioObjectStore(s3.options);
    await objects.put(keys[0] ?? '', Buffer.from('{}'));
    await objects.remove(keys[1] ?? '');
    const messages = (await audited(true, () => undefined)).findings.map(({ message }) => message);
    expect(messages.filter((message) => message.includes('is no seal'))).to.have.length(1);
    expect(messages.filter((message) => message.includes('is not there'))).to.have.length(1);
  });

  it('are refused with a sentence where objects cannot be locked', async () => {
    const open = await startLockedS3({ hasLock: false });
    try {
      await openMinioObjectStore(open.options);
      expect(await minioLockedObjects(open.options).refusal()).to.contain('has no object lock');
      const log = openSqliteEventLog({ path: path() });
      const writer = accountWriter({ store: log });
      await writer.execute(adjustment('acme', 1, 'k'));
      const deps = { log, locked: minioLockedObjects(open.options), clock: systemClock() };
      const error = await sealLog(deps, { ...NONE, retainDays: 1 }).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(CannotSeal);
      const folderLock = await openLockedObjects({ s3: undefined });
      expect(await folderLock.refusal()).to.contain('embedded folder');
      expect(await sealLog({ ...deps, locked: folderLock }, NONE)).not.to.equal(undefined);
      await writer.close();
      await log.close();
    } finally {
      await open.close();
    }
  });

  it('are not made of a log that does not fit its own hashes', async () => {
    await sealed(1, null);
    const db = new Database(path());
    db.exec(`update events set data = replace(data, '100', '900') where type = 'CreditsAdjusted'`);
    db.exec(`delete from events where stream = '$seals'`);
    db.close();
    const log = openSqliteEventLog({ path: path() });
    const deps = { log, locked: await openLockedObjects({ s3: undefined }), clock: systemClock() };
    const error = await sealLog(deps, NONE).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(CannotSeal);
    expect(String(error)).to.contain('run quire audit');
    await log.close();
  });

  it('are made now and then, and once for all that do it', async () => {
    await sealed(1, null);
    const log = openSqliteEventLog({ path: path() });
    const seen: string[] = [];
    const locked = await openLockedObjects({ s3: undefined });
    const deps = { log, locked, clock: systemClock(), retainDays: null };
    const sealer = logSealer({
      ...deps,
      everyMs: 3_600_000,
      onSeal: ({ seal }) => seen.push(seal.position),
      onError: (error) => seen.push(String(error)),
    });
    await sealer.sweep();
    expect(seen, 'the last one is young').to.deep.equal([]);
    const later = { ...systemClock(), now: () => new Date(Date.now() + 7_200_000).toISOString() };
    const hasty = logSealer({
      ...deps,
      clock: later,
      everyMs: 3_600_000,
      onSeal: ({ seal }) => seen.push(seal.position),
      onError: () => undefined,
    });
    await hasty.sweep();
    expect(seen, 'nothing but the seal was written').to.deep.equal([]);
    const writer = accountWriter({ store: log });
    await writer.execute(adjustment('acme', 1, 'later'));
    await hasty.sweep();
    expect(seen).to.deep.equal(['6']);
    await sealer.stop();
    await hasty.stop();
    await writer.close();
    await log.close();
  });
});
