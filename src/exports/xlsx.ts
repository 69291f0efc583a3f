import { setImmediate as nextTurn } from 'node:timers/promises';
import { Zip, ZipDeflate } from 'fflate';

/** A workbook as the media type names it. */
export const XLSX_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** A value of a cell. A text that is a date or an instant is written as one. */
export type CellValue = string | number | boolean | null;

/** A sheet whose rows are made while it is written. */
export interface Sheet {
  /** Wished: what no sheet may be called is changed. */
  readonly name: string;
  /** The rows that stay in sight: 1 for a line of names. */
  readonly headerRows: number;
  readonly rows: () => AsyncIterable<readonly CellValue[]> | Iterable<readonly CellValue[]>;
}

/** Excel opens no file with more. */
export const SHEET_ROWS_MAX = 1_048_576;
const CELL_CHARACTERS_MAX = 32_767;
const NAME_CHARACTERS_MAX = 31;
/** Characters of a sheet that are compressed at once. */
const PIECE_CHARS = 65_536;

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const TYPES = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** Styles by their place in `cellXfs`. */
const STYLE = { head: 1, date: 2, instant: 3 } as const;
const STYLES =
  `${HEAD}<styleSheet xmlns="${MAIN}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>` +
  '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>' +
  '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>' +
  '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>' +
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>' +
  '</fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
  '<cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>' +
  '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>' +
  '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>' +
  '<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs></styleSheet>';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Control characters and lone surrogates, which XML has no place for, are written as Excel writes them. */
