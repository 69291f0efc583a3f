/** A stretch of a document's markdown that a model is shown in one request. */
export interface Section {
  readonly text: string;
  /** From 1, both included. */
  readonly firstPage: number;
  readonly lastPage: number;
}

/** A block of the text, or a part of one that is too long to be shown as a whole. */
interface Piece {
  readonly text: string;
  readonly bytes: number;
  readonly page: number;
  /** A section may well begin here. */
  readonly isBeginning: boolean;
  /** The headings above it, the outermost first. */
  readonly headings: readonly string[];
}

/** A token is about four letters of English and one sign of Chinese: three bytes are one at the least. */
const BYTES_PER_TOKEN = 3;
/** Sections beyond that many are longer than asked for, so that a document costs only so many requests. */
const SECTIONS_MAX = 32;
/** Of a section: what it repeats of the one before, and the longest piece. */
const OVERLAP = 0.1;
const PIECE = 0.25;
/** A section ends at a heading or page when this much of it is full. */
const FULL_ENOUGH = 0.6;

/**
 * The text in sections of so many tokens: they begin at headings and pages where that can be, under the headings
 * that are above them, and repeat the end of the one before. Linear in the text.
 */
export function sectionsOf(markdown: string, tokensMax: number): readonly Section[] {
  const bytes = Buffer.byteLength(markdown);
  const bytesMax = Math.max(tokensMax * BYTES_PER_TOKEN, Math.ceil((2 * bytes) / SECTIONS_MAX));
  const pieces = piecesOf(markdown, Math.floor(bytesMax * PIECE));
  const sections: Section[] = [];
  for (let start = 0; start < pieces.length;) {
    const from = overlapBefore(pieces, start, bytesMax * OVERLAP);
    const end = endOf(pieces, { from, start, bytesMax });
    sections.push(sectionOf(pieces.slice(from, end)));
    start = end;
  }
  return sections;
}

/** Lines of a table's header that its parts repeat. */
const HEADER_ROWS_MAX = 4;
/** The empty line after each piece. */
const APART = 2;
const PAGE_MARK = /^<!-- page (\d+) -->$/;
/** Letters of a heading that is repeated above a section. */
const HEADING_MAX = 200;
const HEADING = /^(#{1,6}) /;

function piecesOf(markdown: string, bytesMax: number): readonly Piece[] {
  const pieces: Piece[] = [];
  let page = 1;
  let headings: readonly string[] = [];
  for (const block of markdown.split(/\n{2,}/)) {
    const marked = PAGE_MARK.exec(block.trim())?.[1];
    const level = HEADING.exec(block)?.[1]?.length;
    if (marked !== undefined) page = Number(marked);
    const isBeginning = marked !== undefined || level !== undefined;
    for (const text of withinBytes(block, bytesMax))
      pieces.push({ text, bytes: Buffer.byteLength(text) + APART, page, isBeginning, headings });
    if (level !== undefined)
      headings = [...headings.filter((one) => levelOf(one) < level), block.slice(0, HEADING_MAX)];
  }
  return pieces;
}

const levelOf = (heading: string): number => HEADING.exec(heading)?.[1]?.length ?? 0;

/** A block cut between lines where it is too long; each part of a table has the table's header. */
function withinBytes(block: string, bytesMax: number): readonly string[] {
  if (Buffer.byteLength(block) <= bytesMax) return [block];
  const lines = block.split('\n').flatMap((line) => cutLine(line, bytesMax));
  const header = headerOf(lines);
  const parts: string[][] = [];
  let bytes = Infinity;
  for (const line of lines) {
    const more = Buffer.byteLength(line) + 1;
    if (bytes + more > bytesMax) {
      parts.push(parts.length === 0 ? [] : [...header]);
      bytes = 0;
    }
    parts[parts.length - 1]?.push(line);
    bytes += more;
  }
  return parts.map((part) => part.join('\n'));
}

/** The lines that name the columns of a table, of either kind that models are shown. */
function headerOf(lines: readonly string[]): readonly string[] {
  if (/^\|[ :|-]+\|$/.test(lines[1] ?? '')) return lines.slice(0, 2);
  const rows = lines[0] === '<table>' ? lines.findIndex((line) => line.startsWith('<tr><td')) : 0;
  return lines.slice(0, Math.max(0, Math.min(rows, HEADER_ROWS_MAX)));
}

/** A letter may have four bytes. */
function cutLine(line: string, bytesMax: number): readonly string[] {
  if (Buffer.byteLength(line) <= bytesMax) return [line];
  const length = Math.max(1, Math.floor(bytesMax / 4));
  return Array.from({ length: Math.ceil(line.length / length) }, (_, at) =>
    line.slice(at * length, (at + 1) * length),
  );
}

/** The first piece before `start` that is repeated. */
function overlapBefore(pieces: readonly Piece[], start: number, bytesMax: number): number {
  let from = start;
  let bytes = 0;
  while (from > 0) {
    bytes += pieces[from - 1]?.bytes ?? 0;
    if (bytes > bytesMax) break;
    from -= 1;
  }
  return from;
}

/** After the last piece of the section; at least one new piece is in it. */
function endOf(
  pieces: readonly Piece[],
  { from, start, bytesMax }: { readonly from: number; readonly start: number; readonly bytesMax: number },
): number {
  let end = from;
  let bytes = Buffer.byteLength(aboveOf(pieces[from]).join('\n\n')) + APART;
  let beginning: number | undefined;
  for (; end < pieces.length; end += 1) {
    const piece = pieces[end];
    if (piece === undefined || (end > start && bytes + piece.bytes > bytesMax)) break;
    if (end > start && piece.isBeginning && bytes > bytesMax * FULL_ENOUGH) beginning = end;
    bytes += piece.bytes;
  }
  return end === pieces.length ? end : (beginning ?? end);
}

const aboveOf = (first: Piece | undefined): readonly string[] =>
  first === undefined ? [] : [`<!-- page ${first.page} -->`, ...first.headings];

function sectionOf(pieces: readonly Piece[]): Section {
  const [first] = pieces;
  const firstPage = first?.page ?? 1;
  const above = aboveOf(first);
  const texts = pieces.map(({ text }) => text);
  if (texts[0] === above[0]) texts.shift();
  return {
    text: [...above, ...texts].join('\n\n'),
    firstPage,
    lastPage: pieces[pieces.length - 1]?.page ?? firstPage,
  };
}

/** Tokens of a text, at most. */
export const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
