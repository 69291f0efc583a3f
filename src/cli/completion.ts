import { Argument, type Command } from 'commander';
import { command, type Output } from './terminal.ts';

const words = ({ commands, options }: CompletedCommand): string =>
  [...commands.map(({ name }) => name), ...options.flatMap(({ names }) => names)].join(' ');

/** Options whose value is completed, as patterns of what stands before the cursor. */
const valueCases = ({ path, options }: CompletedCommand): readonly string[] =>
  options
    .filter(({ takesValue }) => takesValue)
    .map(({ names, choices }) => {
      const patterns = names.map((name) => `'${path.join(' ')}|${name}'`).join(' | ');
      return choices.length === 0
        ? `    ${patterns}) COMPREPLY=($(compgen -f -- "$current")); return ;;`
        : `    ${patterns}) COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$current")); return ;;`;
    });

const wordCase = (one: CompletedCommand): string =>
  `    '${one.path.join(' ')}') COMPREPLY=($(compgen -W '${words(one)}' -- "$current")) ;;`;

/** A script for bash: the commands named so far decide what may follow. */
export const bashCompletion = (all: readonly CompletedCommand[]): string =>
  `# Completion of quire for bash: eval "$(quire completion bash)"
_quire() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" path='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path \${word}" in
${all
  .filter(({ path }) => path.length > 0)
  .map(({ path }) => `      ' ${path.join(' ')}' | '${path.slice(0, -1).join(' ')} ${path.at(-1) ?? ''}')`)
  .map((pattern) => `${pattern} path="\${path:+$path }$word" ;;`)
  .join('\n')}
    esac
  done
  case "$path|$before" in
${all.flatMap(valueCases).join('\n')}
  esac
  case "$path" in
${all.map(wordCase).join('\n')}
  esac
  if [ \${#COMPREPLY[@]} -eq 0 ] && [ "\${current#-}" = "$current" ]; then
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _quire quire
`;

/** What of a command a shell completes. */
interface CompletedCommand {
  /** From the program on: `['keys', 'create']`; of the program itself it is empty. */
  readonly path: readonly string[];
  readonly description: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
}

interface CompletedOption {
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
const fishCompletion = (all: readonly CompletedCommand[]): string =>
  `# Completion of quire for fish: quire completion fish | source\n${all.flatMap(linesOf).join('\n')}\n`;

/** Within single quotes, and where a colon or bracket would end what is described. */
const zshQuoted = (text: string): string =>
  text
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "'\\''")
    .replaceAll(/[:[\]]/g, (char) => `\\${char}`);

const functionName = (path: readonly string[]): string => ['_quire', ...path].join('_').replaceAll('-', '_');

const argument = ({ names, description, takesValue, choices }: CompletedOption): readonly string[] => {
  const values = choices.length === 0 ? ':value:_files' : `:value:(${choices.join(' ')})`;
  return names.map((name) => `'${name}[${zshQuoted(description)}]${takesValue ? values : ''}'`);
};

const functionOf = ({ path, commands, options }: CompletedCommand): string => {
  const flags = options.flatMap(argument).map((flag) => `    ${flag} \\\n`);
  const described = commands.map(
    ({ name, description }) => `    '${zshQuoted(name)}:${zshQuoted(description)}'\n`,
  );
  const below = commands.map(({ name }) => `      ${name}) ${functionName([...path, name])} ;;\n`);
  const rest =
    commands.length === 0
      ? `    '*:file:_files'\n`
      : `    '1: :->command' '*:: :->arguments'\n  case $state in\n    command) _describe command commands ;;\n` +
        `    arguments) case $words[1] in\n${below.join('')}    esac ;;\n  esac\n`;
  const list = commands.length === 0 ? '' : `  local -a commands=(\n${described.join('')}  )\n`;
  return `${functionName(path)}() {\n  local state line\n${list}  _arguments -C \\\n${flags.join('')}${rest}}\n`;
};

/** A script for zsh: a function for each command. */
const zshCompletion = (all: readonly CompletedCommand[]): string =>
  `#compdef quire\n# Completion of quire for zsh: eval "$(quire completion zsh)"\n${all
    .map(functionOf)
    .join('')}compdef _quire quire\n`;

const SCRIPTS = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
} as const satisfies Readonly<Record<string, (all: readonly CompletedCommand[]) => string>>;

type Shell = keyof typeof SCRIPTS;

/** The script with which a shell completes every command and option of the program. */
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
