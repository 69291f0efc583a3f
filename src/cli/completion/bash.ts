import type { CompletedCommand } from './completedCommand.ts';

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
