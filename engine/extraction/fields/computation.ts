import { lexicon } from '../words/lexicon.ts';

/** What a description has worked out of the rows of a table, in place of a value that stands on the page. */
export interface Computation {
  /** How many rows, the sum or the average of a column, or for each row a formula of its columns. */
  readonly by: 'count' | 'sum' | 'average' | 'formula';
  /** The part of the description that says of what. */
  readonly text: string;
}

const { sums, averages, counts, columns, rows, formulas, times, parts, printed } = lexicon.computed;

const whole = (pattern: string, flags = 'iu'): RegExp => new RegExp(`(?<!\\p{L})${pattern}(?!\\p{L})`, flags);
const either = (...patterns: readonly string[]): string => `(?:${patterns.join('|')})`;

const PRINTED = whole(printed.pattern);
/** What a figure is worked out of stands near it. */
const NEAR = '[^.;]{0,80}?';
const COUNT = whole(`${counts.pattern}\\s(?:\\p{L}+\\s){0,3}?${rows.pattern}`);
const SUM = whole(`${sums.pattern}${NEAR}${either(columns.pattern, rows.pattern)}`);
const AVERAGE = whole(`${averages.pattern}${NEAR}${either(columns.pattern, rows.pattern)}`);
const FORMULA = whole(formulas.pattern);
const OPERATOR = whole(either(times.pattern, parts.pattern));

/** The computation that a description asks for; undefined where it asks for what is printed. */
export function computationIn(description: string, inRow: boolean): Computation | undefined {
  if (PRINTED.test(description)) return undefined;
  if (inRow) return formulaIn(description);
  const found = (
    [
      ['count', COUNT],
      ['sum', SUM],
      ['average', AVERAGE],
    ] as const
  ).find(([, shape]) => shape.test(description));
  return found && { by: found[0], text: description };
}

function formulaIn(description: string): Computation | undefined {
  const match = FORMULA.exec(description);
  if (match !== null) return { by: 'formula', text: description.slice(match.index + match[0].length) };
  return OPERATOR.test(description) ? { by: 'formula', text: description } : undefined;
}
