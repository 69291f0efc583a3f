import { escapeMarks, escapeStart, isSafeLink } from '../../document/inline.ts';

/** How a run of text looks. */
export interface Look {
  readonly bold: boolean;
  readonly italic: boolean;
  readonly strike: boolean;
  /** Where it links to; null where nowhere, or where it may not. */
  readonly link: string | null;
}

/** Text of one look. A note's mark has no text of its own, but the number of the note. */
export interface Run extends Look {
  readonly text: string;
  readonly note: number | null;
}

export const PLAIN: Look = { bold: false, italic: false, strike: false, link: null };

/** A text as it reads, and with inline marks. */
export interface Inline {
  readonly text: string;
  readonly markdown: string;
}

export const plainRun = (text: string): Run => ({ ...PLAIN, text, note: null });
export const noteRun = (note: number): Run => ({ ...PLAIN, text: '', note });

/**
 * Runs as one inline text. Emphasis stands on whole words only, without the white space around it, and
 * runs of one look are one, however the file had cut them.
 */
export function inlineOfRuns(runs: readonly Run[]): Inline {
  const joined = joinRuns(trimRuns(runs));
  return { text: textOfRuns(joined).trim(), markdown: markdownOfRuns(joined).trim() };
}

/** The inline text of a place that is emphasised by itself, a heading or a header cell: its marks go. */
export function inlineOfTitle(runs: readonly Run[]): Inline {
  const seen = runs.filter(({ text }) => text.trim() !== '');
  const bold = seen.every((run) => run.bold);
  const italic = seen.every((run) => run.italic);
  return inlineOfRuns(
    runs.map((run) => ({ ...run, bold: run.bold && !bold, italic: run.italic && !italic })),
  );
}

/** Inline text of a place that begins a line, where a mark would begin a block. */
export function inlineOfParagraph(runs: readonly Run[]): Inline {
  const { text, markdown } = inlineOfRuns(runs);
  return { text, markdown: escapeStart(markdown) };
}

export const textOfRuns = (runs: readonly Run[]): string =>
  runs.map(({ text, note }) => (note === null ? text : `[${note}]`)).join('');

/** Longer ones are no addresses, and a short file can point to one from many places. */
const LINK_CHARACTERS_MAX = 2048;

