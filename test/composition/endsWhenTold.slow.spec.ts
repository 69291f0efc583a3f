import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { lifeOf } from '../../engine/kernel/tempFolders.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { until } from '../../engine/test/support/until.ts';
import { freePort } from '../support/freePort.ts';
import { MAIN } from '../support/program.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  readonly output: () => string;
  /** Resolves when it has ended, and its output has come to its end: `code or signal`. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

describe('a service that is told to end', () => {
  const folder = tempFolder();
  const running = new Set<ChildProcess>();
  afterEach(() => {
    for (const child of running) child.kill('SIGKILL');
    running.clear();
  });
  after(() => folder.remove());
  const dataDir = join(folder.path, 'data');

  const started = async (
    [command = '', ...args]: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<Started> => {
    const port = await freePort();
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(command, args, {
      cwd: ROOT,
      detached: true,
      env: { PATH, HOME, DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'warn', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
    return { child, url: `http://127.0.0.1:${String(port)}`, output: () => text, ended };
  };
  const answers = (url: string): Promise<boolean> =>
    fetch(`${url}/health`).then(
      ({ status }) => status === 200,
      () => false,
    );
  const owner = (): number => Number.parseInt(readFileSync(join(dataDir, 'owner.pid'), 'utf8'), 10);
  const expectOrder = ({ output }: Started): void => {
    expect(output()).to.contain('finishing running work');
    for (const name of ['owner.lock', 'operator.json', 'operator.sock'])
      expect(existsSync(join(dataDir, name)), name).to.equal(false);
  };

  it('ends in order from its first healthy answer on', async () => {
    const service = await started([process.execPath, MAIN]);
    await until(() => answers(service.url), 1);
    service.child.kill('SIGTERM');
    expect(await service.ended, service.output()).to.equal(0);
    expectOrder(service);
  });

  it('ends in order while it starts', async () => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      const service = await started([process.execPath, MAIN]);
      await until(() => existsSync(join(dataDir, 'owner.lock')), 1);
      service.child.kill(signal);
      expect(await service.ended, service.output()).to.equal(0);
      expectOrder(service);
      expect(service.output()).not.to.contain('listens on');
    }
  });

  it('waits no longer for a server that is away', async () => {
    const away = `postgres://nobody@127.0.0.1:${String(await freePort())}/none`;
    const service = await started([process.execPath, MAIN], { DATABASE_URL: away });
    await until(() => service.output().includes('is waited for'));
    service.child.kill('SIGTERM');
    expect(await service.ended, service.output()).to.equal(0);
    expectOrder(service);
  });

  it('takes a signal that comes twice at once, as from a terminal and from npm, for one', async () => {
    const service = await started([process.execPath, MAIN]);
    await until(() => answers(service.url));
    service.child.kill('SIGINT');
    service.child.kill('SIGTERM');
    expect(await service.ended, service.output()).to.equal(0);
    expectOrder(service);
  });

  for (const [how, tell] of Object.entries<(npm: ChildProcess) => void>({
    'npm alone': ({ pid = 0 }) => process.kill(pid, 'SIGTERM'),
    'the whole group': ({ pid = 0 }) => process.kill(-pid, 'SIGTERM'),
    'npm, which is killed': ({ pid = 0 }) => process.kill(pid, 'SIGKILL'),
  }))
    it(`ends in order below npm where the signal goes to ${how}`, async () => {
      const service = await started(['npm', 'start']);
      await until(() => answers(service.url));
      const pid = owner();
      tell(service.child);
      await service.ended;
      await until(() => lifeOf(pid) === 'gone');
      expectOrder(service);
      expect(await answers(service.url)).to.equal(false);
    });
});
