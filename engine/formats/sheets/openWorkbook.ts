import { read, utils, type WorkBook, type WorkSheet } from '@e965/xlsx';
import { zipSync } from 'fflate';
import { cleanText, oneLine } from '../../document/cleanText.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import { unzip, type Archive } from '../archive.ts';
import type { OpenedDocument, Opener } from '../opened.ts';
import { boundedMembers, boundedStream } from './boundedParts.ts';
import { drawingsBySheet, type PlacedDrawing } from './drawings.ts';
import {
  CELLS_MAX,
  characterAllowance,
  DAMAGED_WORKBOOK,
  openSheets,
  TooManyCells,
  type Workbook,
} from './openSheets.ts';
import type { SheetTexts } from './sheetTables.ts';
import { xlsTextBoxes } from './xlsTextBoxes.ts';

/** Opens a workbook of Excel 2007 and later: a page for each sheet that has something to show. */
export const openXlsx: Opener = ({ bytes }) => {
  const parts = partsOf(bytes);
  if (parts.kind === 'unreadable') return Promise.resolve(parts);
  const { members } = parts;
  return Promise.resolve(
    opened('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', () =>
      workbookIn(packedAgain(members), drawingsBySheet(members), bytes.length),
    ),
  );
};

/** Opens a workbook of Excel 97 to 2003, as `openXlsx` does. */
export const openXls: Opener = ({ bytes }) =>
  Promise.resolve(
    opened('application/vnd.ms-excel', () =>
      workbookIn(boundedStream(bytes) ?? bytes, xlsTextBoxes(bytes), bytes.length),
    ),
  );

const opened = (mimeType: string, read: () => Workbook): OpenedDocument | ParseFailure =>
  openSheets({ mimeType, read, detailOf });

/** Refused when grown beyond the cap, or with a document type, which no workbook has and entity bombs need. */
function partsOf(bytes: Buffer): Archive {
  const archive = unzip(bytes, (name) => /\.(?:xml|rels|bin|vml)$/i.test(name));
  if (archive.kind === 'unreadable') return archive;
  for (const member of archive.members.values())
    if (Buffer.from(member.subarray(0, 1024)).includes('<!DOCTYPE'))
      return { kind: 'unreadable', detail: 'The workbook has a document type declaration, and is not read.' };
  return archive;
}

/**
 * The parts in an archive without compression. SheetJS unpacks every member, wanted or not, with an inflater
 * of its own, which knows no bound and does not come back from some damaged data: so it is given none to unpack.
 */
const packedAgain = (members: ReadonlyMap<string, Uint8Array>): Buffer =>
  Buffer.from(zipSync(boundedMembers(members), { level: 0 }).buffer);

/** Formulas are not computed: cells show what they were saved with. */
function workbookIn(
  bytes: Buffer,
  drawings: ReadonlyMap<string, readonly PlacedDrawing[]>,
  sentBytes: number,
): Workbook {
  const book = read(bytes, {
    dense: false,
    cellFormula: false,
    cellHTML: false,
    cellDates: true,
    sheetRows: 0,
    UTC: true,
  });
  const count = characterAllowance(sentBytes);
  const sheets = visibleSheets(book).map(({ name, sheet }) => ({
    name,
    texts: textsOf(sheet, count),
    drawings: drawings.get(name) ?? [],
  }));
  return { sheets, hasHidden: sheets.length < book.SheetNames.length };
}

const detailOf = (error: unknown): string =>
  // eslint-disable-next-line house/no-telling-errors-by-text -- SheetJS throws plain errors; becomes a ParseFailure
  error instanceof Error && /password|encrypt/i.test(error.message)
    ? 'The workbook is encrypted and needs a password. Send it without one.'
    : DAMAGED_WORKBOOK;

const visibleSheets = (book: WorkBook): readonly { readonly name: string; readonly sheet: WorkSheet }[] =>
  book.SheetNames.flatMap((name, index) => {
    const sheet = book.Sheets[name];
    const hidden = (book.Workbook?.Sheets?.[index]?.Hidden ?? 0) !== 0;
    return sheet === undefined || hidden ? [] : [{ name, sheet }];
  });

/** Only filled cells are looked at: a sheet may claim to be as large as it likes. */
function textsOf(sheet: WorkSheet, count: (characters: number) => void): SheetTexts {
  const rows = new Map<number, Map<number, string>>();
  let cells = 0;
  for (const address of Object.keys(sheet)) {
    if (address.startsWith('!')) continue;
    const text = shownText(sheet[address] as { readonly w?: string; readonly v?: unknown });
    if (text === '') continue;
    cells += 1;
    if (cells > CELLS_MAX) throw new TooManyCells();
    count(text.length + 1);
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