/** A destination as markdown can hold it; null where links may not go there. */
export function linkOf(destination: string): string | null {
  const escaped = destination
    .trim()
    .replace(
      /[\s<>()[\]\\`*|]/g,
      (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    );
  return escaped.length <= LINK_CHARACTERS_MAX && isSafeLink(escaped) ? escaped : null;
}

/** Where the instruction of a field links to: `HYPERLINK "https://…"`. */
export const linkOfField = (instruction: string): string | null => {
  const target = /^\s*HYPERLINK\s+"([^"]+)"/i.exec(instruction)?.[1];
  return target === undefined ? null : linkOf(target);
};

function trimRuns(runs: readonly Run[]): readonly Run[] {
  const kept = runs.filter(({ text, note }) => text !== '' || note !== null);
  while (isBlank(kept[0])) kept.shift();
  while (isBlank(kept[kept.length - 1])) kept.pop();
  return kept;
}

const isBlank = (run: Run | undefined): boolean =>
  run !== undefined && run.note === null && run.text.trim() === '';

/** Whether two runs could be one. */
export const sameLook = (a: Look, b: Look): boolean =>
  a.bold === b.bold && a.italic === b.italic && a.strike === b.strike && a.link === b.link;

/** White space takes the look of what is before it, so that it parts no emphasis. */
function joinRuns(runs: readonly Run[]): readonly Run[] {
  const joined: Run[] = [];
  for (const run of runs) {
    const last = joined.pop();
    if (last === undefined) joined.push(run);
    else if (last.note === null && run.note === null && (isBlank(run) || sameLook(last, run)))
      joined.push({ ...last, text: last.text + run.text });
    else joined.push(last, run);
  }
  return joined;
}

function markdownOfRuns(source: readonly Run[]): string {
  const runs = wholeWords(source);
  let markdown = '';
  let index = 0;
  while (index < runs.length) {
    const link = runs[index]?.link ?? null;
    let end = index + 1;
    while (link !== null && runs[end]?.link === link) end += 1;
    const label = runs.slice(index, end).map((run, i) => emphasised(run, runs, index + i));
    markdown += link === null ? label.join('') : linkMarkdown(label.join(''), link);
    index = end;
  }
  return markdown;
}

function linkMarkdown(label: string, link: string): string {
  const [before, inner, after] = spaceAround(label);
  return inner === '' ? label : `${before}[${inner}](${link})${after}`;
}

function emphasised(run: Run, runs: readonly Run[], index: number): string {
  if (run.note !== null) return `[^${run.note}]`;
  const [before, inner, after] = spaceAround(run.text);
  const text = spaced(escaped(inner, run.link !== null));
  const marks = inner !== '' && standsAlone(run, runs, index) ? marksOf(run) : [];
  return `${spaced(before)}${lineByLine(text, marks)}${spaced(after)}`;
}

/** White space before and after what is seen. Without a pattern, for those go back and forth in long space. */
function spaceAround(text: string): readonly [string, string, string] {
  const inner = text.trim();
  if (inner === '') return [text, '', ''];
  const start = text.length - text.trimStart().length;
  return [text.slice(0, start), inner, text.slice(start + inner.length)];
}

/** Emphasis ends with each line, for a line may become a block of its own. */
function lineByLine(text: string, marks: readonly string[]): string {
  const opens = marks.join('');
  const closes = [...marks].reverse().join('');
  const lines = text.split('\n').map((line) => line.trim());
  return lines.map((line) => (line === '' ? '' : `${opens}${line}${closes}`)).join('\n');
}

const spaced = (text: string): string => text.replace(/\t+/g, ' ');

const marksOf = ({ bold, italic, strike }: Run): readonly string[] => [
  ...(strike ? ['~~'] : []),
  ...(bold ? ['**'] : []),
  ...(italic ? ['*'] : []),
];

/** Runs without the emphasis that has no word, or begins or ends inside one. */
const wholeWords = (runs: readonly Run[]): readonly Run[] =>
  runs.map((run, index) => {
    const isWhole =
      /[\p{L}\p{N}]/u.test(run.text) &&
      !isLetter(/^\s/.test(run.text) ? '' : lastSign(runs[index - 1]?.text ?? '')) &&
      !isLetter(/\s$/.test(run.text) ? '' : firstSign(runs[index + 1]?.text ?? ''));
    return isWhole ? run : { ...run, bold: false, italic: false, strike: false };
  });

const isLetter = (sign: string): boolean => /[\p{L}\p{N}]/u.test(sign);

/** Whether no other run's marks touch the run's own, for together they would be others. */
function standsAlone(run: Run, runs: readonly Run[], index: number): boolean {
  const touches = (other: Run | undefined, sign: string): boolean =>
    other !== undefined && isMarked(other) && /\S/.test(sign);
  const before = runs[index - 1];
  const after = runs[index + 1];
  return (
    (/^\s/.test(run.text) || !touches(before, lastSign(before?.text ?? ''))) &&
    (/\s$/.test(run.text) || !touches(after, firstSign(after?.text ?? '')))
  );
}

const isMarked = ({ bold, italic, strike }: Run): boolean => bold || italic || strike;
const firstSign = (text: string): string => /^./su.exec(text)?.[0] ?? '';
const lastSign = (text: string): string => /.$/su.exec(text)?.[0] ?? '';

const escaped = (text: string, inLabel: boolean): string =>
  inLabel ? escapeMarks(text).replace(/(?<!\\)[[\]]/g, '\\$&') : escapeMarks(text);
