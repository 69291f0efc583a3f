import type { Document, DocumentPage, Line, Word } from './document.ts';
import { cleanText } from './plainText.ts';

/** Columns of a page at most: what is set in the smallest print does not make every line longer. */
const COLUMNS_MAX = 200;
/** Of the height of a line: a gap that is an empty line. */
const EMPTY_LINE = 1.6;

const median = (numbers: readonly number[]): number | undefined =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Points that a character takes on a page; undefined where no word has a place. */
function characterWidth(lines: readonly Line[]): number | undefined {
  const widths = lines.flatMap(({ words }) =>
    words.flatMap(({ text, box }) =>
      box === null || text.length === 0 ? [] : (box[2] - box[0]) / text.length,
    ),
  );
  return median(widths.filter((width) => width > 0));
}

interface Grid {
  /** Of the first column, points. */
  readonly left: number;
  /** Points. */
  readonly width: number;
}

const leftsOf = (lines: readonly Line[]): readonly number[] =>
  lines.flatMap(({ words }) => words.flatMap(({ box }) => (box === null ? [] : box[0])));

/** Of the height of a word: words that are nearer are a space apart, whatever the widths of their letters. */
const WORD_GAP = 0.6;

/** Each word at the column of its left edge, or after the one before. */
function lineText({ words, text }: Line, { left, width }: Grid): string {
  let line = '';
  let before: Word['box'] = null;
  for (const word of words) {
    const { box } = word;
    if (box === null) return cleanText(text);
    const column = Math.min(COLUMNS_MAX, Math.max(0, Math.round((box[0] - left) / width)));
    const isNext = before !== null && box[0] - before[2] < WORD_GAP * (box[3] - box[1]);
    const gap = isNext ? 1 : Math.max(line === '' ? 0 : 2, column - line.length);
    line += ' '.repeat(gap) + cleanText(word.text).replaceAll('\n', ' ');
    before = box;
  }
  return line.trimEnd();
}

function pageText({ lines }: DocumentPage): string {
  const width = characterWidth(lines);
  if (width === undefined) return lines.map(({ text }) => cleanText(text)).join('\n');
  const grid = { left: leftsOf(lines).reduce((least, x) => Math.min(least, x), Infinity), width };
  let text = '';
  let bottom: number | undefined;
  for (const line of [...lines].sort((a, b) => (a.box?.[1] ?? 0) - (b.box?.[1] ?? 0))) {
    const [, top, , end] = line.box ?? [0, 0, 0, 0];
    const isApart = bottom !== undefined && top - bottom > EMPTY_LINE * (end - top) - (end - top);
    text += `${text === '' ? '' : isApart ? '\n\n' : '\n'}${lineText(line, grid)}`;
    bottom = line.box === null ? undefined : end;
  }
  return text;
}

/**
 * A document as its pages are set: columns and rows kept apart by spaces, for models that read a grid better than
 * Markdown. Pages without places have their lines as they read. Marks between pages are those of the markdown.
 */
export function layoutTextOf({ pages }: Document): string {
  const parts = pages.map((page) => {
    const text = pageText(page);
    return pages.length > 1 ? `<!-- page ${page.page} -->\n\n${text}`.trimEnd() : text;
  });
  return `${parts.join('\n\n').trimEnd()}\n`;
}
