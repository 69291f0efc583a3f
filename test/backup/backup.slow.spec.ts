import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { copyEventLog } from '../../adapters/sqlite/eventLog.ts';
import { checkBackup } from '../../src/backup/restoreBackup.ts';
import { makeBackup } from '../../src/backup/makeBackup.ts';
import { manifestSum, manifestText, type Manifest } from '../../src/backup/files.ts';
import { dataFolderOf, openCopiedLog } from '../../src/backup/backup.ts';
import { history, RICH } from '../audit/auditedHistory.ts';
import { nextOperation, sendOnce, type Operation } from '../support/tradeLoad.ts';
import { client } from '../http/support/client.ts';
import { runCommand, startCommand, type Ran } from '../support/quireCommand.ts';
import { seededRandom } from '../../engine/test/support/random.ts';
import { startService, type ServiceProcess } from '../support/serviceProcess.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { until } from '../../engine/test/support/until.ts';

const SEED = Number(process.env['SEED'] ?? 20_260_131);

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort();

const manifestOf = (backup: string): Manifest =>
  JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8')) as Manifest;

/** Everything that two backups of the same state have in common: all but the layout of the log's file. */
const contentOf = (backup: string) => {
  const { log, objects, missing, files } = manifestOf(backup);
  const same = files.filter(({ path }) => !['data/events.db', 'seal.json'].includes(path));
  return { log, objects, missing, same };
};

