import type { Block, Document, DocumentPage, Line, TableBlock, TableCell, Word } from './document.ts';
import { inlineConstructs } from './inline.ts';
import { linesOfBlock, markupWords } from './markupLines.ts';
import { firstPlace } from '../kernel/lists.ts';
import { once } from '../kernel/once.ts';

type TextBlock = Exclude<Block, TableBlock>;

/** A block with those of the next pages that go on with it; `pages`: the number of each one's page. */
interface Chain<B extends Block = Block> {
  readonly blocks: B[];
  readonly pages: number[];
}

const isTable = (block: Block): block is TableBlock => block.kind === 'table';
const follows = (page: DocumentPage, before: DocumentPage | undefined): boolean =>
  before?.page === page.page - 1;

/** A table with those of the next pages, and the place in the list of pages on which it begins. */
interface TableChain extends Chain<TableBlock> {
  readonly index: number;
}

/** Pages on which a table that runs over several stands whole where it begins, its header once. */
export function withWholeTables(pages: readonly DocumentPage[]): readonly DocumentPage[] {
  const chains: TableChain[] = [];
  const left: (readonly Block[])[] = [];
  let open: TableChain | undefined;
  for (const [index, page] of pages.entries()) {
    const { blocks } = page;
    if (!follows(page, pages[index - 1])) open = undefined;
    const next = open && blocks.find((block) => isTable(block) && block.continues !== undefined);
    if (open !== undefined && next?.kind === 'table') open.blocks.push(next);
    left.push(next === undefined ? blocks : blocks.filter((block) => block !== next));
    const last = blocks.findLast(isTable);
    if (last === undefined || last === next) continue;
    open = { index, blocks: [last], pages: [] };
    chains.push(open);
  }
  const whole = new Map(
    chains.filter(({ blocks }) => blocks.length > 1).map((chain) => [chain.index, chain]),
  );
  return pages.map((page, index) => {
    const chain = whole.get(index);
    const blocks = left[index] ?? [];
    if (chain === undefined) return blocks === page.blocks ? page : { ...page, blocks };
    const table = wholeTable(chain);
    return { ...page, blocks: blocks.map((block) => (block === chain.blocks[0] ? table : block)) };
  });
}

/** Where a text that is whole turns to a next page: an offset into it. */
interface Turn {
  readonly at: number;
  readonly page: number;
}

const TURNS = new WeakMap<Block | TableCell, readonly Turn[]>();

/** One table of several: headers that are repeated left out, rows and cells that were cut made whole. */
function wholeTable({ blocks: [first, ...others], pages }: Chain<TableBlock>): TableBlock {
  if (first === undefined) throw new RangeError('There is no table to join.');
  const cells: TableCell[] = [...first.cells];
  // By column, the cells at the end: their lower parts may stand on the next page.
  const ends = new Map<number, number>();
  let { rows } = first;
  let from = 0;
  for (const [index, table] of others.entries()) {
    for (; from < cells.length; from += 1) {
      const { row, rowSpan, column } = cells[from] ?? NO_CELL;
      if (row + rowSpan >= rows) ends.set(column, from);
    }
    rows = withRows({ cells, rows, ends }, table, pages[index + 1]);
  }
  return { ...first, rows, cells };
}

const NO_CELL = { row: 0, rowSpan: 0, column: -1 };

interface Growing {
  readonly cells: TableCell[];
  readonly rows: number;
  readonly ends: ReadonlyMap<number, number>;
}

/** Adds the rows of a table to those of the pages before, and says how many there are then. */
function withRows({ cells, rows, ends }: Growing, table: TableBlock, page: number | undefined): number {
  const isCut = table.continues === 'row' || table.continues === 'cell';
  const shift = rows - table.headerRows - Number(isCut);
  const own = table.cells.filter(({ row }) => row >= table.headerRows);
  if (isCut) goOnWith(cells, rows - 1, { table, own, page });
  for (const cell of own)
    if (cell.continues === true) lengthen(cells, ends.get(cell.column), cell);
    else if (!isCut || cell.row > table.headerRows)
      cells.push(onPage({ ...cell, row: cell.row + shift }, page));
  return shift + table.rows;
}

function lengthen(cells: TableCell[], at: number | undefined, { rowSpan }: TableCell): void {
  const cell = at === undefined ? undefined : cells[at];
  if (at === undefined || cell === undefined) return;
  cells[at] = turned({ ...cell, rowSpan: cell.rowSpan + rowSpan }, TURNS.get(cell) ?? []);
}

