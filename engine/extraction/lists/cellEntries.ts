import type { Word } from '../../document/document.ts';
import type { Finding } from '../finding.ts';

/** Marks that part the entries of one cell, the strongest first; a comma parts what nothing else does. */
const MARKS = [';', '•', '|', '/', ','] as const;
/** Entries of one cell that are read. */
const ENTRIES_MAX = 200;

/** The entries that a cell lists, each with its words: "EN, DE" are two. A value that is no text is one. */
export function entriesIn(finding: Finding, choices: readonly string[] = []): readonly Finding[] {
  if (choices.length > 0)
    return (typeof finding.value === 'string' ? finding.value : finding.text)
      .split(';')
      .map((value) => ({ ...finding, value }));
  if (typeof finding.value !== 'string' || finding.value !== finding.text) return [finding];
  const { text } = finding;
  const mark = MARKS.find((one) => (one === '/' ? text.includes(' / ') : text.includes(one)));
  if (mark === undefined) return [finding];
  const parted = splitWords(finding.words, mark);
  return text
    .split(mark === '/' ? ' / ' : mark)
    .map((part, i) => ({ part: part.trim(), words: parted[i] }))
    .filter(({ part }) => part !== '')
    .slice(0, ENTRIES_MAX)
    .map(({ part, words }) => ({ ...finding, value: part, text: part, words: words ?? finding.words }));
}

/** The words between words that a mark ends, or that are the mark. */
function splitWords(words: readonly Word[], mark: string): readonly (readonly Word[])[] {
  const parts: Word[][] = [[]];
  for (const word of words) {
    if (word.text !== mark) parts.at(-1)?.push(word);
    if (word.text.endsWith(mark)) parts.push([]);
  }
  return parts;
}
