import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../support/quireCommand.ts';
import { startService, type ServiceProcess } from '../support/serviceProcess.ts';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { NODE_OPTIONS } from '../support/program.ts';

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

describe('the command line', () => {
  let folder: TempFolder;
  let dataDir: string;
  let service: ServiceProcess;

  before(async () => {
    folder = tempFolder();
    // Too long for a socket, so that the one in the temporary folder is used.
    dataDir = join(folder.path, 'a'.repeat(100));
    service = await startService(dataDir);
  });
  after(async () => {
    await service.stop('SIGKILL');
    folder.remove();
  });

  const quire = async (...args: readonly string[]): Promise<Ran> => {
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(process.execPath, [...NODE_OPTIONS, resolve('bin/quire.js'), ...args], {
      env: { PATH, HOME, DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, out, err };
  };
  const lines = ({ out }: Ran) =>
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('explains itself, and ends with 2 when it is used wrongly', async () => {
    const help = await quire('--help');
    expect(help.code).to.equal(0);
    for (const command of ['serve', 'projections', 'events', 'fx']) expect(help.out).to.contain(command);
    expect((await quire('projections', 'explode')).code).to.equal(2);
    expect((await quire('events', 'export', '--from', 'soon')).code).to.equal(2);
    const unknown = await quire('projections', 'rebuild', 'nope');
    expect(unknown.code).to.equal(2);
    expect(unknown.err).to.contain('nope').and.contain('balances');
  });

  it('says in a sentence that the server of the log is away', async () => {
    const env = { DATA_DIR: join(folder.path, 'other'), EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' };
    const { code, err } = await runCommand(env, 'events', 'export');
    expect(code).to.equal(1);
    expect(err)
      .to.match(/^EventStoreDB cannot be read: /)
      .and.not.match(/^ +at /m);
  });

  it('asks the running service, imports rates, and reads the log beside it', async () => {
    expect(statSync(join(dataDir, 'operator.json')).mode & 0o777).to.equal(0o600);
    const file = resolve('test/fixtures/ecb/history.csv');
    expect(lines(await quire('fx', 'import', file, '--json'))[0]).to.include({ added: 2, unchanged: 0 });
    expect((await quire('fx', 'import', file)).out).to.contain('0 new, 2 unchanged');
    const other = folder.file('other.csv', 'Date,USD\n2026-02-02,1.2\n');
    const conflict = await quire('fx', 'import', other);
    expect(conflict.code).to.equal(1);
    expect(conflict.err).to.contain('2026-02-02 USD: 1.1 is known, the file says 1.2');

    const exported = lines(await quire('events', 'export', '--type', 'FxRatesPublished'));
    expect(exported.map(({ stream }) => stream)).to.deep.equal(['fxRates', 'fxRates']);
    expect(exported[0]?.['metadata']).to.include.keys('hash', 'prev_hash');
    expect(lines(await quire('events', 'replay', 'fxRates', '--json')).at(-1)?.['state']).to.deep.equal({
      days: 2,
      first: '2026-01-30',
      last: '2026-02-02',
    });
    expect((await quire('events', 'replay', 'account-nobody')).code).to.equal(1);
  });

  it('rebuilds read models in the running service, and by itself after kill -9', async () => {
    const rebuilt = await quire('projections', 'rebuild', 'balances');
    expect(rebuilt.code, rebuilt.err).to.equal(0);
    expect(rebuilt.out).to.contain('the same counts and sums');
    await service.stop('SIGKILL');
    const [statuses] = lines(await quire('projections', 'status', '--json')) as unknown as [
      readonly { name: string; lag_events: number }[],
    ];
    expect(statuses.find(({ name }) => name === 'balances')?.lag_events).to.equal(0);
    const alone = await quire('projections', 'rebuild', 'balances', '--json');
    expect(alone.code, alone.err).to.equal(0);
    service = await startService(dataDir);
    expect((await quire('projections', 'status')).code).to.equal(0);
  });
});
