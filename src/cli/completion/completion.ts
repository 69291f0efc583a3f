import { Argument, type Command } from 'commander';
import { command, type Output } from '../output.ts';
import { bashCompletion } from './bash.ts';
import { completedCommands, type CompletedCommand } from './completedCommand.ts';
import { fishCompletion } from './fish.ts';
import { zshCompletion } from './zsh.ts';

const SCRIPTS = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
} as const satisfies Readonly<Record<string, (all: readonly CompletedCommand[]) => string>>;

type Shell = keyof typeof SCRIPTS;

/** What a shell reads to complete every command and option of the program. */
export const completionScript = (program: Command, shell: Shell): string =>
  SCRIPTS[shell](completedCommands(program));

/** `quire completion`. */
export const addCompletion = (program: Command): void => {
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      '\nbash, in ~/.bashrc: eval "$(quire completion bash)"\nzsh, in ~/.zshrc after compinit: ' +
        'eval "$(quire completion zsh)"\nfish: quire completion fish > ' +
        '~/.config/fish/completions/quire.fish',
    )
    .action(command(({ out }: Output, shell: Shell) => out(completionScript(program, shell))));
};
