import { numberOf, type Modifier } from './docProperties.ts';

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
export function isWhiteOnWhite(text: readonly Modifier[], paragraph: readonly Modifier[]): boolean {
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
