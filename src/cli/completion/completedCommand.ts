import type { Command } from 'commander';

/** What of a command a shell completes. */
export interface CompletedCommand {
  /** From the program on: `['keys', 'create']`; of the program itself it is empty. */
  readonly path: readonly string[];
  readonly description: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
}

export interface CompletedOption {
  /** `--role`, `-h`. */
  readonly names: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  /** Values that it takes; empty: any, such as a file. */
  readonly choices: readonly string[];
}

const HELP: CompletedOption = {
  names: ['-h', '--help'],
  description: 'display help for command',
  takesValue: false,
  choices: [],
};

const optionsOf = (command: Command): readonly CompletedOption[] => [
  ...command.options
    .filter(({ hidden }) => !hidden)
    .map(({ short, long, description, required, optional, argChoices = [] }) => ({
      names: [short, long].filter((name) => name !== undefined),
      description,
      takesValue: required || optional,
      choices: argChoices,
    })),
  HELP,
];

/** The command and all below it, from the tree that also parses what is typed. */
export const completedCommands = (
  command: Command,
  path: readonly string[] = [],
): readonly CompletedCommand[] => [
  {
    path,
    description: command.description(),
    commands: command.commands.map((one) => ({ name: one.name(), description: one.description() })),
    options: optionsOf(command),
  },
  ...command.commands.flatMap((one) => completedCommands(one, [...path, one.name()])),
];
