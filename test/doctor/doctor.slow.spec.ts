import { randomBytes } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer as createHttp2 } from 'node:http2';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { freePort } from '../support/freePort.ts';
import { serverClock } from '../../adapters/eventstoredb/readiness.ts';
import { openMinioObjectStore } from '../../adapters/minio.ts';
import type { Finding } from '../../src/doctor/doctor.ts';
import { history } from '../audit/auditedHistory.ts';
import { client } from '../http/support/client.ts';
import { runCommand, type Ran } from '../support/quireCommand.ts';
import { startS3 } from '../support/s3Server.ts';
import { startService, type ServiceProcess } from '../support/serviceProcess.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';

type Environment = Readonly<Record<string, string>>;

const portOf = (server: { address(): AddressInfo | string | null }): number =>
  (server.address() as AddressInfo).port;

describe('quire doctor', () => {
  let folder: TempFolder;
  let service: ServiceProcess | undefined;
  beforeEach(() => {
    folder = tempFolder();
  });
  afterEach(async () => {
    await service?.stop('SIGKILL');
    service = undefined;
    folder.remove();
  });

  const at = (name: string) => join(folder.path, name);
  const doctor = (env: Environment, ...args: readonly string[]): Promise<Ran> =>
    runCommand({ DATA_DIR: at('data'), PORT: '0', ...env }, 'doctor', ...args);
  const findingsOf = (ran: Ran): readonly Finding[] => JSON.parse(ran.out) as Finding[];
  const named = (ran: Ran, name: string): Finding | undefined =>
    findingsOf(ran).find(({ check }) => check === name);

  it('has nothing to say before a first start, and makes nothing', async () => {
    const ran = await doctor({});
    expect(ran.code, ran.out + ran.err).to.equal(0);
    expect(ran.out).to.contain('is not there yet');
    expect(readdirSync(folder.path)).to.deep.equal([]);
  });

  it('shows all complaints about variables at once, and no value', async () => {
    const ran = await doctor(
      {
        PORT: 'high',
        LOG_LEVEL: 'loud',
        S3_BUKET: 'x',
        ADMIN_API_KEY: 'too-short-1234',
        DATABASE_URL: 'mysql://me:hunter22@db/x',
      },
      '--json',
    );
    expect(ran.code).to.equal(1);
    const texts = findingsOf(ran)
      .filter(({ check, level }) => check === 'environment' && level === 'problem')
      .map(({ text }) => text.split(':')[0]);
    expect(texts).to.have.members(['S3_BUKET', 'PORT', 'LOG_LEVEL', 'ADMIN_API_KEY', 'DATABASE_URL']);
    expect(ran.out + ran.err).not.to.contain('hunter22');
    expect(ran.out + ran.err).not.to.contain('too-short-1234');
    const together = await doctor({ S3_BUCKET: 'abc', OCR_MODEL: 'openai/gpt-5-mini' }, '--json');
    const said = findingsOf(together).map(({ text }) => text);
    expect(said.some((text) => text.startsWith('S3_ENDPOINT'))).to.equal(true);
    expect(said.some((text) => text.startsWith('OCR_MODEL'))).to.equal(true);
  });

  it('asks the running service, and tells it from strangers at its address', async () => {
    service = await startService(at('data'));
    const port = new URL(service.url).port;
    const own = await doctor({ PORT: port }, '--json');
    expect(own.code, own.out + own.err).to.equal(0);
    expect(named(own, 'service')?.text).to.contain(`process ${String(service.pid)}`);
    expect(named(own, 'address')?.text).to.contain('Our own service');
    expect(named(own, 'read models')?.text).to.match(/^\d+ read models, at most \d+ events behind/);
    expect(named(own, 'event log')?.text).to.contain('its file is intact');
    const elsewhere = await doctor({ PORT: port, DATA_DIR: at('other') }, '--json');
    expect(named(elsewhere, 'address')).to.include({ level: 'warning' });
    await service.stop('SIGKILL');
    const after = await doctor({ PORT: port }, '--json');
    expect(after.code, after.out).to.equal(0);
    expect(named(after, 'address')?.text).to.contain('is free');
    expect(named(after, 'service')?.text).to.match(/which no longer runs|The folder is free/);
  });

  it('finds a changed event, in the sample and with --deep, and a damaged file', async () => {
    cpSync(await history(), at('data'), { recursive: true });
    const whole = await doctor({}, '--deep', '--json');
    expect(named(whole, 'event log')?.level, whole.out).to.equal('ok');
    const path = join(at('data'), 'events.db');
    const db = new Database(path);
    // The sample has the streams that were written last.
    const newest = db.prepare('SELECT stream FROM events WHERE revision = 1 ORDER BY position DESC').get();
    const { stream } = newest as { readonly stream: string };
    db.prepare(
      `UPDATE events SET data = substr(data, 1, length(data) - 1) || ',"more":1}' WHERE stream = ? AND revision = 1`,
    ).run(stream);
    db.close();
    for (const args of [[], ['--deep']]) {
      const ran = await doctor({}, ...args, '--json');
      expect(ran.code).to.equal(1);
      expect(named(ran, 'event log')?.text).to.contain(`${stream} revision 1`).and.contain('restore');
    }
    const bytes = readFileSync(path);
    bytes.fill(0x5a, 4096, Math.min(bytes.length, 40_960));
    writeFileSync(path, bytes);
    for (const ending of ['-wal', '-shm']) rmSync(`${path}${ending}`, { force: true });
    const damaged = await doctor({}, '--json');
    expect(named(damaged, 'event log')?.level).to.equal('problem');
  });

  it('says when saved keys cannot be opened', async () => {
    const key = randomBytes(32).toString('base64');
    service = await startService(at('data'), { FIELD_ENCRYPTION_KEY: key });
    const api = client(service.url);
    await api.newKey('acme');
    const llm = { provider_model: 'openai/gpt-5-mini', api_key: 'sk-own-key-0123456789' };
    const published = await api.call('post', '/v1/configs', { json: { tenant_id: 'acme', llm } });
    expect(published.status, published.text).to.be.lessThan(300);
    const fine = await doctor({ FIELD_ENCRYPTION_KEY: key }, '--json');
    expect(named(fine, 'encryption')?.text).to.contain('opens the 1 keys');
    const other = randomBytes(32).toString('base64');
    const lost = await doctor({ FIELD_ENCRYPTION_KEY: other }, '--json');
    expect(named(lost, 'encryption')).to.include({ level: 'problem' });
    const rotated = await doctor({ FIELD_ENCRYPTION_KEY: other, FIELD_ENCRYPTION_KEYS_OLD: key }, '--json');
    expect(named(rotated, 'encryption')?.text).to.contain('quire secrets rotate');
    expect(named(await doctor({}, '--json'), 'encryption')).to.include({ level: 'problem' });
  });

  it('tries a bucket out and leaves nothing in it', async () => {
    const s3 = await startS3();
    try {
      const absent = await doctor(s3.env, '--json');
      expect(named(absent, 'objects')).to.include({ level: 'warning' });
      const store = await openMinioObjectStore(s3.options);
      // The server removes a folder that it finds empty, also when another object comes to it meanwhile.
      await store.put('doctor/stays', Buffer.from('x'));
      const ran = await doctor(s3.env, '--json');
      expect(named(ran, 'objects')?.level, ran.out).to.equal('ok');
      expect(named(ran, 'uploads')?.level, ran.out).to.equal('ok');
      const left: string[] = [];
      for await (const { key } of store.list('')) left.push(key);
      expect(left).to.deep.equal(['doctor/stays']);
      const wrong = await doctor({ ...s3.env, S3_SECRET_KEY: 'not-the-right-one' }, '--json');
      expect(named(wrong, 'objects')).to.include({ level: 'problem' });
      expect(wrong.out).not.to.contain('not-the-right-one');
    } finally {
      await s3.close();
    }
  });

  it('does not hang where nothing answers, and shows no password', async () => {
    const callers = new Set<Socket>();
    const silent: Server = createServer((socket) => callers.add(socket));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const host = `127.0.0.1:${String(portOf(silent))}`;
    const env = {
      DATABASE_URL: `postgres://quire:hunter22@${host}/quire`,
      REDIS_URL: `redis://:hunter33@${host}`,
      EVENTSTORE_URL: `esdb://admin:hunter44@${host}?tls=false`,
      S3_ENDPOINT: `http://${host}`,
      S3_BUCKET: 'quire',
      S3_ACCESS_KEY: 'hunter55',
      S3_SECRET_KEY: 'hunter66',
    };
    const ran = await doctor(env, '--json');
    expect(ran.code).to.equal(1);
    for (const name of ['event log', 'postgres', 'objects', 'uploads'])
      expect(named(ran, name)?.level, name).to.equal('problem');
    expect(named(ran, 'redis')?.level).not.to.equal('ok');
    expect(ran.out + ran.err).not.to.match(/hunter\d\d/);
    for (const socket of callers) socket.destroy();
    silent.close();
  });

  it('says of a cluster that nobody answers for what to look at, and shows no password', async () => {
    const nodes = `127.0.0.1:${String(await freePort())},127.0.0.1:${String(await freePort())}`;
    const ran = await doctor({ EVENTSTORE_URL: `esdb://admin:hunter44@${nodes}?tls=false` }, '--json');
    const found = named(ran, 'event log');
    expect(found?.level).to.equal('problem');
    expect(found?.text, found?.text)
      .to.contain(nodes.replace(',', ', '))
      .and.to.contain('AdvertiseHostToClientAs');
    expect(ran.out + ran.err).not.to.contain('hunter44');
  });

  it('names a folder that others can look into', async () => {
    const made = await history();
    expect(statSync(made).mode & 0o777).to.equal(0o700);
    cpSync(made, at('data'), { recursive: true });
    const { chmodSync } = await import('node:fs');
    chmodSync(at('data'), 0o755);
    expect(named(await doctor({}, '--json'), 'data folder')?.text).to.contain('chmod 700');
  });
});

describe('the clock of EventStoreDB', () => {
  it('is compared with ours', async () => {
    const date = new Date(Date.now() + 90_000).toUTCString();
    const server = createHttp2((_, response) => response.writeHead(404, { date }).end());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${String(portOf(server))}`;
    const told = await serverClock(url, AbortSignal.timeout(5_000));
    expect(told?.skewMs).to.be.within(88_000, 92_000);
    server.close();
  });
});