interface CutRow {
  readonly table: TableBlock;
  readonly own: readonly TableCell[];
  readonly page: number | undefined;
}

/** Adds what a cut row has on the next page to its cells, which stand at the end. */
function goOnWith(cells: TableCell[], row: number, { table, own, page }: CutRow): void {
  const rest = new Map(
    own.filter((cell) => cell.row === table.headerRows).map((cell) => [cell.column, cell]),
  );
  const glue = table.continues === 'cell' ? '' : ' ';
  for (let i = cells.length - 1; i >= 0 && rest.size > 0; i -= 1) {
    const cell = cells[i];
    if (cell === undefined || cell.row < row) break;
    const more = rest.get(cell.column);
    if (more === undefined) continue;
    cells[i] = withMore(cell, { more, glue, page });
    rest.delete(cell.column);
  }
  for (const cell of rest.values()) cells.push(onPage({ ...cell, row }, page));
}

interface More {
  readonly more: TableCell;
  readonly glue: string;
  readonly page: number | undefined;
}

function withMore(cell: TableCell, { more, glue, page }: More): TableCell {
  const text = `${cell.text}${glue}${more.text}`;
  const whole = { ...cell, text, markdown: markdownWithMore(cell, more, glue), whole: undefined };
  if (cell.text === '') return onPage(whole, page);
  const turns = TURNS.get(cell) ?? [];
  const at = cell.text.length + glue.length;
  return turned(whole, page === undefined || more.text === '' ? turns : [...turns, { at, page }]);
}

function markdownWithMore(cell: TableCell, more: TableCell, glue: string): string | undefined {
  const [first, rest] = [cell.whole ?? cell.markdown, more.whole ?? more.markdown];
  if (first === undefined && rest === undefined) return undefined;
  return `${first ?? cell.text}${glue}${rest ?? more.text}`;
}

/** Notes where a cell turns to its pages. */
function turned(cell: TableCell, turns: readonly Turn[]): TableCell {
  if (turns.length > 0) TURNS.set(cell, turns);
  return cell;
}

/** Notes the page of a cell; nothing where pages are not asked for. */
const onPage = (cell: TableCell, page: number | undefined): TableCell =>
  turned(cell, page === undefined ? [] : [{ at: 0, page }]);

/** A mark between pages that stands in a text: noncharacters around the number of the page. */
const MARK_SIGNS = /[\ufdd0\ufdd1]/g;

/** The markdown of a block with its marks between pages as comments, which part no paragraph. */
export const withPageMarks = (block: Block, markdown: string): string =>
  TURNS.has(block)
    ? markdown
        .replace(/\ufdd0(\d+)\ufdd1(?=\s)/g, ' <!-- page $1 -->')
        .replace(/([ \t])\ufdd0(\d+)\ufdd1/g, '$1<!-- page $2 --> ')
        .replace(/\ufdd0(\d+)\ufdd1/g, '<!-- page $1 -->')
    : markdown;

/** One text of several. `isMarked`: its markdown says where it turns to a page. */
function wholeText({ blocks, pages }: Chain<TextBlock>, isMarked: boolean): TextBlock {
  const [first] = blocks;
  if (first === undefined) throw new RangeError('There is no text to join.');
  const { text, turns } = joinedTexts(blocks, (block) => block.text);
  const whole = ((): TextBlock => {
    if (first.kind === 'code') return { ...first, text };
    const alone = first.continues !== undefined;
    const inline = joinedTexts(blocks, (block) => {
      if (!('markdown' in block)) return block.text.replace(MARK_SIGNS, '');
      return (alone ? block.markdown : (block.whole ?? block.markdown)).replace(MARK_SIGNS, '');
    });
    const markdown = isMarked ? marked(inline, pages) : inline.text;
    if (first.kind === 'image') return { ...first, text: markdown };
    return { ...first, text, markdown, whole: undefined };
  })();
  TURNS.set(
    whole,
    turns.map(({ next }, index) => ({ at: next, page: pages[index + 1] ?? 0 })),
  );
  return whole;
}

interface JoinedTexts {
  readonly text: string;
  /** Of each text but the first: where the one before it ends, and where it begins. */
  readonly turns: readonly { readonly end: number; readonly next: number }[];
}