describe('backup and restore', () => {
  let folder: TempFolder;
  const services: ServiceProcess[] = [];
  beforeEach(() => {
    folder = tempFolder();
  });
  afterEach(async () => {
    for (const service of services.splice(0)) await service.stop('SIGKILL');
    folder.remove();
  });

  const at = (name: string) => join(folder.path, name);
  const quire = (dataDir: string, ...args: readonly string[]): Promise<Ran> =>
    runCommand({ DATA_DIR: dataDir }, ...args);
  const done = async (dataDir: string, ...args: readonly string[]): Promise<Ran> => {
    const ran = await quire(dataDir, ...args);
    expect(ran.code, `${args.join(' ')}: ${ran.out}${ran.err}`).to.equal(0);
    return ran;
  };
  const service = async (dataDir: string, env: Readonly<Record<string, string>> = {}) => {
    const started = await startService(dataDir, env);
    services.push(started);
    return started;
  };
  const copyOfHistory = async (): Promise<string> => {
    const dataDir = at('data');
    cpSync(await history(), dataDir, { recursive: true });
    return dataDir;
  };

  /** What commands did: a hold is one of an extraction, whose burn may come later, from what the backup found begun. */
  const effects = async (dataDir: string): Promise<number> => {
    const { out } = await done(dataDir, 'events', 'export', '--category', 'account');
    const types = out.split('\n').filter((line) => line !== '');
    return types.filter((line) => /"type":"Credits(Granted|Refunded|Adjusted|Held)"/.test(line)).length;
  };

  it(`made under load, has every command that was acknowledged before it began (SEED=${SEED})`, async () => {
    const running = await service(at('data'));
    const api = client(running.url);
    const random = seededRandom(SEED);
    const tenants: { tenant: string; key: string }[] = [];
    for (const tenant of ['one', 'two', 'three'])
      tenants.push({ tenant, key: (await api.sell(tenant, 50_000), await api.newKey(tenant)) });
    const sent: Operation[] = [];
    let stopped = false;
    const caller = async () => {
      while (!stopped) {
        const next = nextOperation(tenants, sent, random);
        sent.push(next);
        for (let tries = 0; next.outcome === 'unknown' && tries < 50; tries += 1)
          await sendOnce(next, running.url);
      }
    };
    const callers = Array.from({ length: 4 }, caller);
    await until(() => sent.filter(({ acknowledged }) => acknowledged).length >= 20);
    const before = sent.filter(({ acknowledged }) => acknowledged);
    await done(at('data'), 'backup', at('backup'));
    stopped = true;
    await Promise.all(callers);
    const after = sent.filter(({ acknowledged }) => acknowledged).length;
    expect(after, 'commands went on beside the backup').to.be.greaterThan(before.length);
    await running.stop('SIGKILL');

    await done(at('data'), 'backup', 'verify', at('backup'));
    await done(at('restored'), 'restore', at('backup'));
    const restored = await service(at('restored'));
    const effectsThen = await effects(at('restored'));
    for (const one of before) await sendOnce(one, restored.url);
    expect(await effects(at('restored')), 'nothing that was acknowledged takes effect again').to.equal(
      effectsThen,
    );
    const audit = await quire(at('restored'), 'audit');
    expect(audit.code, audit.out + audit.err).to.equal(0);
    expect(audit.out).to.contain('✔ the read models match the events');
  });

  it('restores into an empty folder what a backup of it finds again', async () => {
    const dataDir = await copyOfHistory();
    const first = await done(dataDir, 'backup', at('first'));
    expect(first.out).to.match(/log up to position \d+: \d+ events in \d+ streams; [1-9]\d* objects/);
    expect(statSync(at('first')).mode & 0o777).to.equal(0o700);
    const restored = await done(dataDir, 'restore', at('first'), '--data-dir', at('restored'));
    expect(restored.out).to.contain(`Restored into ${at('restored')}`);
    await done(at('restored'), 'backup', at('second'));
    expect(contentOf(at('second'))).to.deep.equal(contentOf(at('first')));
    expect(filesIn(at('first'))).to.satisfy((files: string[]) =>
      files.every((file) => !/read-models|owner|operator|data\/uploads|wal$|shm$/.test(file)),
    );

    const running = await service(at('restored'));
    const api = client(running.url);
    const balance = (await api.call('get', `/v1/billing/balance/${RICH}`)).body;
    const live = await quire(dataDir, 'audit', '--as-of', '2999-12-31', '--tenant', RICH, '--json');
    const { balances } = JSON.parse(live.out) as { balances: { balance_credits: string }[] };
    expect(String(balance['balance_credits'])).to.equal(balances[0]?.balance_credits);
    const audit = await quire(at('restored'), 'audit');
    expect(audit.code, audit.out + audit.err).to.equal(0);
  });

  it('names the file in which one byte was flipped, and restores nothing of it', async () => {
    const dataDir = await copyOfHistory();
    await done(dataDir, 'backup', at('backup'));
    const random = seededRandom(SEED);
    const files = filesIn(at('backup'));
    const objects = files.filter((file) => file.startsWith('data/objects/'));
    for (const file of [...files.filter((one) => !objects.includes(one)), random.pick(objects)]) {
      const path = join(at('backup'), file);
      const bytes = readFileSync(path);
      const place = random.between(0, bytes.length - 1);
      const flipped = Buffer.from(bytes);
      flipped[place] = bytes[place]! ^ (1 << random.between(0, 7));
      writeFileSync(path, flipped);
      const checked = await checkBackup(at('backup'));
      const said = checked.kind === 'broken' ? checked.complaints.join('\n') : '';
      expect(said, `${file} at ${String(place)}`).to.contain(file.replace(/\.sha256$/, ''));
      if (file === 'data/events.db') {
        const restored = await quire(dataDir, 'restore', at('backup'), '--data-dir', at('restored'));
        expect(restored.code).to.equal(1);
        expect(restored.err).to.contain('data/events.db was changed');
        expect(existsSync(at('restored'))).to.equal(false);
      }
      writeFileSync(path, bytes);
    }
    await done(dataDir, 'backup', 'verify', at('backup'));
  });

  it('names files that are missing, cut short, or not part of it', async () => {
    const dataDir = await copyOfHistory();
    await done(dataDir, 'backup', at('backup'));
    rmSync(join(at('backup'), 'data/upload-secret'));
    appendFileSync(join(at('backup'), 'data/events.db'), 'x');
    writeFileSync(join(at('backup'), 'data/more'), '');
    const { code, err } = await quire(dataDir, 'backup', 'verify', at('backup'));
    expect(code).to.equal(1);
    expect(err).to.contain('data/upload-secret is missing');
    expect(err).to.match(/data\/events\.db has \d+ bytes where \d+ belong/);
    expect(err).to.contain('data/more is not part of the backup');
    const ended = await checkBackup(at('backup'), AbortSignal.abort()).catch((error: unknown) => error);
    expect(ended).to.have.property('name', 'AbortError');
  });

  it('killed half-way leaves nothing that restore accepts', async () => {
    const dataDir = await copyOfHistory();
    const many = join(dataDir, 'objects/objects/uploads');
    mkdirSync(many, { recursive: true });
    for (let n = 0; n < 60; n += 1) writeFileSync(join(many, `doc_${String(n)}.bin`), randomBytes(1_000_000));
    const { child, done: ended } = startCommand({ DATA_DIR: dataDir }, ['backup', at('backup')]);
    const partial = () => readdirSync(folder.path).find((name) => name.startsWith('backup.partial-'));
    const copying = () => {
      const name = partial();
      return name !== undefined && existsSync(join(at(name), 'data/objects'));
    };
    await until(copying, 1);
    child.kill('SIGKILL');
    await ended;
    expect(existsSync(at('backup'))).to.equal(false);
    const torn = at(partial() ?? '');
    expect((await quire(dataDir, 'restore', torn, '--data-dir', at('restored'))).err).to.contain(
      'it is no backup, or one that was cut short',
    );
    expect((await quire(dataDir, 'restore', at('backup'), '--data-dir', at('restored'))).code).to.equal(1);
    expect(existsSync(at('restored'))).to.equal(false);
    expect((await done(dataDir, 'backup', at('backup'))).err).to.contain(torn);
  });

  it('stopped by a signal leaves nothing at all', async () => {
    const dataDir = await copyOfHistory();
    const { child, done: ended } = startCommand({ DATA_DIR: dataDir }, ['backup', at('backup')]);
    await until(() => readdirSync(folder.path).length > 1, 1);
    child.kill('SIGINT');
    expect((await ended).code).to.equal(130);
    expect(readdirSync(folder.path)).to.deep.equal(['data']);
  });

  it('copies the log anew when a key that it refers to was removed meanwhile', async () => {
    const env = { FIELD_ENCRYPTION_KEY: randomBytes(32).toString('base64') };
    const running = await service(at('data'), env);
    const api = client(running.url);
    await api.newKey('acme');
    const json = {
      tenant_id: 'acme',
      llm: { provider_model: 'openai/gpt-5-mini', api_key: 'sk-own-key-0123456789' },
    };
    const published = await api.call('post', '/v1/configs', { json });
    expect(published.status, published.text).to.be.lessThan(300);
    let copies = 0;
    const copyLog: typeof copyEventLog = async (from, to, signal) => {
      await copyEventLog(from, to, signal);
      copies += 1;
      if (copies > 1) return;
      const revoked = await api.call('delete', `/v1/configs/${String(published.body['config_id'])}`);
      expect(revoked.status, revoked.text).to.be.lessThan(300);
    };
    const { manifest } = await makeBackup(
      {
        data: dataFolderOf({ dataDir: at('data'), s3: undefined }),
        copyLog,
        open: openCopiedLog,
        version: '0.0.0',
        now: () => '2026-01-31T00:00:00.000Z',
      },
      at('backup'),
      new AbortController().signal,
    );
    expect(copies).to.equal(2);
    expect(manifest.missing).to.deep.equal([]);
    expect(manifest.files.filter(({ path }) => path.includes('secrets/'))).to.deep.equal([]);
  });

  it('says which objects are missing or are not what events say', async () => {
    const dataDir = await copyOfHistory();
    const objects = join(dataDir, 'objects/objects');
    const artifacts = readdirSync(join(objects, 'artifacts'));
    const [upload] = readdirSync(join(objects, 'uploads'));
    rmSync(join(objects, 'artifacts', artifacts[0] ?? ''));
    writeFileSync(join(objects, 'uploads', upload ?? ''), 'something else');
    const made = await quire(dataDir, 'backup', at('backup'));
    expect(made.code).to.equal(1);
    expect(made.err)
      .to.contain(`artifacts/${(artifacts[0] ?? '').replace('.bin', '')}: absent`)
      .and.to.contain(`uploads/${(upload ?? '').replace('.bin', '')}: changed`);
    expect(manifestOf(at('backup')).missing).to.have.length(2);
  });

  it('tells a log that is damaged, and where, from one whose audit has findings', async () => {
    const dataDir = await copyOfHistory();
    const db = new Database(join(dataDir, 'events.db'));
    const [event] = db
      .prepare(`select * from events where type = 'CreditsGranted' order by position limit 1`)
      .all() as { stream: string; revision: number; position: number }[];
    db.prepare(`update events set data = replace(data, '"note":null', '"note":"x"') where position = ?`).run(
      event!.position,
    );
    db.close();
    const where = `first in ${event!.stream} at revision ${event!.revision}, position ${event!.position}`;
    const made = await quire(dataDir, 'backup', at('backup'));
    expect([made.code, made.err.includes(`its log is damaged, ${where}`)], made.err).to.deep.equal([1, true]);
    const verified = await quire(dataDir, 'backup', 'verify', at('backup'));
    expect(verified.code).to.equal(1);
    expect(verified.err).to.contain(`The log in the backup is damaged, ${where}`);
  });

  it('tells another log than the one that it was made of, by manifest and by header', async () => {
    const dataDir = await copyOfHistory();
    await done(dataDir, 'backup', at('backup'));
    const path = join(at('backup'), 'manifest.json');
    const made = manifestOf(at('backup'));
    const { log_id, ...log } = made.log;
    expect(log_id).to.be.a('string');
    const write = (manifest: Manifest) => {
      const text = manifestText(manifest);
      writeFileSync(path, text);
      writeFileSync(`${path}.sha256`, manifestSum(text));
    };
    write({ ...made, log: { ...log, log_id: 'another' } });
    for (const args of [
      ['backup', 'verify', at('backup')],
      ['restore', at('backup'), '--data-dir', at('r')],
    ]) {
      const told = await quire(dataDir, ...args);
      expect(told.code, told.err).to.equal(1);
      expect(told.err).to.contain('another log than the backup says');
    }
    write({ ...made, log });
    await done(dataDir, 'backup', 'verify', at('backup'));

    const db = new Database(join(dataDir, 'events.db'));
    db.prepare(`update header set value = 'another' where name = 'log_id'`).run();
    db.close();
    const told = await quire(dataDir, 'backup', at('edited'));
    expect([told.code, told.err.includes("another log than the file's header says")], told.err).to.deep.equal(
      [1, true],
    );
    expect((await quire(dataDir, 'doctor')).out).to.contain('says in its header that it is the log another');
  });

  it('goes only where nothing is, and replaces a backup only when told', async () => {
    const dataDir = await copyOfHistory();
    await done(dataDir, 'backup', at('backup'));
    expect((await quire(dataDir, 'backup', at('backup'))).err).to.contain('replace it with --force');
    expect((await done(dataDir, 'backup', '--force', at('backup'))).err).to.contain(
      'It replaced the backup of',
    );
    mkdirSync(at('mine'));
    expect((await quire(dataDir, 'backup', '--force', at('mine'))).err).to.contain('is not a backup');
    expect((await quire(dataDir, 'backup', join(dataDir, 'backup'))).code).to.equal(2);
    expect((await quire(at('nowhere'), 'backup', at('other'))).err).to.contain('There is no event log');
    writeFileSync(join(at('mine'), 'letter.txt'), '');
    const full = await quire(dataDir, 'restore', at('backup'), '--data-dir', at('mine'));
    expect(full.code).to.equal(1);
    expect(full.err).to.contain('letter.txt');
    expect(readdirSync(at('mine'))).to.deep.equal(['letter.txt']);
    const within = await quire(dataDir, 'restore', at('backup'), '--data-dir', at('backup/data/new'));
    expect(within.err).to.contain('is inside the backup');
  });

  it('that was to replace another and failed leaves that one, and says so', async () => {
    const dataDir = await copyOfHistory();
    await done(dataDir, 'backup', at('backup'));
    const before = readFileSync(join(at('backup'), 'manifest.json'), 'utf8');
    for (const name of ['.backup.new.partial-x', '.backup.old']) mkdirSync(at(name));
    writeFileSync(join(dataDir, 'events.db'), randomBytes(8192));
    const failed = await quire(dataDir, 'backup', '--force', at('backup'));
    expect(failed.code).to.equal(1);
    expect(failed.err)
      .to.contain(`${at('backup')} still holds the backup of ${manifestOf(at('backup')).made_at}`)
      .and.to.contain(at('.backup.new.partial-x'))
      .and.not.to.contain('Nothing is left');
    expect(readFileSync(join(at('backup'), 'manifest.json'), 'utf8')).to.equal(before);
    rmSync(at('backup'), { recursive: true });
    const anew = await quire(dataDir, 'backup', at('backup'));
    expect(anew.err)
      .to.contain(at('.backup.old'))
      .and.to.contain(`Nothing is left of ${at('backup')}`);
  });

  it('no service starts in a folder with a restore that was cut short', async () => {
    const dataDir = await copyOfHistory();
    await done(dataDir, 'backup', at('backup'));
    mkdirSync(join(at('restored'), 'restoring'), { recursive: true });
    const refused = await quire(at('restored'), 'serve');
    expect(refused.code).to.equal(1);
    expect(refused.err).to.contain('a restore that was cut short').and.to.contain('quire restore');
    await done(at('restored'), 'restore', at('backup'));
    expect(readdirSync(at('restored'))).not.to.include('restoring');
  });
});
