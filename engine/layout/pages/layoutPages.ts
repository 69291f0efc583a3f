import type { Block, Box } from '../../document/document.ts';
import { escapeText } from '../../document/inline.ts';
import { withAlignedTables } from '../tables/alignedTables.ts';
import { readingGroups, type Atom } from './columns.ts';
import {
  around,
  type AsideText,
  type PageContent,
  type PlacedWord,
  type Row,
  type Rule,
  type Segment,
} from '../content.ts';
import { keyOf, runningRows } from './furniture.ts';
import { gridTable, type GridTable } from '../tables/gridTables.ts';
import { headingLevels, looksOfHeadings, type LooksOfHeadings } from './headingLevels.ts';
import { headingsOf, stylesOfHeadings, type DocumentLook } from './headings.ts';
import { withoutLineNumbers } from './lineNumbers.ts';
import { outlinedPassages, type OutlineTitle } from '../outlined.ts';
import { passageBlock } from './passageBlocks.ts';
import { passagesOf, textLine, type Passage } from '../paragraphs.ts';
import { wordsByHeight } from '../tables/looseRules.ts';
import { ruledRegions } from '../tables/ruledTables.ts';
import { segmentRows, segmentsOf } from '../segments.ts';
import type { TableBlock } from '../tables/tableCells.ts';

/** A heading is larger than the text by this factor; recognised sizes vary more. */
const LARGER = 1.14;
const LARGER_RECOGNISED = 1.35;

/** Half points. */
const rounded = (size: number): number => Math.round(size * 2) / 2;

type Trait = 'bold' | 'italic' | 'mono' | 'recognised';

/** What most of the text of a document looks like. */
function documentLook(pages: readonly PageContent[]): DocumentLook {
  const words = pages.flatMap((page) => page.words);
  const bySize = new Map<number, number>();
  const compounds = new Set<string>();
  const characters: Record<Trait | 'all', number> = { all: 0, bold: 0, italic: 0, mono: 0, recognised: 0 };
  for (const word of words) {
    const { length } = word.text;
    const size = rounded(word.size);
    bySize.set(size, (bySize.get(size) ?? 0) + length);
    characters.all += length;
    if (word.bold) characters.bold += length;
    if (word.italic) characters.italic += length;
    if (word.mono) characters.mono += length;
    if (word.confidence < 1) characters.recognised += length;
    const compound = compoundOf(word.text);
    if (compound !== undefined) compounds.add(compound);
  }
  const most = (trait: Trait): boolean => characters[trait] > 0.5 * characters.all;
  const [bodySize = 10] = [...bySize].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([size]) => size);
  return {
    bodySize: Math.max(1, bodySize),
    bodyBold: most('bold'),
    bodyItalic: most('italic'),
    bodyMono: most('mono'),
    larger: most('recognised') ? LARGER_RECOGNISED : LARGER,
    compounds,
  };
}

const compoundOf = (text: string): string | undefined =>
  text.includes('-') ? /^\p{L}{2,}-\p{Ll}{2,}/u.exec(text)?.[0].toLowerCase() : undefined;

/** A piece of a page in reading order, before the document as a whole tells headings from text. */
type Piece =
  | { readonly kind: 'table'; readonly table: TableBlock }
  | { readonly kind: 'passage'; readonly passage: Passage };

interface FlowAtom extends Atom {
  readonly segment: Segment | undefined;
  readonly table: TableBlock | undefined;
}

/**
 * The blocks of each page in reading order: tables (ruled or aligned), headings by level, lists, code and
 * paragraphs; running headers and footers left out. `outline` has the titles that the document itself says it has.
 * Pure and reproducible.
 */
export function layoutPages(
  pages: readonly PageContent[],
  outline: readonly OutlineTitle[] = [],
  known?: LayoutTraits,
): readonly (readonly Block[])[] {
  const { look, pieces, passages } = laidOut(pages, known);
  const outlined = outlinedPassages(passages, outline);
  const headings = headingsOf(passages, look, { outlined, known: known?.styles });
  const levels = headingLevels(headings, outlined, known?.looks);
  return pieces.map((page, index) => [
    ...nestedLists(
      page.map((piece) =>
        piece.kind === 'table'
          ? piece.table
          : passageBlock(piece.passage, { look, level: levels.get(piece.passage) }),
      ),
    ),
    ...(pages[index]?.aside ?? []).map(asideBlock),
  ]);
}

/** Notes follow the text of their page, also where they stand below the first of two columns. */
function notesLast(pieces: readonly Piece[]): readonly Piece[] {
  const isNote = (piece: Piece): boolean => piece.kind === 'passage' && piece.passage.note !== undefined;
  return pieces.some(isNote)
    ? [...pieces.filter((piece) => !isNote(piece)), ...pieces.filter(isNote)]
    : pieces;
}

/**
 * What pages of a document have in common: where it is read in parts, each is laid out by the whole, as far as
 * some of its pages show it.
 */
export interface LayoutTraits {
  readonly look: DocumentLook;
  /** Keys of running headers and footers. */
  readonly running: ReadonlySet<string>;
  readonly styles: ReadonlySet<string>;
  readonly looks: LooksOfHeadings;
}

/** What the pages have in common. */
export function layoutTraits(pages: readonly PageContent[], outline: readonly OutlineTitle[]): LayoutTraits {
  const { look, running, passages } = laidOut(pages);
  const outlined = outlinedPassages(passages, outline);
  const looks = looksOfHeadings(headingsOf(passages, look, { outlined }), outlined);
  return { look, running: new Set([...running].map(keyOf)), styles: stylesOfHeadings(passages, look), looks };
}

