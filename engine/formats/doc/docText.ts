import type { DocFile } from './docFile.ts';
import {
  characterProperties,
  numberOf,
  paragraphProperties,
  type Modifier,
  type PropertyRun,
} from './docProperties.ts';
import { eqText } from '../office/eqField.ts';
import { countsPages, PAGE_MARK } from '../pieces/letterheads.ts';
import { linkOfField, noteRun, PLAIN, plainRun, type Look, type Run } from '../pieces/runs.ts';
import { shiftedText, symbolSign } from '../office/symbols.ts';

const PLACE = 0x6a03;
/** Of a header that says where the data of a field are, after it (MS-DOC 2.9.157). */
const HEADER_LENGTH_AT = 4;
const STANDARD_RESULT = 25;
const CHECK_BOX = 1;

/**
 * Whether a check box of an old form is ticked, by the data that the character in its field points to
 * (MS-DOC 2.9.78); null where they are none of a check box.
 */
function isTicked({ data }: DocFile, modifiers: readonly Modifier[]): boolean | null {
  const place = numberOf(modifiers, PLACE);
  if (place === undefined || place + 6 > data.length) return null;
  const at = place + data.readUInt16LE(place + HEADER_LENGTH_AT);
  if (at + 12 > data.length) return null;
  const bits = data.readUInt16LE(at + 4);
  if ((bits & 3) !== CHECK_BOX) return null;
  const result = (bits >> 2) & 0x1f;
  if (result !== STANDARD_RESULT) return result === 1;
  const standardAt = at + 10 + 2 + data.readUInt16LE(at + 10) * 2 + 2;
  return standardAt + 2 <= data.length && data.readUInt16LE(standardAt) === 1;
}

/** Property modifiers (MS-DOC): the colour of a text as it is, or as a number of sixteen. */
const COLOUR = 0x6870;
const COLOUR_NUMBER = 0x2a42;
const WHITE = 0x00ffffff;
const WHITE_NUMBER = 8;
const HIGHLIGHT = 0x2a0c;
const TEXT_SHADES = [0x4866, 0xca71];
const PARAGRAPH_SHADES = [0x442d, 0xc64d];
const IN_TABLE = 0x2416;

/**
 * Whether a text is white, and nothing says that another colour is behind it. The colours of cells are said at the
 * end of their row, so of tables nothing is left out.
 */
function isWhiteOnWhite(text: readonly Modifier[], paragraph: readonly Modifier[]): boolean {
  if (numberOf(text, COLOUR) !== WHITE && numberOf(text, COLOUR_NUMBER) !== WHITE_NUMBER) return false;
  const highlight = numberOf(text, HIGHLIGHT) ?? 0;
  if (highlight !== 0 && highlight !== WHITE_NUMBER) return false;
  const isShaded = (modifiers: readonly Modifier[], codes: readonly number[]): boolean =>
    codes.some((code) => (numberOf(modifiers, code) ?? 0) !== 0);
  return (
    !isShaded(text, TEXT_SHADES) &&
    !isShaded(paragraph, PARAGRAPH_SHADES) &&
    (numberOf(paragraph, IN_TABLE) ?? 0) === 0
  );
}

/** A paragraph as the text has it, with the properties of its mark. */
export interface DocParagraph {
  readonly runs: readonly Run[];
  /** Whether its mark ends a cell or a row. */
  readonly endsCell: boolean;
  readonly properties: PropertyRun;
}

/** Reads stretches of the text. */
export interface DocText {
  paragraphs(from: number, to: number): readonly DocParagraph[];
  readonly hasHidden: () => boolean;
}

const DELETED = 0x0800;
const BOLD = 0x0835;
const ITALIC = 0x0836;
const STRIKE = 0x0837;
const HIDDEN = 0x083c;
const HALF_POINTS = 0x4a43;
const RAISED = 0x2a48;
const SYMBOL = 0x6a09;
const TINY_BELOW = 4;
/** Deeper ones are damage. */
const FIELDS_MAX = 64;

