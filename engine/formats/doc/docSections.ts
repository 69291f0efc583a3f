import type { Piece } from '../pieces/blocks.ts';
import type { Section } from '../pieces/letterheads.ts';
import type { DocFile } from './docFile.ts';
import { modifiersIn, numberOf } from './docProperties.ts';

const SECTIONS = 6;
const LETTERHEADS = 11;
const DOCUMENT_PROPERTIES = 31;
const SECTION_BYTES = 12;
const HAS_FIRST_PAGE = 0x300a;
/** Separators of notes stand before the headers and footers of the first section. */
const SEPARATORS = 6;
const OF_A_SECTION = 6;
/** Word numbers no more of them, and each is looked for in all pieces. */
const SECTIONS_MAX = 32_767;
const SECTION_PIECES_MAX = 20_000_000;

type Range = readonly [from: number, to: number];

interface SourceSection {
  readonly to: number;
  readonly hasFirstPage: boolean;
}

/** Where headers and footers stand among those of a section. */
const PLACES = {
  headers: { even: 0, odd: 1, first: 4 },
  footers: { even: 2, odd: 3, first: 5 },
} as const;

/**
 * The sections of a document with their headers and footers, those in which none stands being the ones of the
 * section before. `read` gives the pieces of a stretch of the text.
 */
export function docSections(
  file: DocFile,
  read: (from: number, to: number) => readonly Piece[],
): readonly Section[] {
  const { lengths } = file;
  const offset = lengths.body + lengths.footnotes;
  const ranges = letterheadRanges(file.tableAt(LETTERHEADS), offset);
  const hasFacingPages = ((file.tableAt(DOCUMENT_PROPERTIES)[0] ?? 0) & 1) === 1;
  const sections = sectionsOf(file);
  return sections.map(({ to, hasFirstPage }, index) => {
    const from = sections[index - 1]?.to ?? 0;
    const piecesOf = ({ even, odd, first }: Readonly<Record<'even' | 'odd' | 'first', number>>) =>
      [...(hasFirstPage ? [first] : []), odd, ...(hasFacingPages ? [even] : [])].flatMap((place) => {
        const [start, end] = ranges[SEPARATORS + index * OF_A_SECTION + place] ?? [0, 0];
        return end > start ? [read(start, end)] : [];
      });
    const headers = piecesOf(PLACES.headers);
    return { headers, body: read(from, to), footers: piecesOf(PLACES.footers) };
  });
}

/** Each section ends before a place in the text; what follows the last one belongs to it. */
function sectionsOf({ main, tableAt, lengths, pieces }: DocFile): readonly SourceSection[] {
  const table = tableAt(SECTIONS);
  const count = Math.max(0, Math.floor((table.length - 4) / (4 + SECTION_BYTES)));
  const isSound = count <= SECTIONS_MAX && count * pieces.length <= SECTION_PIECES_MAX;
  const sections: SourceSection[] = [];
  let last = 0;
  for (let index = 0; isSound && index < count; index += 1) {
    const to = Math.min(lengths.body, table.readUInt32LE((index + 1) * 4));
    if (to <= last) break;
    last = to;
    const at = table.readUInt32LE((count + 1) * 4 + index * SECTION_BYTES + 2);
    sections.push({ to, hasFirstPage: hasFirstPage(main, at) });
  }
  const final = sections.pop() ?? { hasFirstPage: false };
  return [...sections, { ...final, to: lengths.body }];
}

function hasFirstPage(main: Buffer, at: number): boolean {
  if (at === 0xffffffff || at + 2 > main.length) return false;
  const modifiers = modifiersIn(main.subarray(at + 2, at + 2 + main.readUInt16LE(at)));
  return numberOf(modifiers, HAS_FIRST_PAGE) === 1;
}

/** The texts stand one after the other; the last place is of no text. */
function letterheadRanges(table: Buffer, offset: number): readonly Range[] {
  const places = Array.from({ length: Math.floor(table.length / 4) }, (_, index) =>
    table.readUInt32LE(index * 4),
  );
  let end = 0;
  return places.slice(1).map((to, index): Range => {
    // None goes back, so that no text is read more than once.
    const from = Math.max(end, places[index] ?? 0);
    end = Math.max(end, to);
    return [offset + from, offset + Math.max(from, to)];
  });
}
