import type { CompletedCommand, CompletedOption } from './completedCommand.ts';

const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** True where exactly these commands were typed, and none of those that may follow. */
const condition = ({ path, commands }: CompletedCommand): string => {
  const typed = path.map((name) => `__fish_seen_subcommand_from ${name}`);
  const open =
    commands.length === 0
      ? []
      : [`not __fish_seen_subcommand_from ${commands.map(({ name }) => name).join(' ')}`];
  const all = [...typed, ...open].join('; and ');
  return all === '' ? '' : ` -n ${fishQuoted(all)}`;
};

const optionText = ({ names, description, takesValue, choices }: CompletedOption): string => {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const values = choices.length === 0 ? ' -rF' : ` -xa ${fishQuoted(choices.join(' '))}`;
  return `${flags.join(' ')}${takesValue ? values : ''} -d ${fishQuoted(description)}`;
};

const linesOf = (one: CompletedCommand): readonly string[] => [
  ...one.commands.map(
    ({ name, description }) =>
      `complete -c quire -f${condition(one)} -a ${fishQuoted(name)} -d ${fishQuoted(description)}`,
  ),
  ...one.options.map((option) => `complete -c quire${condition(one)} ${optionText(option)}`),
];

/** A script for fish. */
export const fishCompletion = (all: readonly CompletedCommand[]): string =>
  `# Completion of quire for fish: quire completion fish | source\n${all.flatMap(linesOf).join('\n')}\n`;
