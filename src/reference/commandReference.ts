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
    'Made from the commands by `npm run docs:generate`; in the checkout it is `npx quire`. Configuration comes from the environment, the same as the service has. Data goes to stdout, progress and messages to stderr. Exit codes: 0 done, 1 failed or something was found, 2 wrong usage, 130 ended by Ctrl-C.',
    '',
    ...sectionsOf(quireProgram(), 'quire'),
  ].join('\n');
