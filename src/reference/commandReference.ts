import type { Command } from 'commander';
import { EXIT_MEANINGS } from '../cli/terminal.ts';
import { quireProgram } from '../cli/program.ts';

const HELP_COLUMNS = 100;

const sectionsOf = (command: Command, path: string): readonly string[] => {
  command.configureHelp({ helpWidth: HELP_COLUMNS });
  const own = [`## \`${path}\``, '', '```text', command.helpInformation().trimEnd(), '```', ''];
  const parts = command.commands.filter((one) => one.name() !== 'help');
  return [...own, ...parts.flatMap((one) => sectionsOf(one, `${path} ${one.name()}`))];
};

/** Every command and option, as `--help` prints them. */
export const commandReference = (): string =>
  [
    '# The `quire` command',
    '',
    'Generated from the commands by `npm run generate`. In the checkout, run it as `npx --no-install ' +
      'quire`; `npm link` there makes it `quire` everywhere. Elsewhere plain `npx` would fetch a stranger’s ' +
      'package of that name. It takes its configuration from the environment, as the service does. Data goes ' +
      'to stdout, progress and messages to stderr. `quire completion bash`, `zsh` or `fish` prints a script that ' +
      'completes commands and options. On a terminal, headings and verdicts have colours, unless `NO_COLOR` is set ' +
      'or `--no-color` given.',
    '',
    '| exit code | meaning |',
    '|---|---|',
    ...EXIT_MEANINGS.map(([code, meaning]) => `| ${String(code)} | ${meaning} |`),
    '',
    ...sectionsOf(quireProgram(), 'quire'),
  ].join('\n');