interface LaidOut {
  readonly look: DocumentLook;
  readonly running: ReadonlySet<Row>;
  readonly pieces: readonly (readonly Piece[])[];
  readonly passages: readonly (readonly Passage[])[];
}

/** The pages in pieces; what words tell of the whole document is known, or is told by these pages. */
function laidOut(numbered: readonly PageContent[], known?: LayoutTraits): LaidOut {
  const pages = withoutLineNumbers(numbered);
  const own = documentLook(pages);
  const look = known?.look ?? own;
  const compounds = known === undefined ? own.compounds : new Set([...look.compounds, ...own.compounds]);
  const prepared = pages.map(prepare);
  const running = runningRows(
    prepared.map(({ rows, height }) => ({ rows, height })),
    known?.running,
  );
  const pieces = prepared.map((page) => notesLast(piecesOf(page, running)));
  const passages = pieces.map((page) =>
    page.flatMap((piece) => (piece.kind === 'passage' ? [piece.passage] : [])),
  );
  return { look: { ...look, compounds }, running, pieces, passages };
}

/** How deep an item lies in its list, by how far it is indented. */
function nestedLists(blocks: readonly Block[]): readonly Block[] {
  let indents: number[] = [];
  return blocks.map((block) => {
    if (block.kind !== 'list_item' || block.box === null) {
      indents = [];
      return block;
    }
    const [x0] = block.box;
    indents = indents.filter((indent) => indent < x0 - 6);
    indents.push(x0);
    return { ...block, depth: indents.length - 1 };
  });
}

const asideBlock = ({ text, box }: AsideText): Block => ({
  kind: 'paragraph',
  text,
  markdown: escapeText(text),
  box,
});

/** Points from the edge of the paper. */
const EDGE = 1;

interface Prepared {
  readonly height: number;
  readonly tables: readonly GridTable[];
  readonly segments: readonly Segment[];
  readonly rows: readonly Row[];
}

/** What is filled up to the edge of the paper or beyond bounds no table: such an edge is no rule. */
const isOnPaper = ({ width, height }: PageContent, [x0, y0, x1, y1]: Rule): boolean =>
  x1 > EDGE && x0 < width - EDGE && y1 > EDGE && y0 < height - EDGE;

function prepare(page: PageContent): Prepared {
  const { words, height } = page;
  const rules = page.rules.filter((rule) => isOnPaper(page, rule));
  const tables: GridTable[] = [];
  const taken = new Set<PlacedWord>();
  for (const region of ruledRegions(rules, wordsByHeight(words))) {
    const free = words.filter((word) => !taken.has(word));
    const found = gridTable(region, free);
    if (found === undefined) continue;
    tables.push(found);
    for (const word of found.words) taken.add(word);
  }
  const segments = segmentsOf(words.filter((word) => !taken.has(word)));
  return { height, tables, segments, rows: segmentRows(segments) };
}

function piecesOf({ tables, segments, rows }: Prepared, running: ReadonlySet<Row>): readonly Piece[] {
  const dropped = new Set(rows.filter((row) => running.has(row)).flatMap((row) => row.segments));
  const atoms: FlowAtom[] = [
    ...segments.filter((segment) => !dropped.has(segment)).map(segmentAtom),
    ...tables.map(({ table }) => tableAtom(table)),
  ];
  return readingGroups(atoms).flatMap(groupPieces);
}

const segmentAtom = (segment: Segment): FlowAtom => {
  const text = segment.words.map((word) => word.text).join(' ');
  return { box: segment.box, size: segment.size, characters: text.length, text, segment, table: undefined };
};

const tableAtom = (table: TableBlock): FlowAtom => ({
  box: table.box ?? [0, 0, 0, 0],
  size: 10,
  characters: 0,
  text: '',
  segment: undefined,
  table,
});

/** One group reads from top to bottom; a ruled table parts what is above it from what is below. */
function groupPieces(atoms: readonly FlowAtom[]): readonly Piece[] {
  const pieces: Piece[] = [];
  const column = around(atoms.map(({ box }) => box));
  const tables = atoms.filter(({ table }) => table !== undefined).sort((a, b) => a.box[1] - b.box[1]);
  let rest = atoms.filter(({ table }) => table === undefined);
  for (const { table, box } of tables) {
    if (table === undefined) continue;
    const middle = (box[1] + box[3]) / 2;
    pieces.push(
      ...flowPieces(
        rest.filter((atom) => (atom.box[1] + atom.box[3]) / 2 < middle),
        column,
      ),
    );
    pieces.push({ kind: 'table', table });
    rest = rest.filter((atom) => (atom.box[1] + atom.box[3]) / 2 >= middle);
  }
  return [...pieces, ...flowPieces(rest, column)];
}

function flowPieces(atoms: readonly FlowAtom[], column: Box): readonly Piece[] {
  const rows = segmentRows(atoms.flatMap(({ segment }) => (segment === undefined ? [] : [segment])));
  const pieces: Piece[] = [];
  let waiting: Row[] = [];
  const flush = (): void => {
    const passages = passagesOf(waiting.map(textLine), column);
    pieces.push(...passages.map((passage) => ({ kind: 'passage', passage }) as const));
    waiting = [];
  };
  for (const flowing of withAlignedTables(rows)) {
    if (flowing.kind === 'row') waiting.push(flowing.row);
    else {
      flush();
      pieces.push(flowing);
    }
  }
  flush();
  return pieces;
}