function joinedTexts(blocks: readonly TextBlock[], textOf: (block: TextBlock) => string): JoinedTexts {
  const turns: { end: number; next: number }[] = [];
  let text = '';
  for (const [index, block] of blocks.entries()) {
    const end = text.length;
    if (index > 0 && block.continues === 'line') text += '\n';
    if (index > 0) turns.push({ end, next: text.length });
    text += textOf(block);
  }
  return { text, turns };
}

/** Marks stand behind what cannot be cut: in code they would be code, in a link a part of its address. */
function marked({ text, turns }: JoinedTexts, pages: readonly number[]): string {
  const constructs = inlineConstructs(text);
  let [result, from, reach, next] = ['', 0, 0, 0];
  for (const [index, { end }] of turns.entries()) {
    for (; (constructs[next]?.from ?? Infinity) < end; next += 1)
      reach = Math.max(reach, constructs[next]?.to ?? 0);
    const at = Math.max(end, reach);
    result += `${text.slice(from, at)}\ufdd0${pages[index + 1] ?? 0}\ufdd1`;
    from = at;
  }
  return result + text.slice(from);
}

/** The text that may go on at the end of a page, and where it stands whole. */
interface OpenText extends Chain<TextBlock> {
  readonly holder: Block[];
  readonly at: number;
}

const openText = (holder: Block[], page: number): OpenText | undefined => {
  const last = holder.at(-1);
  if (last === undefined || last.kind === 'table') return undefined;
  return { blocks: [last], pages: [page], holder, at: holder.length - 1 };
};

function closeText(open: OpenText | undefined, isMarked: boolean): void {
  if (open !== undefined && open.blocks.length > 1) open.holder[open.at] = wholeText(open, isMarked);
}

/**
 * Pages on which a text that runs over several stands whole where it begins, with the marks of the next pages in
 * it: so these pages go on there. In code no mark can stand: it is followed by them.
 */
export function withWholeTexts(pages: readonly DocumentPage[]): readonly DocumentPage[] {
  const whole: OwnPage[] = [];
  let open: OpenText | undefined;
  for (const [index, page] of pages.entries()) {
    const next = follows(page, pages[index - 1]) ? textAfter(open, page.blocks[0]) : undefined;
    putPage(whole, page, next);
    if (next !== undefined) {
      open?.blocks.push(next);
      open?.pages.push(page.page);
      if (page.blocks.length === 1) continue;
    }
    closeText(open, true);
    open = openText(whole.at(-1)?.blocks ?? [], page.page);
  }
  closeText(open, true);
  return whole;
}

type OwnPage = DocumentPage & { readonly blocks: Block[] };

/** Puts a page behind others: behind a text that goes on in it, what follows there, with no page of its own. */
function putPage(whole: OwnPage[], page: DocumentPage, next: TextBlock | undefined): void {
  const [, ...rest] = page.blocks;
  if (next === undefined) whole.push({ ...page, blocks: [...page.blocks] });
  else if (next.kind === 'code') whole.push({ ...page, blocks: rest });
  else for (const block of rest) whole.at(-1)?.blocks.push(block);
}

/** A block that goes on with an open text. */
const textAfter = (open: OpenText | undefined, block: Block | undefined): TextBlock | undefined =>
  open !== undefined && block !== undefined && !isTable(block) && goesOn(block) ? block : undefined;

const goesOn = (block: Block | undefined): boolean => block?.continues !== undefined;

/**
 * A document without geometry as it is read: what runs over pages stands whole where it begins, and its words know
 * the pages that they stand on. Others are as they are.
 */
export const readThrough = once((document: Document): Document => {
  const { pages } = document;
  const isCut = pages.some(({ source, blocks: [first] }) => source === 'markup' && goesOn(first));
  return isCut ? { ...document, pages: wholePages(pages) } : document;
});

