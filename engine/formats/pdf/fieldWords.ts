import type { ParsedPage } from '../../recognition/liteparse.ts';
import { cleanText } from '../../document/plainText.ts';
import type { Box } from '../../document/document.ts';
import { heightOf, middleY, widthOf } from '../../layout/content.ts';
import { boxOf } from './pdfRules.ts';
import { rounded, type InkedWord } from './pdfWords.ts';

/** Kinds of form fields whose value a reader sees as text. */
const TEXT_FIELDS = new Set(['text', 'combobox', 'listbox']);
/** Kinds that are ticked or not. */
const BOXES = new Set(['checkbox', 'radio']);
/** Of the height of a field's line, as viewers draw it. */
const SIZE_SHARE = 0.7;
const SIZE_MAX = 12;
const SIZE_MIN = 4;
/** The line of the largest letters. */
const LINE_MAX = SIZE_MAX / SIZE_SHARE;

interface Written {
  readonly text: string;
  readonly box: Box;
}

/**
 * The words that viewers draw though the page does not: values of form fields, boxes and buttons, ticked or not, and
 * notes written on the page, where none of the page's own words lie.
 */
export function fieldWords(page: ParsedPage, own: readonly InkedWord[]): readonly InkedWord[] {
  const values = valuesOf(page).map((field) => besideLabel(field, own));
  return [...values, ...boxesOf(page), ...notesOf(page)]
    .filter(({ box }) => !own.some((word) => isInside(word.box, box)))
    .flatMap(wordsIn);
}

/** A field whose line stands level with the words to its left: viewers draw a value at any height of its box. */
function besideLabel({ text, box }: Written, own: readonly InkedWord[]): Written {
  const [x0, y0, x1] = box;
  const lines = linesIn({ text, box });
  const [label] = own.reduce<readonly InkedWord[]>((nearest, word) => {
    const isBeside =
      word.box[2] <= x0 &&
      middleY(word.box) > y0 &&
      middleY(word.box) < box[3] &&
      heightOf(word.box) <= lines.step;
    return isBeside && word.box[2] > (nearest[0]?.box[2] ?? -Infinity) ? [word] : nearest;
  }, []);
  if (label === undefined) return { text, box };
  const last = lines.words.length - 1;
  const line = Math.min(last, Math.max(0, Math.floor((middleY(label.box) - lines.top) / lines.step)));
  const top = label.box[3] - (line + 1) * lines.step;
  return { text, box: [x0, top, x1, top + (last + 1) * lines.step] };
}

const valuesOf = ({ formFields = [] }: ParsedPage): readonly Written[] =>
  formFields.flatMap(({ fieldType, value, rect }) =>
    value === undefined || rect === undefined || !TEXT_FIELDS.has(fieldType)
      ? []
      : [{ text: value, box: boxOf(rect) }],
  );

/** A box is as wide as it is high, whatever area answers to a click. */
const boxesOf = ({ formFields = [] }: ParsedPage): readonly Written[] =>
  formFields.flatMap(({ fieldType, checked, rect }) => {
    if (rect === undefined || !BOXES.has(fieldType)) return [];
    const side = Math.min(rect.width, rect.height);
    return [{ text: checked === true ? '☒' : '☐', box: boxOf({ ...rect, width: side }) }];
  });

const notesOf = ({ annotations = [] }: ParsedPage): readonly Written[] =>
  annotations.flatMap(({ subtype, contents, rect }) =>
    subtype !== 'freetext' || contents === undefined || rect === undefined
      ? []
      : [{ text: contents, box: boxOf(rect) }],
  );

const isInside = (word: Box, field: Box): boolean => {
  const [x, y] = [(word[0] + word[2]) / 2, (word[1] + word[3]) / 2];
  return x >= field[0] && x <= field[2] && y >= field[1] && y <= field[3];
};

interface FieldLines {
  /** Words of each line; at least one line. */
  readonly words: readonly (readonly string[])[];
  /** Points: the first line's upper edge, and the height of each. */
  readonly top: number;
  readonly step: number;
}

/**
 * The lines of a field: several from its top, one in its middle. A field of less than the height of two lines is one
 * line as high as it is.
 */
function linesIn({ text, box }: Written): FieldLines {
  const written = cleanText(text)
    .split(/[\r\n]+/)
    .map((line) => line.split(/\s+/).filter((word) => word !== ''))
    .filter((line) => line.length > 0);
  const words = written.length === 0 ? [[]] : written;
  const [height, count] = [heightOf(box), words.length];
  const step = height < 2 * LINE_MAX && count === 1 ? height : Math.min(LINE_MAX, height / count);
  return { words, step, top: count === 1 ? middleY(box) - step / 2 : box[1] };
}

/** Line below line from the field's left edge. */
function wordsIn(field: Written): readonly InkedWord[] {
  const { words: lines, top, step } = linesIn(field);
  const size = Math.max(SIZE_MIN, Math.min(SIZE_MAX, SIZE_SHARE * step));
  return lines.flatMap((line, index) => {
    const [x0, y0] = [field.box[0], top + index * step];
    const letters = line.reduce((sum, word) => sum + word.length + 1, 0);
    const letter = Math.min(size / 2, widthOf(field.box) / letters);
    let at = x0;
    return line.map((word): InkedWord => {
      const end = at + word.length * letter;
      const place = rounded([at, y0, end, y0 + step]);
      at = end + letter;
      return { ...WRITTEN, text: word, box: place, size };
    });
  });
}

const WRITTEN = {
  bold: false,
  italic: false,
  mono: false,
  link: null,
  confidence: 1,
  color: null,
  rotation: 0,
  isInvisible: false,
} as const;
