import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { markCopy } from '../../adapters/eventstoredb/readiness.ts';
import { freePort } from '../support/freePort.ts';
import { startEsdbDouble } from '../support/esdbDouble/esdbDouble.ts';
import { startService } from '../support/serviceProcess.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { MAIN } from '../support/program.ts';

describe('a start whose servers are away', () => {
  let folder: TempFolder;
  beforeEach(() => (folder = tempFolder()));
  afterEach(() => folder.remove());

  const started = (env: Readonly<Record<string, string>>) => {
    const child = spawn(process.execPath, [MAIN], {
      env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: folder.path, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { out: '', err: '' };
    child.stdout.on('data', (bytes: Buffer) => (said.out += bytes.toString()));
    child.stderr.on('data', (bytes: Buffer) => (said.err += bytes.toString()));
    return { child, said };
  };

  for (const [name, variables] of [
    ['EventStoreDB', (at: string) => ({ EVENTSTORE_URL: `esdb://admin:hunter44@${at}?tls=false` })],
    [
      'EventStoreDB at 127.0.0.1:1, 127.0.0.1',
      (at: string) => ({ EVENTSTORE_URL: `esdb://admin:hunter44@127.0.0.1:1,${at}?tls=false` }),
    ],
    ['PostgreSQL', (at: string) => ({ DATABASE_URL: `postgres://quire:hunter44@${at}/quire` })],
    [
      'S3',
      (at: string) => ({
        S3_ENDPOINT: `http://${at}`,
        S3_BUCKET: 'quire',
        S3_ACCESS_KEY: 'quire',
        S3_SECRET_KEY: 'hunter44',
      }),
    ],
  ] as const)
    it(`names ${name} in one line, waits, and ends with one sentence and no stack`, async () => {
      const at = `127.0.0.1:${String(await freePort())}`;
      const { child, said } = started({ START_WAIT_SECONDS: '1', ...variables(at) });
      const [code] = (await once(child, 'close')) as [number];
      expect(code).to.equal(1);
      const waiting = said.out.split('\n').filter((line) => line.includes('is waited for'));
      expect(waiting, said.out).to.have.length(1);
      expect(waiting[0]).to.contain(name).and.to.contain(at);
      const lines = said.err.trim().split('\n');
      expect(lines, said.err).to.have.length(2);
      expect(lines[0]).to.equal('Quire cannot start.');
      expect(lines[1]).to.contain(name).and.to.contain(at).and.to.contain('within 1 s');
      expect(said.out + said.err).not.to.contain('hunter44');
    });

  it('ends at once, and says so, where EventStoreDB refuses the password', async () => {
    const double = await startEsdbDouble();
    double.faults.refuseLogin = true;
    const url = `esdb://admin:hunter44@127.0.0.1:${String(double.port)}?tls=false`;
    const { child, said } = started({ START_WAIT_SECONDS: '60', EVENTSTORE_URL: url });
    const [code] = (await once(child, 'close')) as [number];
    expect(code).to.equal(1);
    expect(said.err).to.contain('refuses the user or the password in EVENTSTORE_URL');
    expect(said.out).not.to.contain('is waited for');
    expect(said.out + said.err).not.to.contain('hunter44');
    await double.close();
  });

  it('ends where a copy into the log was begun and has not ended', async () => {
    const double = await startEsdbDouble();
    await markCopy(double.connectionString, true);
    const { child, said } = started({ EVENTSTORE_URL: double.connectionString });
    const [code] = (await once(child, 'close')) as [number];
    expect(code).to.equal(1);
    expect(said.err).to.contain('A copy into EventStoreDB').and.to.contain('quire log copy');
    await double.close();
  });

  it('says what it waits for where a server takes the connection and never answers', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const env = { DATABASE_URL: `postgres://quire:hunter44@127.0.0.1:${String(port)}/quire` };
    const { child, said } = started({ START_WAIT_SECONDS: '120', ...env });
    while (!said.out.includes('PostgreSQL')) await once(child.stdout, 'data');
    expect(said.out).to.contain('is waited for, up to 120 s');
    child.kill('SIGKILL');
    await once(child, 'close');
    silent.close();
  });

  it('goes on once the server is there', async () => {
    const port = await freePort();
    const env = { EVENTSTORE_URL: `esdb://127.0.0.1:${String(port)}?tls=false` };
    const starting = startService(folder.path, env);
    const double = await startEsdbDouble({ port });
    const service = await starting;
    expect((await fetch(`${service.url}/health/ready`)).status).to.equal(200);
    await service.stop('SIGTERM');
    await double.close();
  });
});