function wholePages(pages: readonly DocumentPage[]): readonly DocumentPage[] {
  const whole: { page: DocumentPage; blocks: Block[]; lines: Line[] }[] = [];
  let open: (Chain & { readonly of: number }) | undefined;
  const close = (): void => {
    const of = open === undefined ? undefined : whole[open.of];
    if (open === undefined || of === undefined || open.blocks.length < 2) return;
    const block = wholeBlock(open);
    of.blocks.splice(-1, 1, block);
    const [first] = open.blocks;
    of.lines.length -= first === undefined ? 0 : linesIn(first);
    for (const line of placedLines(block)) of.lines.push(line);
  };
  for (const [index, page] of pages.entries()) {
    const [first, ...rest] = page.blocks;
    const isNext = first !== undefined && follows(page, pages[index - 1]) && isReadWith(open, first);
    if (open !== undefined && isNext) {
      open.blocks.push(first);
      open.pages.push(page.page);
      whole.push({ page, blocks: rest, lines: page.lines.slice(linesIn(first)) });
      if (rest.length === 0) continue;
    } else whole.push({ page, blocks: [...page.blocks], lines: [...page.lines] });
    close();
    const end = page.blocks.at(-1);
    open = end === undefined ? undefined : { blocks: [end], pages: [page.page], of: index };
  }
  close();
  return whole.map(({ page, blocks, lines }) => ({ ...page, blocks, lines }));
}

/** Rows of a table that are read as one: the time to read them grows with their square. */
const WHOLE_ROWS_MAX = 400;

/** Whether a block is read as one with those that it goes on with. Tables with many rows are read in parts. */
function isReadWith(open: Chain | undefined, block: Block): boolean {
  if (open?.blocks[0]?.kind !== block.kind || block.continues === undefined) return false;
  if (block.kind !== 'table' || block.continues === 'cell') return true;
  return open.blocks.reduce((sum, one) => sum + linesIn(one), block.rows) <= WHOLE_ROWS_MAX;
}

const wholeBlock = ({ blocks, pages }: Chain): Block => {
  const tables = blocks.filter(isTable);
  return tables.length > 0
    ? wholeTable({ blocks: tables, pages })
    : wholeText({ blocks: blocks.filter((block) => !isTable(block)), pages }, false);
};

const linesIn = (block: Block): number =>
  block.kind === 'table' ? block.rows : block.text.split('\n').length;

function placedLines(block: Block): readonly Line[] {
  const lines = linesOfBlock(block);
  if (block.kind === 'table') {
    const rows = Array.from({ length: block.rows }, () => Array<TableCell | undefined>(block.columns));
    for (const cell of block.cells)
      for (const row of rows.slice(cell.row, cell.row + cell.rowSpan))
        row.fill(cell, cell.column, cell.column + cell.columnSpan);
    return lines.map((line, at) => ({
      ...line,
      words: Array.from(rows[at] ?? [], (cell) => (cell === undefined ? [] : wordsOfCell(cell))).flat(),
    }));
  }
  let from = 0;
  return lines.map((line) => {
    const words = onPages(line.words, line.text, { of: block, from });
    from += line.text.length + 1;
    return { ...line, words };
  });
}

/** The words of a cell without geometry, each with its page where that is a later one. */
export const wordsOfCell = (cell: TableCell): readonly Word[] =>
  onPages(markupWords(cell.text), cell.text, { of: cell, from: 0 });

interface TextOrigin {
  readonly of: Block | TableCell;
  /** Where the text begins in that of its block or cell. */
  readonly from: number;
}

/** The words of a text, each with the page that it stands on where its block begins on an earlier one. */
export function onPages(words: readonly Word[], text: string, { of, from }: TextOrigin): readonly Word[] {
  const turns = TURNS.get(of);
  if (turns === undefined) return words;
  let next = turnsUntil(turns, from);
  return [...text.matchAll(/\S+/g)].flatMap(({ index }, place) => {
    const word = words[place];
    while ((turns[next]?.at ?? Infinity) <= from + index) next += 1;
    const page = turns[next - 1]?.page;
    return word === undefined ? [] : [page === undefined ? word : { ...word, page }];
  });
}

/** The lines of a text; `on`: the page of one where its block begins on an earlier page. */
export function linesOnPages(
  block: Exclude<Block, TableBlock>,
): readonly { readonly text: string; readonly on?: number }[] {
  const turns = TURNS.get(block);
  const lines = block.text.split('\n');
  if (turns === undefined) return lines.map((text) => ({ text }));
  let from = 0;
  return lines.map((text) => {
    const on = turns[turnsUntil(turns, from) - 1]?.page;
    from += text.length + 1;
    return { text, ...(on !== undefined && { on }) };
  });
}

const turnsUntil = (turns: readonly Turn[], offset: number): number =>
  firstPlace(turns.length, (place) => (turns[place]?.at ?? 0) > offset);
