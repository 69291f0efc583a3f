/** The longest line of the generated Python. */
const WIDTH = 100;

export const INDENT = '    ';

/** `getBalance` → `get_balance`. */
export const snake = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();

/** `insufficient_credits` and `extract` → `InsufficientCredits` and `Extract`. */
export const pascal = (name: string): string =>
  name.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Words of a sentence in lines of at most `width` characters. */
const wrapped = (text: string, width: number): readonly string[] => {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
};

/** Paragraphs as a docstring, indented; with a blank line between them. */
export const docstring = (paragraphs: readonly string[], indent: string): string => {
  const said = paragraphs
    .filter((text) => text !== '')
    .map((text) => text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").replace(/"$/, '" '));
  const [only = ''] = said;
  if (said.length === 1 && indent.length + only.length + 6 <= WIDTH) return `${indent}"""${only}"""\n`;
  // Three quotes stand before the first line.
  const blocks = said.map((text) => wrapped(text, WIDTH - indent.length - 3).join(`\n${indent}`));
  return `${indent}"""${blocks.join(`\n\n${indent}`)}\n${indent}"""\n`;
};

const stepOf = (token: string): number => Number('([{'.includes(token)) - Number(')]}'.includes(token));

/** Where a line has its first bracket, the commas in it, and its end; what is in strings is none. */
const marksIn = (line: string): readonly number[] => {
  const marks: number[] = [];
  let depth = 0;
  for (const { 0: token, index } of line.matchAll(/"(?:\\.|[^"\\])*"|[()[\]{},]/g)) {
    const step = stepOf(token);
    if (token.length === 1 && Math.max(depth, depth + step) === 1) marks.push(index);
    depth += step;
    if (depth === 0 && step < 0) break;
  }
  return marks;
};

/** A line of code, in several where it is too long: each part of its first bracket on one of its own. */
export const fitted = (line: string): string => {
  const marks = line.length > WIDTH ? marksIn(line) : [];
  const [first, last] = [marks[0], marks.at(-1)];
  if (first === undefined || last === undefined) return `${line}\n`;
  const indent = /^ */.exec(line)?.[0] ?? '';
  const parts = marks.slice(1).map((end, at) => line.slice((marks[at] ?? 0) + 1, end).trim());
  const comma = line[first] === '[' && parts.length === 1 ? '' : ',';
  const inner = parts.map((part) => fitted(`${indent}${INDENT}${part}${comma}`)).join('');
  return `${line.slice(0, first + 1)}\n${inner}${indent}${line.slice(last)}\n`;
};
