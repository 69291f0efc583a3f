import { isAbove, isCurrencyAlone } from '../../extraction/ranking.ts';
import type { Layout, Segment } from '../../extraction/places/layout.ts';
import { labelWords } from '../../extraction/words/labelWords.ts';
import { remembered } from '../../kernel/once.ts';

export type Words = readonly string[];

/** What stands around a segment, in words as labels are compared by. */
export interface Surroundings {
  readonly left: Words;
  readonly right: Words;
  /** The nearest two texts above it in its column. */
  readonly above: Words;
  readonly higher: Words;
  /** The nearest line above that is a text by itself, at its left. */
  readonly section: Words;
}

const LABEL_CHARACTERS_MAX = 120;
const ROWS_ABOVE_MAX = 6;
const SECTION_ROWS_MAX = 15;
const SECTION_WORDS_MAX = 5;

/** The words of a label: numbers say nothing of what it names. */
export const wordsOfLabel = (text: string): Words =>
  labelWords(text.slice(-LABEL_CHARACTERS_MAX).replace(/\S+/g, (word) => (/\d/.test(word) ? ' ' : word)));

const hasWord = (text: string): boolean => /\p{L}{2,}/u.test(text);

/** Looks around segments; remembers what it saw, so make one for each document. */
export function surroundingsIn(layout: Layout): (segment: Segment) => Surroundings {
  const known = new Map<Segment, Surroundings>();
  return (segment) => remembered(known, segment, () => around(segment, layout));
}

function around(segment: Segment, layout: Layout): Surroundings {
  const row = layout.rows[segment.row]?.segments ?? [];
  const left = row
    .filter(({ index, text }) => index < segment.index && hasWord(text) && !isCurrencyAlone(text))
    .at(-1);
  const right = row.find(({ index }) => index > segment.index);
  const [above, higher] = textsAbove(segment, layout);
  return {
    left: wordsOfLabel(left?.text ?? ''),
    right: wordsOfLabel(right?.text ?? '').slice(0, 2),
    above: wordsOfLabel(above ?? ''),
    higher: wordsOfLabel(higher ?? ''),
    section: sectionOf(segment, layout),
  };
}

function textsAbove(segment: Segment, { rows }: Layout): readonly string[] {
  const texts: string[] = [];
  const last = Math.max(0, segment.row - ROWS_ABOVE_MAX);
  for (let row = segment.row - 1; row >= last && texts.length < 2; row -= 1) {
    const above = rows[row]?.segments.find((other) => isAbove(other, segment));
    if (above !== undefined && hasWord(above.text)) texts.push(above.text);
  }
  return texts;
}

function sectionOf(segment: Segment, { rows }: Layout): Words {
  const last = Math.max(0, segment.row - SECTION_ROWS_MAX);
  for (let row = segment.row - 1; row >= last; row -= 1) {
    const [only, ...others] = rows[row]?.segments ?? [];
    if (only !== undefined && others.length === 0 && isTitleOf(segment, only)) return wordsOfLabel(only.text);
  }
  return [];
}

const isTitleOf = (segment: Segment, title: Segment): boolean =>
  title.page === segment.page &&
  title.words.length <= SECTION_WORDS_MAX &&
  title.x0 <= segment.x0 + 10 &&
  hasWord(title.text) &&
  !/\d/.test(title.text);
