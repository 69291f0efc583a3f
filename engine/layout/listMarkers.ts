/* The private letters are those of symbol fonts (Symbol, Wingdings), as word processors put before items. */
const BULLET = /^[•◦▪▫·●○■□◆◇➢➤✓✔✗∙⁃‣\uf020-\uf0ff*–—-]$/u;
const BULLET_START = /^([•◦▪▫●○■□◆◇➢➤✓✔✗∙⁃‣\uf020-\uf0ff]|[·*–-](?=\s))\s*(?=\S)/u;
/** But before the rest of a telephone number: "(605) 574-3184". */
const NUMBER_START = /^(?:(\d{1,3})[.)]|\((\d{1,3})\))\s+(?!\d{3,4}[ .-]\d{3,4}(?!\d))(?=\S)/;
const LETTER_START = /^(?:[a-z]|[ivx]{1,5})[.)]\s+(?=\S)|^\((?:[a-z]|[ivx]{1,5})\)\s+(?=\S)/;

/** Whether a text is nothing but what marks an item of a list. */
export const isMarker = (text: string): boolean =>
  BULLET.test(text) || /^(?:\(?\d{1,2}[.)]|\(?[a-z][.)])$/.test(text);

export interface Marker {
  readonly length: number;
  readonly ordered: boolean;
  readonly number: number | null;
}

/** The marker that a line begins with. Letters and roman numbers stay in the text: markdown has no such lists. */
export function markerOf(text: string): Marker | undefined {
  const bullet = BULLET_START.exec(text);
  if (bullet !== null) return { length: bullet[0].length, ordered: false, number: null };
  const number = NUMBER_START.exec(text);
  if (number !== null)
    return { length: number[0].length, ordered: true, number: Number(number[1] ?? number[2]) };
  return LETTER_START.test(text) ? { length: 0, ordered: false, number: null } : undefined;
}
