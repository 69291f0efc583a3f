import type { Block, DocumentPage, TableCell } from './document.ts';
import type { TableBlock } from './tableGrid.ts';

/** A table with those of the next pages that go on with it. */
interface Chain {
  /** Of the page that it begins on. */
  readonly page: number;
  readonly tables: TableBlock[];
}

/** Pages on which a table that runs over several stands whole where it begins, its header once. */
export function withJoinedTables(pages: readonly DocumentPage[]): readonly DocumentPage[] {
  const chains: Chain[] = [];
  const left: (readonly Block[])[] = [];
  let open: Chain | undefined;
  for (const [index, { blocks }] of pages.entries()) {
    const at = open === undefined ? -1 : blocks.findIndex(goesOn);
    const next = blocks[at];
    if (open !== undefined && next?.kind === 'table') open.tables.push(next);
    left.push(next === undefined ? blocks : blocks.filter((block) => block !== next));
    const last = blocks.findLast(isTable);
    if (last === undefined || last === next) continue;
    open = { page: index, tables: [last] };
    chains.push(open);
  }
  const joined = new Map(
    chains.filter(({ tables }) => tables.length > 1).map((chain) => [chain.page, chain]),
  );
  return pages.map((page, index) => {
    const chain = joined.get(index);
    const blocks = left[index] ?? [];
    if (chain === undefined) return blocks === page.blocks ? page : { ...page, blocks };
    const whole = joinedTable(chain.tables);
    return { ...page, blocks: blocks.map((block) => (block === chain.tables[0] ? whole : block)) };
  });
}

const isTable = (block: Block): block is TableBlock => block.kind === 'table';
const goesOn = (block: Block): boolean => isTable(block) && block.continues !== undefined;

/** One table of several: headers that are repeated left out, a row that was cut in two made whole. */
function joinedTable(tables: readonly TableBlock[]): TableBlock {
  const [first, ...others] = tables;
  if (first === undefined) throw new RangeError('There is no table to join.');
  const cells: TableCell[] = [...first.cells];
  let { rows } = first;
  for (const table of others) {
    const isCut = table.continues === 'row';
    const from = table.headerRows;
    const shift = rows - from - (isCut ? 1 : 0);
    const own = table.cells.filter(({ row }) => row >= from);
    if (isCut)
      goOnWith(
        cells,
        rows - 1,
        own.filter(({ row }) => row === from),
      );
    for (const cell of own) if (!isCut || cell.row > from) cells.push({ ...cell, row: cell.row + shift });
    rows += table.rows - from - (isCut ? 1 : 0);
  }
  return { ...first, rows, cells };
}

/** Adds what a cut row has on the next page to its cells, which stand at the end. */
function goOnWith(cells: TableCell[], row: number, rest: readonly TableCell[]): void {
  for (let i = cells.length - 1; i >= 0 && rest.length > 0; i -= 1) {
    const cell = cells[i];
    if (cell === undefined || cell.row < row) break;
    const more = rest.find(({ column }) => column === cell.column);
    if (more !== undefined) cells[i] = withMore(cell, more);
  }
}

const withMore = (cell: TableCell, more: TableCell): TableCell => ({
  ...cell,
  text: `${cell.text} ${more.text}`,
  ...((cell.markdown ?? more.markdown) !== undefined && {
    markdown: `${cell.markdown ?? cell.text} ${more.markdown ?? more.text}`,
  }),
});
