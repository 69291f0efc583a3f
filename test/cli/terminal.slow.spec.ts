import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { tempFolder, type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { VERSION } from '../../src/version.ts';
import { runCommand } from '../support/quireCommand.ts';
import { NODE_OPTIONS } from '../support/program.ts';

const COLOUR = '\u001b[';

describe('the command line', () => {
  let folder: TempFolder;
  let env: Readonly<Record<string, string>>;
  before(() => {
    folder = tempFolder();
    env = { DATA_DIR: join(folder.path, 'data') };
  });
  after(() => folder.remove());

  /** What it writes on a terminal, both streams together. */
  const onTerminal = (command: string, more: Readonly<Record<string, string>> = {}): string => {
    const { PATH = '', HOME = '' } = process.env;
    const quire = [process.execPath, ...NODE_OPTIONS, resolve('bin/quire.js'), command].join(' ');
    return execFileSync('script', ['-qc', quire, '/dev/null'], {
      env: { PATH, HOME, TERM: 'xterm', ...env, ...more },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  };

  it('has a version', async () => {
    for (const flag of ['--version', '-V'])
      expect(await runCommand(env, flag)).to.deep.equal({ code: 0, out: `${VERSION}\n`, err: '' });
  });

  it('has colours on a terminal, and none by NO_COLOR, by --no-color or in a pipe', async () => {
    expect(onTerminal('--help')).to.contain(`${COLOUR}1mUsage:`);
    expect(onTerminal('nothing')).to.contain(`${COLOUR}31merror: unknown command`);
    expect(onTerminal('doctor')).to.contain(`${COLOUR}32mok${COLOUR}39m`);
    for (const plain of [
      onTerminal('--help', { NO_COLOR: '1' }),
      onTerminal('--help --no-color'),
      onTerminal('doctor --no-color'),
      onTerminal('nothing', { TERM: 'dumb' }),
      (await runCommand(env, '--help')).out,
      (await runCommand(env, 'nothing')).err,
    ])
      expect(plain).to.not.contain(COLOUR);
  });

  it('refuses a type or category of events that there is not, and says which there are', async () => {
    const wrong = async (...args: readonly string[]) => {
      const { code, err } = await runCommand(env, 'events', 'export', ...args);
      expect(code, err).to.equal(2);
      return err;
    };
    expect(await wrong('--category', 'acount')).to.contain('account, payment, priceList');
    expect(await wrong('--type', 'burned')).to.contain('CreditsBurned');
    expect(await wrong('--type', 'Nothing')).to.contain('docs/reference/events.md');
  });

  it('prints a script for each shell, and no other', async () => {
    for (const shell of ['bash', 'zsh', 'fish'])
      expect((await runCommand(env, 'completion', shell)).out).to.contain('Completion of quire for');
    expect((await runCommand(env, 'completion', 'tcsh')).code).to.equal(2);
  });
});
