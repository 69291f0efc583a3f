import { escapeMarks, isSafeLink } from '../document/inline.ts';
import type { PlacedWord } from './content.ts';
import { emphasised, runOn, type BaseLook, type Emphasised, type Token } from './emphasis.ts';
import { inLogicalOrder, readsRightToLeft } from './direction.ts';

/** Words closer than this share of the font's height are one word. */
const GLUED = 0.12;
/** What may part a word at the end of a line. */
const HYPHENS = ['-', '\u00ad', '\u2010'];
/** Scripts that put no space between words. */
const UNSPACED = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]$/u;

export interface Inline extends Emphasised {
  readonly text: string;
}

/** How a line is written: what its text looks like by itself, and how many characters of it mark an item. */
interface Written {
  readonly base: BaseLook;
  readonly plain: number;
}

/** Nothing stands out of it. */
export const LOUD: BaseLook = { bold: true, italic: true };

/** A line's words as they read, with links and emphasis as inline markdown. */
export function lineText(
  words: readonly PlacedWord[],
  { base, plain }: Written = { base: LOUD, plain: 0 },
): Inline {
  const tokens = tokensOf(inLogicalOrder(words));
  const { markdown, opens, closes } = emphasised(tokens, base, plain);
  return { text: tokens.map(({ text }) => text).join(' '), markdown, opens, closes };
}

function tokensOf(ordered: readonly PlacedWord[]): readonly Token[] {
  const tokens: { words: PlacedWord[]; text: string; markdown: string }[] = [];
  ordered.forEach((word, index) => {
    const [before, after] = [ordered[index - 1], ordered[index + 1]];
    const { text, markdown: marked } = withNote(word, markedWord(word, { before, after }));
    const last = tokens.at(-1);
    if (before !== undefined && last !== undefined && areGlued(before, word)) {
      last.words.push(word);
      last.text += text;
      last.markdown += marked;
    } else tokens.push({ words: [word], text, markdown: marked });
  });
  return tokens;
}

/** A word with the mark of its note, as the notes of other formats are marked. */
const withNote = ({ text, note }: PlacedWord, markdown: string): { text: string; markdown: string } =>
  note === undefined ? { text, markdown } : { text: `${text}[${note}]`, markdown: `${markdown}[^${note}]` };

/** A link is opened at its first word and closed at its last. */
function markedWord(
  { text, link }: PlacedWord,
  { before, after }: { readonly before: PlacedWord | undefined; readonly after: PlacedWord | undefined },
): string {
  const escaped = escapeMarks(text);
  if (link === null || !isSafeLink(link)) return escaped;
  const opens = before?.link === link ? '' : '[';
  const closes = after?.link === link ? '' : `](${link})`;
  return opens + escaped + closes;
}

function areGlued(a: PlacedWord, b: PlacedWord): boolean {
  if (readsRightToLeft(a.text) !== readsRightToLeft(b.text)) return false;
  if (b.isSpaced === true) return false;
  const gap = b.box[0] >= a.box[0] ? b.box[0] - a.box[2] : a.box[0] - b.box[2];
  return gap < GLUED * Math.min(a.size, b.size);
}

/** Lines of one paragraph as running text: hyphens at line ends closed, no space between ideographs. */
export function joinLines(lines: readonly Inline[], isCompound: (word: string) => boolean): Inline {
  return lines.reduce((all, line) => {
    const [before, after] = runOn(all, line);
    return {
      text: joinTwo(all.text, line.text, isCompound),
      markdown: joinTwo(before, after, isCompound),
      opens: all.opens,
      closes: line.closes,
    };
  });
}

function joinTwo(before: string, after: string, isCompound: (word: string) => boolean): string {
  if (HYPHENS.includes(before.slice(-1))) {
    const joined = joinHyphenated(before, after, isCompound);
    if (joined !== undefined) return joined;
  }
  if (UNSPACED.test(before.slice(-1)) && UNSPACED.test(after.slice(0, 1))) return before + after;
  return `${before} ${after}`;
}

/** The end of a word at a line's end goes with the beginning of the next line; undefined when neither is a word. */
function joinHyphenated(
  before: string,
  after: string,
  isCompound: (word: string) => boolean,
): string | undefined {
  const last = before.slice(before.lastIndexOf(' ') + 1);
  const letters = last.slice(0, -1).split(/\P{L}/u).at(-1) ?? '';
  const head = /[-\u00ad\u2010]$/.test(last) && letters.length > 1 ? letters : undefined;
  const [tail] = /^\p{Ll}+/u.exec(after) ?? [];
  if (head !== undefined && tail !== undefined)
    return isCompound(`${head}-${tail}`.toLowerCase()) ? before + after : before.slice(0, -1) + after;
  return /\p{L}[-\u2010]$/u.test(last) && /^\p{L}/u.test(after) ? before + after : undefined;
}
