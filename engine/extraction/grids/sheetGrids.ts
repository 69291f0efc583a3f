import type { Document, DocumentPage } from '../../document/document.ts';
import { fromTheLeft, plainWords, type Cell, type Grid, type GridRow } from './grid.ts';

/** A sheet is one grid: its lines keep the columns of its cells, with tabs between them. */
export const sheetGrids = ({ pages }: Document): readonly Grid[] => pages.flatMap(sheetGrid);

function sheetGrid({ page, lines, blocks }: DocumentPage): readonly Grid[] {
  const texts = lines.map(({ text }) => text.split('\t'));
  const columns = texts.reduce((widest, { length }) => Math.max(widest, length), 0);
  if (columns < 2) return [];
  const rows = texts.map((cells): GridRow => {
    const row = cells.map((text): Cell | undefined => cellOf(text.trim(), page));
    return [...row, ...Array<undefined>(columns - row.length).fill(undefined)];
  });
  const [first] = blocks;
  const above = first?.kind === 'heading' ? [first.text] : [];
  const overColumns = (row: number): GridRow => fromTheLeft(rows[row] ?? []);
  const title = first?.kind === 'heading' ? cellOf(first.text, page) : undefined;
  const about: readonly Cell[] = [];
  return [
    {
      rows,
      columns,
      page,
      above,
      about,
      title,
      follows: false,
      continues: false,
      isTurned: false,
      overColumns,
    },
  ];
}

const cellOf = (text: string, page: number): Cell | undefined =>
  text === '' ? undefined : { text, page, columnSpan: 1, words: plainWords(text, null) };
