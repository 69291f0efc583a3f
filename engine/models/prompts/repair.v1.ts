import type { ValidationError } from '../../ports/extractionEngine.ts';

/** Most errors that are shown; a model mends the pattern, not the list. */
const ERRORS_SHOWN = 30;

const lineOf = ({ path, message }: ValidationError): string =>
  `- ${path === '' ? '(top)' : path}: ${message}`;

/** Version 1 of the one turn that shows a model what was wrong with its answer. */
export const repairTurnV1 = (errors: readonly ValidationError[]): string => {
  if (errors.length === 0)
    return (
      'Your answer was not one complete JSON object. Answer again, with the JSON object alone, ' +
      'following the schema and the rules.'
    );
  const rest = errors.length - ERRORS_SHOWN;
  return [
    'Your answer does not follow the JSON Schema:',
    ...errors.slice(0, ERRORS_SHOWN).map(lineOf),
    ...(rest > 0 ? [`- and ${rest} more`] : []),
    'Correct these places from the document, keep the rest, and answer with the whole JSON ' +
      'object alone. A value that the document does not contain is still left out: do not ' +
      'invent one.',
  ].join('\n');
};
