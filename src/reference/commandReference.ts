import type { Command } from 'commander';
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
    'Generated from the commands by `npm run docs:generate`. In the checkout, run it as `npx ' +
      'quire`. It takes its configuration from the environment, as the service does. Data goes ' +
      'to stdout, progress and messages to stderr. Exit codes: 0 done, 1 failed or something ' +
      'was found, 2 wrong usage, 130 ended by Ctrl-C.',
    '',
    ...sectionsOf(quireProgram(), 'quire'),
  ].join('\n');
