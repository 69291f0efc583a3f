import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { bashCompletion, completedCommands, completionScript } from '../../src/cli/completion.ts';
import { quireProgram } from '../../src/cli/program.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';

const program = quireProgram();
const all = completedCommands(program);

/** What bash offers after these words, the last of which is being typed. */
const offered = (...words: readonly string[]): readonly string[] => {
  const script =
    `${bashCompletion(all)}\nCOMP_WORDS=(quire ${words.map((word) => `'${word}'`).join(' ')})\n` +
    `COMP_CWORD=${String(words.length)}\n_quire\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
  const folder = tempFolder();
  folder.file('invoice.pdf', '');
  const printed = execFileSync('bash', ['-c', script], { cwd: folder.path, encoding: 'utf8' });
  folder.remove();
  return printed.split('\n').filter((line) => line !== '');
};

describe('completion', () => {
  it('knows every command and option that the program has', () => {
    expect(all.map(({ path }) => path.join(' '))).to.include.members(['', 'serve', 'keys', 'keys create']);
    const create = all.find(({ path }) => path.join(' ') === 'keys create');
    expect(create?.options.find(({ names }) => names.includes('--role'))).to.deep.include({
      takesValue: true,
      choices: ['tenant', 'service', 'seller', 'admin'],
    });
  });

  it('offers commands, their options and the values of these in bash', () => {
    expect(offered('ke')).to.deep.equal(['keys']);
    expect(offered('keys', '')).to.include.members(['create', 'list', 'revoke', '--help']);
    expect(offered('keys', 'create', '--r')).to.deep.equal(['--role']);
    expect(offered('keys', 'create', '--role', 's')).to.deep.equal(['service', 'seller']);
    expect(offered('--vers')).to.deep.equal(['--version']);
  });

  it('offers files where a command or option takes them', () => {
    expect(offered('extract', 'inv')).to.deep.equal(['invoice.pdf']);
    expect(offered('extract', '--schema', 'inv')).to.deep.equal(['invoice.pdf']);
    expect(offered('extract', 'backup', '--mo')).to.deep.equal(['--mode']);
  });

  for (const shell of ['zsh', 'fish'] as const)
    it(`names each command and option for ${shell}`, () => {
      const script = completionScript(program, shell);
      for (const { path, options } of all) {
        if (path.length > 0) expect(script).to.contain(path.at(-1));
        for (const name of options.flatMap(({ names }) => names))
          expect(script).to.contain(
            shell === 'fish' ? name.replace(/^--/, '-l ').replace(/^-(?=\w$)/, '-s ') : name,
          );
      }
    });
});
