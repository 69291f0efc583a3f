import type { CompletedCommand, CompletedOption } from './completedCommand.ts';

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
export const zshCompletion = (all: readonly CompletedCommand[]): string =>
  `#compdef quire\n# Completion of quire for zsh: eval "$(quire completion zsh)"\n${all
    .map(functionOf)
    .join('')}compdef _quire quire\n`;
