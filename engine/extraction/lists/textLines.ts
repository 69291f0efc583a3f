import type { Block, Box, Document, DocumentPage, Word } from '../../document/document.ts';
import { linesOnPages } from '../../document/wholeBlocks.ts';
import { plainWords } from '../grids/grid.ts';
import { addTo } from '../../kernel/lists.ts';

/** A line of a block, in reading order. */
export interface TextLine {
  readonly text: string;
  readonly page: DocumentPage;
  readonly block: Exclude<Block, { readonly kind: 'table' }>;
  /** The page that it stands on, where its block begins on an earlier one. */
  readonly on?: number | undefined;
  /** Its number in a list; null for other lines. */
  readonly number: number | null;
}

const KNOWN = new WeakMap<Document, readonly TextLine[]>();
const LINES_MAX = 20_000;

/** The lines of a document's texts outside of tables; made once. */
export function textLines(document: Document): readonly TextLine[] {
  const known = KNOWN.get(document);
  if (known !== undefined) return known;
  const lines = document.pages.flatMap((page) => page.blocks.flatMap((block) => linesOf(block, page)));
  const kept = lines.slice(0, LINES_MAX);
  KNOWN.set(document, kept);
  return kept;
}

const linesOf = (block: Block, page: DocumentPage): readonly TextLine[] =>
  block.kind === 'table'
    ? []
    : linesOnPages(block)
        .map(({ text, on }) => ({ text: text.replace(/\s+/g, ' ').trim(), on }))
        .filter(({ text }) => text !== '')
        .map((line, i) => ({ ...line, page, block, number: i === 0 ? numberOf(block) : null }));

const numberOf = (block: Block): number | null => (block.kind === 'list_item' ? block.number : null);

const TOKENS = new WeakMap<DocumentPage, ReadonlyMap<string, readonly number[]>>();

/** The words of a page that a text is made of; where they are not found, the text in the block's box. */
export function wordsOf(
  text: string,
  { page, block, on }: Pick<TextLine, 'page' | 'block' | 'on'>,
): readonly Word[] {
  const words = page.lines.flatMap((line) => line.words);
  const index = indexOf(page, words);
  const parts = text
    .split(/\s+/)
    .map(bare)
    .filter((part) => part !== '');
  const [first = ''] = parts;
  const starts = (index.get(first) ?? []).slice(0, STARTS_MAX);
  const fitting = starts.filter((start) =>
    parts.every((part, i) => bare(words[start + i]?.text ?? '') === part),
  );
  const onIt = fitting.filter((one) => words[one]?.page === on);
  const own = onIt.length > 0 ? onIt : fitting.filter((one) => (words[one]?.page ?? 0) > (on ?? 0));
  const start = own.find((one) => isInside(words[one]?.box ?? null, block.box)) ?? own[0];
  return start === undefined
    ? plainWords(text, block.box).map((word) => ({ ...word, ...(on !== undefined && { page: on }) }))
    : words.slice(start, start + parts.length);
}

/** Places of a text's first word that are tried. */
const STARTS_MAX = 200;

function indexOf(page: DocumentPage, words: readonly Word[]): ReadonlyMap<string, readonly number[]> {
  const known = TOKENS.get(page);
  if (known !== undefined) return known;
  const index = new Map<string, number[]>();
  for (const [at, { text }] of words.entries()) {
    addTo(index, bare(text), at);
  }
  TOKENS.set(page, index);
  return index;
}

/** Without the marks around it. */
const bare = (text: string): string => text.replace(/^[^\p{L}\p{N}]+/u, '').replace(/[^\p{L}\p{N}]$/u, '');

const isInside = (word: Box | null, block: Box | null): boolean =>
  word === null || block === null || (word[1] >= block[1] - 2 && word[3] <= block[3] + 2);

const TITLE_WORDS_MAX = 5;

/** A few words in capitals alone: the title of a section, however it is set. */
export const isLoud = (text: string): boolean =>
  /^\P{Ll}+$/u.test(text) &&
  /\p{Lu}{4}/u.test(text) &&
  !/\d/.test(text) &&
  text.split(/\s+/).length <= TITLE_WORDS_MAX;