/** A field begins with its instruction; its result is what is shown. */
interface Field {
  instruction: string;
  isShown: boolean;
}

interface DocParts {
  readonly fields: Field[];
  readonly done: DocParagraph[];
  runs: Run[];
}

/** The text of a Word 97 file. `noteAt` numbers the note whose mark is the character there. */
export function docText(file: DocFile, noteAt: (cp: number) => number | null): DocText {
  const charactersAt = characterProperties(file);
  const paragraphsAt = paragraphProperties(file);
  let hasHidden = false;
  const lookAt = (modifiers: readonly Modifier[], { text, cp, fcOf }: Stretch): Look | null => {
    // What is behind text boxes and notes is said elsewhere.
    const isWhite = cp < file.lengths.body && isWhiteOnWhite(modifiers, paragraphsAt(fcOf(0)).modifiers);
    const look = isWhite ? null : lookOf(modifiers);
    if (look === null && isOn(modifiers, DELETED) !== true && text.trim() !== '') hasHidden = true;
    return look;
  };
  const paragraphs = (from: number, to: number): readonly DocParagraph[] => {
    const reading: DocParts = { fields: [], done: [], runs: [] };
    for (const stretch of stretches(file, charactersAt, { from, to })) {
      const { text, cp, fcOf } = stretch;
      const { modifiers } = charactersAt(fcOf(0));
      const look = lookAt(modifiers, stretch);
      for (const [index, part] of partsOf(text)) {
        const run = runOf(part, { cp: cp + index, look, modifiers, noteAt });
        if (/^[\r\u0007\f]$/.test(part)) endParagraph(reading, part, paragraphsAt(fcOf(index)));
        else if (isCheckBox(reading, part)) addBox(reading, isTicked(file, modifiers));
        else if (!markField(reading, part) && look !== null && run !== null)
          addRun(reading, countedBy(reading, isLetterhead(file, cp)) ?? run);
      }
    }
    if (reading.runs.length > 0) endParagraph(reading, '\r', { from: 0, to: 0, style: 0, modifiers: [] });
    return reading.done;
  };
  return { paragraphs, hasHidden: () => hasHidden };
}

interface Stretch {
  readonly text: string;
  readonly cp: number;
  readonly fcOf: (index: number) => number;
}

/** The text cut where pieces or character properties change. */
function* stretches(
  { pieces }: DocFile,
  charactersAt: (fc: number) => PropertyRun,
  { from, to }: { readonly from: number; readonly to: number },
): Generator<Stretch> {
  for (const piece of pieces) {
    let at = Math.max(0, from - piece.cp);
    const end = Math.min(piece.text.length, to - piece.cp);
    while (at < end) {
      const start = at;
      const fcOf = (index: number): number => piece.fc + (start + index) * piece.width;
      const next = Math.ceil((charactersAt(fcOf(0)).to - piece.fc) / piece.width);
      at = Math.min(end, Math.max(start + 1, next));
      yield { text: piece.text.slice(start, at), cp: piece.cp + start, fcOf };
    }
  }
}

/** Special characters by themselves, the text between them whole, each with where it begins. */
const partsOf = (text: string): readonly (readonly [number, string])[] =>
  [...text.matchAll(/[\u0000-\u0008\u000c-\u001f]|[^\u0000-\u0008\u000c-\u001f]+/g)].map((match) => [
    match.index,
    match[0],
  ]);

function endParagraph(reading: DocParts, mark: string, properties: PropertyRun): void {
  reading.done.push({ runs: reading.runs, endsCell: mark === '\u0007', properties });
  reading.runs = [];
  // An instruction does not go on past its paragraph, except in a damaged file.
  reading.fields.splice(0, reading.fields.length, ...reading.fields.filter(({ isShown }) => isShown));
  for (const field of reading.fields) field.instruction = '';
}