const escaped = (text: string): string =>
  text
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replace(/[&<>"]/g, (mark) => ENTITIES[mark] ?? mark)
    .replace(
      /[\u0000-\u0008\u000b-\u001f\ufffe\uffff\p{Surrogate}]/gu,
      (mark) => `_x${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    );

/** No half of a pair at the cut. */
const cut = (text: string): string =>
  text.length <= CELL_CHARACTERS_MAX
    ? text
    : `${text.slice(0, CELL_CHARACTERS_MAX - 1).replace(/[\ud800-\udbff]$/, '')}…`;

const columnName = (column: number): string => {
  let name = '';
  for (let left = column + 1; left > 0; left = Math.floor((left - 1) / 26))
    name = String.fromCharCode(65 + ((left - 1) % 26)) + name;
  return name;
};

const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)?$/;
const DAY_MS = 86_400_000;
/** Day 0. Spreadsheets differ in days before March 1900: Excel counts a leap day that was none. */
const EPOCH_MS = Date.UTC(1899, 11, 30);
const FIRST_MS = Date.UTC(1900, 2, 1);

/** A date, or an instant in UTC, as the number that spreadsheets count it by. */
const dayOf = (text: string): number | undefined => {
  if (!DATE.test(text)) return undefined;
  const ms = Date.parse(text);
  // 30 February is parsed as 1 March.
  const isDate =
    !Number.isNaN(ms) && ms >= FIRST_MS && new Date(ms).toISOString().startsWith(text.slice(0, 19));
  return isDate ? (ms - EPOCH_MS) / DAY_MS : undefined;
};

const textCell = (at: string, text: string, style: string): string =>
  `<c r="${at}"${style} t="inlineStr"><is><t xml:space="preserve">${escaped(cut(text))}</t></is></c>`;

const numberCell = (at: string, value: number, style: string): string =>
  Number.isFinite(value)
    ? `<c r="${at}"${style}><v>${String(value)}</v></c>`
    : textCell(at, String(value), style);

const cellXml = (value: CellValue | undefined, at: string, isHead: boolean): string => {
  if (value === null || value === undefined) return '';
  const style = isHead ? ` s="${String(STYLE.head)}"` : '';
  if (typeof value === 'boolean') return `<c r="${at}"${style} t="b"><v>${value ? '1' : '0'}</v></c>`;
  if (typeof value === 'number') return numberCell(at, value, style);
  const day = isHead ? undefined : dayOf(value);
  if (day === undefined) return textCell(at, value, style);
  return `<c r="${at}" s="${String(value.length > 10 ? STYLE.instant : STYLE.date)}"><v>${String(day)}</v></c>`;
};

const rowXml = (cells: readonly CellValue[], number: number, isHead: boolean): string =>
  `<row r="${String(number)}">${cells
    .map((value, column) => cellXml(value, `${columnName(column)}${String(number)}`, isHead))
    .join('')}</row>`;

const paneOf = (headerRows: number): string =>
  headerRows === 0
    ? ''
    : `<sheetViews><sheetView workbookViewId="0"><pane ySplit="${String(headerRows)}" ` +
      `topLeftCell="A${String(headerRows + 1)}" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>`;

async function* sheetXml({ headerRows, rows }: Sheet): AsyncGenerator<string> {
  let text = `${HEAD}<worksheet xmlns="${MAIN}">${paneOf(headerRows)}<sheetData>`;
  let number = 0;
  for await (const row of rows()) {
    number += 1;
    if (number > SHEET_ROWS_MAX) throw new RangeError('a sheet has more rows than spreadsheets open');
    text += rowXml(row, number, number <= headerRows);
    if (text.length < PIECE_CHARS) continue;
    yield text;
    text = '';
  }
  yield `${text}</sheetData></worksheet>`;
}

/** Names as sheets may have them, each once without regard to case. */
export const sheetNames = (wished: readonly string[]): readonly string[] => {
  const taken = new Set<string>();
  return wished.map((wish) => {
    const plain = wish.replace(/[[\]:*?/\\\u0000-\u001f]/g, ' ').replace(/^[' ]+|(?<![' ])[' ]+$/g, '');
    const base = /^history$/i.test(plain) || plain === '' ? `Sheet ${plain}`.trim() : plain;
    for (let count = 1; ; count += 1) {
      const end = count === 1 ? '' : ` ${String(count)}`;
      const name = base.slice(0, NAME_CHARACTERS_MAX - end.length) + end;
      if (taken.has(name.toLowerCase())) continue;
      taken.add(name.toLowerCase());
      return name;
    }
  });
};

const partsOf = (names: readonly string[]): readonly (readonly [name: string, xml: string])[] => {
  const numbers = names.map((_, index) => String(index + 1));
  const overrides = numbers.map(
    (number) =>
      `<Override PartName="/xl/worksheets/sheet${number}.xml" ContentType="${TYPES}.worksheet+xml"/>`,
  );
  const sheets = names.map(
    (name, index) =>
      `<sheet name="${escaped(name)}" sheetId="${String(index + 1)}" r:id="r${String(index + 1)}"/>`,
  );
  const relations = numbers.map(
    (number) =>
      `<Relationship Id="r${number}" Type="${OFFICE}/worksheet" Target="worksheets/sheet${number}.xml"/>`,
  );
  const relationsXml = (all: readonly string[]): string =>
    `${HEAD}<Relationships xmlns="${PACKAGE}/relationships">${all.join('')}</Relationships>`;
  return [
    [
      '[Content_Types].xml',
      `${HEAD}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ` +
        `ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
        `<Override PartName="/xl/workbook.xml" ContentType="${TYPES}.sheet.main+xml"/>` +
        `<Override PartName="/xl/styles.xml" ContentType="${TYPES}.styles+xml"/>${overrides.join('')}</Types>`,
    ],
    [
      '_rels/.rels',
      relationsXml([`<Relationship Id="r1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/>`]),
    ],
    [
      'xl/workbook.xml',
      `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${sheets.join('')}</sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      relationsXml([...relations, `<Relationship Id="styles" Type="${OFFICE}/styles" Target="styles.xml"/>`]),
    ],
    ['xl/styles.xml', STYLES],
  ];
};

/** The same rows make the same bytes. */
const MADE = '1980-01-01T00:00:00';

/**
 * A workbook in pieces, made as fast as it is read: no more than one piece of a sheet is in memory, and others have
 * their turn between two of them.
 */
export async function* workbookPieces(sheets: readonly Sheet[]): AsyncGenerator<Uint8Array> {
  let ready: Uint8Array[] = [];
  const zip = new Zip((error, piece) => {
    if (error !== null) throw error;
    ready.push(piece);
  });
  const encoder = new TextEncoder();
  const begin = (name: string): ZipDeflate => {
    const file = new ZipDeflate(name, { level: 6 });
    file.mtime = MADE;
    zip.add(file);
    return file;
  };
  const taken = (): readonly Uint8Array[] => {
    const pieces = ready;
    ready = [];
    return pieces;
  };
  for (const [name, xml] of partsOf(sheetNames(sheets.map(({ name }) => name))))
    begin(name).push(encoder.encode(xml), true);
  for (const [index, sheet] of sheets.entries()) {
    const file = begin(`xl/worksheets/sheet${String(index + 1)}.xml`);
    for await (const xml of sheetXml(sheet)) {
      file.push(encoder.encode(xml));
      yield* taken();
      await nextTurn();
    }
    file.push(new Uint8Array(), true);
  }
  zip.end();
  yield* taken();
}
