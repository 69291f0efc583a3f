import type { Block, Line, DocumentPage, DocumentWarning } from '../../document/document.ts';
import { lineOf, linesOfBlock } from '../../document/markupLines.ts';
import { markupPage } from '../pieces/flow.ts';
import { sheetBlocks, type PlacedDrawing, type SheetTexts } from './sheetTables.ts';
import { escapeText } from '../../document/inline.ts';
import { isOverfull, PAGE_CHARACTERS_MAX, pagesOf } from '../../document/pages.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import type { OpenedDocument } from '../pieces/opened.ts';
import { RefusedDocument } from '../pieces/blocks.ts';

/** Columns beyond which a sheet's lines are those of its tables: each row has a tab for every column. */
const COLUMNS_MAX = 200;

/**
 * The lines of a sheet: a row each, with a tab between columns, so that all rows keep the columns that they
 * have in the sheet, whatever tables the sheet falls into. Columns that no row fills are left out.
 */
function sheetLines(
  { rows }: SheetTexts,
  drawings: readonly PlacedDrawing[],
  blocks: readonly Block[],
): readonly Line[] {
  const used = new Set([...rows.values()].flatMap((cells) => [...cells.keys()]));
  if (used.size > COLUMNS_MAX) return blocks.flatMap(linesOfBlock);
  const columns = [...used].sort((a, b) => a - b);
  const placed = [...rows].map(([row, cells]) => ({ row, lines: [rowLine(columns, cells)] }));
  const drawn = drawings.map((drawing) => ({
    row: drawing.row,
    lines: drawing.blocks.flatMap(linesOfBlock),
  }));
  return [...placed, ...drawn].sort((a, b) => a.row - b.row).flatMap(({ lines }) => lines);
}

function rowLine(columns: readonly number[], cells: ReadonlyMap<number, string>): Line {
  const texts = columns.map((column) => cells.get(column) ?? '');
  const filled = texts.findLastIndex((text) => text !== '') + 1;
  return lineOf(texts.slice(0, filled).join('\t'));
}

/** Filled cells of a workbook; one that has more is refused. */
export const CELLS_MAX = 2_000_000;

export const DAMAGED_WORKBOOK = 'The workbook is damaged and cannot be read.';

export class TooManyCells extends RefusedDocument {
  constructor() {
    super(`The workbook has more than ${CELLS_MAX} filled cells.`);
  }
}

/** What a small file may show by cells that repeat and texts that many share; a larger one by its size. */
const ALWAYS_SHOWN = 4_000_000;
const SHOWN_PER_BYTE = 100;

/** Counts the characters of cells as they are filled; throws when they are more than the bytes of the file allow. */
export const characterAllowance = (bytes: number): ((characters: number) => void) => {
  let left = ALWAYS_SHOWN + SHOWN_PER_BYTE * bytes;
  return (characters) => {
    left -= characters;
    if (left < 0) throw new RefusedDocument('The workbook repeats its texts more often than is read.');
  };
};

/** A sheet that is shown. */
export interface Sheet {
  readonly name: string;
  readonly texts: SheetTexts;
  readonly drawings: readonly PlacedDrawing[];
}

/** What reading a workbook gives. */
export interface Workbook {
  readonly sheets: readonly Sheet[];
  /** Whether sheets are left out, for nobody who opens the workbook sees them. */
  readonly hasHidden: boolean;
  /** Cells whose formulas were saved without a value and that are empty here. */
  readonly notComputed?: readonly string[];
}

interface Opening {
  readonly mimeType: string;
  readonly read: () => Workbook;
  /** The sentence for what else than a refusal `read` threw: the file is to blame. */
  readonly detailOf: (error: unknown) => string;
}

/** What `read` gives, or why it cannot be read. */
export function readSheets<T>(
  read: () => T,
  detailOf: Opening['detailOf'],
): T | Extract<ParseFailure, { readonly kind: 'unreadable' }> {
  try {
    return read();
  } catch (error) {
    const detail = error instanceof RefusedDocument ? error.message : detailOf(error);
    return { kind: 'unreadable', detail };
  }
}

/** Opens what `read` gives, with a page for each sheet that has something to show. */
export function openSheets({ mimeType, read, detailOf }: Opening): OpenedDocument | ParseFailure {
  return readSheets(() => {
    const { sheets, hasHidden, notComputed = [] } = read();
    const filled = sheets.flatMap(({ name, texts, drawings }) => {
      const blocks = sheetBlocks(texts, drawings);
      if (isOverfull(blocks))
        throw new RefusedDocument(
          `A sheet has more than ${PAGE_CHARACTERS_MAX} characters. Send it in parts, or as CSV.`,
        );
      return blocks.length === 0 ? [] : [{ name, blocks, lines: sheetLines(texts, drawings, blocks) }];
    });
    const pages = pagesOf({ by: 'pages', pages: filled.length });
    const all = filled.map(({ name, blocks, lines }, index) => {
      const titles = filled.length > 1 || !isDefaultName(name) ? [title(name)] : [];
      return pageOf(index, [...titles, ...blocks], [...titles.flatMap(linesOfBlock), ...lines]);
    });
    const shown = all.length > 0 ? all : [pageOf(0, [], [])];
    const warnings = [...warningsOf(hasHidden, filled.length), ...namedCells(notComputed)];
    return {
      kind: 'open',
      mimeType,
      pages,
      read: () => Promise.resolve({ kind: 'ok', document: { mimeType, pages: shown, warnings } }),
    };
  }, detailOf);
}

/** The name that an office suite gives to a first sheet says nothing. */
const isDefaultName = (name: string): boolean =>
  /^(?:sheet|tabelle|feuil|feuille|hoja|foglio|blad|planilha|folha|лист|シート)[ _]?\d*$/i.test(name.trim());

const title = (name: string): Block => ({
  kind: 'heading',
  level: 2,
  text: name,
  markdown: escapeText(name),
  box: null,
});

const pageOf = (index: number, blocks: readonly Block[], lines: readonly Line[]): DocumentPage =>
  markupPage({ page: index + 1, blocks, lines });

const warningsOf = (hasHidden: boolean, filled: number): readonly DocumentWarning[] => [
  ...(hasHidden ? [HIDDEN_SHEETS] : []),
  ...(filled === 0 ? [EMPTY] : []),
];

const NAMED_MAX = 20;

function namedCells(cells: readonly string[]): readonly DocumentWarning[] {
  if (cells.length === 0) return [];
  const more = cells.length > NAMED_MAX ? ` and ${cells.length - NAMED_MAX} more` : '';
  const named = `${cells.slice(0, NAMED_MAX).join(', ')}${more}`;
  const message =
    `Formulas were saved without their values, and these cells are empty: ${named}. ` +
    'Open the workbook in a spreadsheet program and save it.';
  return [{ code: 'not_computed', message }];
}

const HIDDEN_SHEETS: DocumentWarning = {
  code: 'hidden_text',
  message: 'Sheets that are hidden in the workbook were left out.',
};
const EMPTY: DocumentWarning = { code: 'no_text_found', message: 'The workbook is empty.' };