/** Whether the part is of a field and not shown. */
function markField(reading: DocParts, part: string): boolean {
  const { fields } = reading;
  const field = fields.at(-1);
  if (part === '\u0013') {
    if (fields.length < FIELDS_MAX) fields.push({ instruction: '', isShown: false });
  } else if (part === '\u0014') {
    if (field !== undefined) field.isShown = true;
  } else if (part === '\u0015') endField(reading);
  else if (field !== undefined && !field.isShown) field.instruction += part;
  else return fields.some(({ isShown }) => !isShown);
  return true;
}

/** An equation of the old form has no result: its instruction is what is seen. */
function endField({ fields, runs }: DocParts): void {
  const field = fields.pop();
  if (field === undefined || field.isShown || fields.some(({ isShown }) => !isShown)) return;
  const equation = eqText(field.instruction);
  if (equation !== null) runs.push(plainRun(equation));
}

/** The character that stands for a check box is in the instruction of its field. */
const isCheckBox = ({ fields }: DocParts, part: string): boolean =>
  part === '\u0001' && /^\s*FORMCHECKBOX/i.test(fields.at(-1)?.instruction ?? '');

function addBox({ runs }: DocParts, isTicked: boolean | null): void {
  if (isTicked !== null) runs.push(plainRun(isTicked ? '☒' : '☐'));
}

/** The text of headers and footers, and that of the text boxes in them. */
function isLetterhead({ lengths }: DocFile, cp: number): boolean {
  const from = lengths.body + lengths.footnotes;
  const until = from + lengths.headers;
  return cp >= from && (cp < until || cp >= until + lengths.comments + lengths.endnotes + lengths.frames);
}

/** What stands for the number of a page in a header or footer. */
const countedBy = ({ fields }: DocParts, isLetterhead: boolean): Run | undefined =>
  isLetterhead && fields.some(({ instruction }) => countsPages(instruction))
    ? plainRun(PAGE_MARK)
    : undefined;

function addRun(reading: DocParts, run: Run): void {
  const links = reading.fields.map(({ instruction }) => linkOfField(instruction));
  reading.runs.push({ ...run, link: links.findLast((link) => link !== null) ?? null });
}

interface CharacterAt {
  readonly cp: number;
  readonly look: Look | null;
  readonly modifiers: readonly Modifier[];
  readonly noteAt: (cp: number) => number | null;
}

/** Special characters as text; null where they show nothing. */
function runOf(part: string, { cp, look, modifiers, noteAt }: CharacterAt): Run | null {
  const note = noteAt(cp);
  if (note !== null) return noteRun(note);
  const symbol = numberOf(modifiers, SYMBOL);
  if (symbol !== undefined && part.length === 1)
    return { ...(look ?? PLAIN), note: null, text: symbolSign('Wingdings', symbol >>> 16) };
  const text =
    part === '\u001e' ? '-' : part.replace(/\u000b/g, '\n').replace(/[\u0000-\u0008\u000c-\u001f]/g, '');
  if (text === '') return null;
  const shift = { 1: 'super' as const, 2: 'sub' as const }[numberOf(modifiers, RAISED) ?? 0];
  return { ...(look ?? PLAIN), note: null, text: shift === undefined ? text : shiftedText(text, shift) };
}

/** How text looks; null where nobody sees it, for it is deleted, hidden or too small. */
function lookOf(modifiers: readonly Modifier[]): Look | null {
  if (isOn(modifiers, DELETED) === true || isOn(modifiers, HIDDEN) === true) return null;
  if ((numberOf(modifiers, HALF_POINTS) ?? TINY_BELOW) < TINY_BELOW) return null;
  return {
    bold: isOn(modifiers, BOLD) ?? false,
    italic: isOn(modifiers, ITALIC) ?? false,
    strike: isOn(modifiers, STRIKE) ?? false,
    link: null,
  };
}

/** 0x80 is as the style says, 0x81 the contrary. */
function isOn(modifiers: readonly Modifier[], code: number): boolean | undefined {
  const value = numberOf(modifiers, code);
  return value === undefined || value === 0x80 ? undefined : (value & 1) === 1;
}
