import type { ParsedPage } from '../../recognition/liteparse.ts';
import { cleanText } from '../../document/plainText.ts';
import type { Box } from '../../document/document.ts';
import { heightOf, widthOf } from '../../layout/content.ts';
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

interface Written {
  readonly text: string;
  readonly box: Box;
}

/**
 * The words that viewers draw though the page does not: values of form fields, boxes and buttons, ticked or not, and
 * notes written on the page, where none of the page's own words lie.
 */
export function fieldWords(page: ParsedPage, own: readonly InkedWord[]): readonly InkedWord[] {
  return [...valuesOf(page), ...boxesOf(page), ...notesOf(page)]
    .filter(({ box }) => !own.some((word) => isInside(word.box, box)))
    .flatMap(wordsIn);
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

/** Line below line from the field's left edge. */
function wordsIn({ text, box }: Written): readonly InkedWord[] {
  const lines = cleanText(text)
    .split(/[\r\n]+/)
    .map((line) => line.split(/\s+/).filter((word) => word !== ''))
    .filter((line) => line.length > 0);
  const step = heightOf(box) / Math.max(1, lines.length);
  const size = Math.max(SIZE_MIN, Math.min(SIZE_MAX, SIZE_SHARE * step));
  return lines.flatMap((line, index) => {
    const [x0, y0] = [box[0], box[1] + index * step];
    const letters = line.reduce((sum, word) => sum + word.length + 1, 0);
    const letter = Math.min(size / 2, widthOf(box) / letters);
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
