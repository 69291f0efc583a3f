import type { Block, DocumentPage, DocumentWarning, Line } from '../../document/document.ts';
import { escapeText } from '../../document/inline.ts';
import { isOverfull, PAGE_CHARACTERS_MAX, pagesOf } from '../../document/pages.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import { linesOfBlock, markupPage } from '../flow.ts';
import type { OpenedDocument } from '../opened.ts';
import { RefusedDocument } from '../pieces/blocks.ts';
import type { PlacedDrawing } from './drawings.ts';
import { sheetLines } from './sheetLines.ts';
import { sheetBlocks, type SheetTexts } from './sheetTables.ts';

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
}

interface Opening {
  readonly mimeType: string;
  readonly read: () => Workbook;
  /** The sentence for what else than a refusal `read` threw: the file is to blame. */
  readonly detailOf: (error: unknown) => string;
}

/** Opens what `read` gives, with a page for each sheet that has something to show. */
export function openSheets({ mimeType, read, detailOf }: Opening): OpenedDocument | ParseFailure {
  try {
    const { sheets, hasHidden } = read();
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
    const warnings = warningsOf(hasHidden, filled.length);
    return {
      kind: 'open',
      mimeType,
      pages,
      read: () => Promise.resolve({ kind: 'ok', document: { mimeType, pages: shown, warnings } }),
    };
  } catch (error) {
    const detail = error instanceof RefusedDocument ? error.message : detailOf(error);
    return { kind: 'unreadable', detail };
  }
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

const HIDDEN_SHEETS: DocumentWarning = {
  code: 'hidden_text',
  message: 'Sheets that are hidden in the workbook were left out.',
};
const EMPTY: DocumentWarning = { code: 'no_text_found', message: 'The workbook is empty.' };
