/** What a font's name tells of its letters. */
export interface FontLook {
  readonly face: string;
  readonly bold: boolean;
  readonly italic: boolean;
  readonly mono: boolean;
}

/** Styles as makers of fonts write them: in full, in TeX's names, and short after a hyphen. */
const BOLD = /bold|black|heavy|semib|demi|^(?:cm|sf|ec)\w{0,3}bx|medi(?:ital)?$/i;
const SHORT_BOLD = /[-,](?:X?Bd|Blk|Hv)/;
const ITALIC = /ital|obliq|slant|^(?:cm|sf|ec)\w{0,3}(?:ti|sl)\d/i;
const SHORT_ITALIC = /[-,]\w{0,12}It$/;
const MONO = /mono|courier|consol|menlo|typewriter|cmtt|sftt/i;
/** Names that programs make up: of the fonts behind them the weight alone is known. */
const MADE_UP = /^(?:CIDFont.*|[A-Za-z_]{0,4}\d\w*)?$/;

/**
 * How the letters of a font look. A name says its style, and without one it is the plain style of its family: the
 * weight is counted from the width of stems, and plain faces of many families have that of bold ones.
 */
export function fontLook(name: string, weight = 0): FontLook {
  const face = name.replace(/^[A-Z]{6}\+/, '');
  const isHeavy = MADE_UP.test(face) && weight >= 600 && weight <= 1000;
  return {
    face,
    bold: BOLD.test(face) || SHORT_BOLD.test(face) || isHeavy,
    italic: ITALIC.test(face) || SHORT_ITALIC.test(face),
    mono: MONO.test(face),
  };
}
