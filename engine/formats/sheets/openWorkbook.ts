import { read, utils, type WorkBook, type WorkSheet } from '@e965/xlsx';
import type { Block, DocumentPage, DocumentWarning, Line } from '../../document/document.ts';
import { pagesOf } from '../../document/pages.ts';
import { escapeText } from '../../document/inline.ts';
import { cleanText, oneLine } from '../../document/cleanText.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import { unzip, type Archive } from '../archive.ts';
import { linesOfBlock, markupPage } from '../flow.ts';
import type { Format, OpenedDocument, Opener } from '../opened.ts';
import { drawingsBySheet, type PlacedDrawing } from './drawings.ts';
import { xlsTextBoxes } from './xlsTextBoxes.ts';
import { sheetLines } from './sheetLines.ts';
import { sheetBlocks, type SheetTexts } from './sheetTables.ts';

const CELLS_MAX = 2_000_000;

const MIME: Readonly<Partial<Record<Format, string>>> = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xls: 'application/vnd.ms-excel',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
};

class TooManyCells extends Error {}

/** Opens a workbook: a page for each sheet that has something to show. Formulas are not computed. */
export const openWorkbook =
  (format: Format): Opener =>
  ({ bytes }) => {
    const parts = format === 'xls' ? NO_PARTS : partsOf(bytes);
    if (parts.kind === 'unreadable') return Promise.resolve(parts);
    const drawings = DRAWINGS[format]?.(bytes, parts.members) ?? new Map<string, readonly PlacedDrawing[]>();
    return Promise.resolve(opened(bytes, { mimeType: MIME[format] ?? 'application/octet-stream', drawings }));
  };

type Drawings = ReadonlyMap<string, readonly PlacedDrawing[]>;

/** Where each format keeps what lies over its cells. */
const DRAWINGS: Readonly<Partial<Record<Format, (bytes: Buffer, members: Members) => Drawings>>> = {
  xlsx: (_, members) => drawingsBySheet(members),
  xls: xlsTextBoxes,
};

type Members = ReadonlyMap<string, Uint8Array>;

const NO_PARTS: Archive = { kind: 'archive', members: new Map() };

/** Refused when grown beyond the cap, or with a document type, which no workbook has and entity bombs need. */
function partsOf(bytes: Buffer): Archive {
  const archive = unzip(bytes, (name) => /\.(?:xml|rels|bin|vml)$/i.test(name));
  if (archive.kind === 'unreadable') return archive;
  for (const member of archive.members.values())
    if (Buffer.from(member.subarray(0, 1024)).includes('<!DOCTYPE'))
      return { kind: 'unreadable', detail: 'The workbook has a document type declaration, and is not read.' };
  return archive;
}

interface Opening {
  readonly mimeType: string;
  readonly drawings: Drawings;
}

function opened(bytes: Buffer, { mimeType, drawings }: Opening): OpenedDocument | ParseFailure {
  try {
    const book = read(bytes, {
      dense: false,
      cellFormula: false,
      cellHTML: false,
      cellDates: true,
      sheetRows: 0,
      UTC: true,
    });
    const sheets = visibleSheets(book);
    const filled = sheets.flatMap(({ name, sheet }) => {
      const [texts, drawn] = [textsOf(sheet), drawings.get(name) ?? []];
      const blocks = sheetBlocks(texts, drawn);
      return blocks.length === 0 ? [] : [{ name, blocks, lines: sheetLines(texts, drawn, blocks) }];
    });
    const pages = pagesOf({ by: 'pages', pages: filled.length });
    const all = filled.map(({ name, blocks, lines }, index) => {
      const titles = filled.length > 1 || !isDefaultName(name) ? [title(name)] : [];
      return pageOf(index, [...titles, ...blocks], [...titles.flatMap(linesOfBlock), ...lines]);
    });
    const shown = all.length > 0 ? all : [pageOf(0, [], [])];
    const warnings = warningsOf(book, sheets.length, filled.length);
    return {
      kind: 'open',
      mimeType,
      pages,
      read: () => Promise.resolve({ kind: 'ok', document: { mimeType, pages: shown, warnings } }),
    };
  } catch (error) {
    return { kind: 'unreadable', detail: detailOf(error) };
  }
}

function detailOf(error: unknown): string {
  if (error instanceof TooManyCells) return `The workbook has more than ${CELLS_MAX} filled cells.`;
  // eslint-disable-next-line no-restricted-syntax -- SheetJS throws plain errors; this becomes a ParseFailure
  if (error instanceof Error && /password|encrypt/i.test(error.message))
    return 'The workbook is encrypted and needs a password. Send it without one.';
  return 'The workbook is damaged and cannot be read.';
}

const visibleSheets = (book: WorkBook): readonly { readonly name: string; readonly sheet: WorkSheet }[] =>
  book.SheetNames.flatMap((name, index) => {
    const sheet = book.Sheets[name];
    const hidden = (book.Workbook?.Sheets?.[index]?.Hidden ?? 0) !== 0;
    return sheet === undefined || hidden ? [] : [{ name, sheet }];
  });

/** Only filled cells are looked at: a sheet may claim to be as large as it likes. */
function textsOf(sheet: WorkSheet): SheetTexts {
  const rows = new Map<number, Map<number, string>>();
  let cells = 0;
  for (const address of Object.keys(sheet)) {
    if (address.startsWith('!')) continue;
    const text = shownText(sheet[address] as { readonly w?: string; readonly v?: unknown });
    if (text === '') continue;
    cells += 1;
    if (cells > CELLS_MAX) throw new TooManyCells();
    const { r, c } = utils.decode_cell(address);
    const row = rows.get(r);
    if (row === undefined) rows.set(r, new Map([[c, text]]));
    else row.set(c, text);
  }
  const merges = (sheet['!merges'] ?? []).map(({ s, e }) => ({
    row: s.r,
    column: s.c,
    rows: e.r - s.r + 1,
    columns: e.c - s.c + 1,
  }));
  return { rows, merges };
}

/** As the workbook shows it: dates, percents and currencies by their formats. */
function shownText({ w, v }: { readonly w?: string; readonly v?: unknown }): string {
  if (w !== undefined) return oneLine(cleanText(w));
  if (v instanceof Date) return v.toISOString().slice(0, 10);
  if (typeof v === 'string') return oneLine(cleanText(v));
  return typeof v === 'number' || typeof v === 'boolean' ? String(v) : '';
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

function warningsOf(book: WorkBook, visible: number, filled: number): readonly DocumentWarning[] {
  const warnings: DocumentWarning[] = [];
  if (visible < book.SheetNames.length)
    warnings.push({ code: 'hidden_text', message: 'Sheets that are hidden in the workbook were left out.' });
  if (filled === 0) warnings.push({ code: 'no_text_found', message: 'The workbook is empty.' });
  return warnings;
}
