import { nameIn, type PdfObjects } from './objects.ts';
import type { PdfDict, PdfValue } from './syntax.ts';

import WIDTHS from './standardWidths.json' with { type: 'json' };

/** The widths of a font that every viewer has and no file needs to say: those of ASCII, from the space on. */
function standardWidths(name: string): (code: number) => number {
  if (/courier/i.test(name)) return () => 600;
  const isBold = /bold/i.test(name);
  const isSlanted = /ital|obliq/i.test(name);
  const widths = /times/i.test(name) ? timesWidths(isBold, isSlanted) : sansWidths(isBold);
  return (code) => widths[code - 32] ?? 556;
}

const sansWidths = (isBold: boolean): readonly number[] => WIDTHS[isBold ? 'Helvetica-Bold' : 'Helvetica'];

function timesWidths(isBold: boolean, isSlanted: boolean): readonly number[] {
  if (isBold) return WIDTHS[isSlanted ? 'Times-BoldItalic' : 'Times-Bold'];
  return WIDTHS[isSlanted ? 'Times-Italic' : 'Times-Roman'];
}

/** A font as the contents of a page use it. */
export interface InnerFont {
  readonly name: string;
  /** How far a text goes on, in thousandths of the font's size, and how many signs and spaces it has. */
  measure(text: readonly number[]): {
    readonly width: number;
    readonly signs: number;
    readonly spaces: number;
  };
}

const CODES_MAX = 70_000;
const HALF = 500;
const WHOLE = 1000;

/** The font of a page's resources. */
export function innerFont(dict: PdfDict, objects: PdfObjects): InnerFont {
  const { entries } = dict;
  const name = nameIn(objects.get(entries.get('BaseFont')));
  return nameIn(objects.get(entries.get('Subtype'))) === 'Type0'
    ? { name, measure: wideMeasure(entries.get('DescendantFonts'), objects) }
    : { name, measure: plainMeasure(name, entries, objects) };
}

/** Fonts of one byte a sign. */
function plainMeasure(name: string, entries: PdfDict['entries'], objects: PdfObjects): InnerFont['measure'] {
  const widths = objects.list(entries.get('Widths'))?.items.map((item) => numberOr(objects.get(item), HALF));
  const first = numberOr(objects.get(entries.get('FirstChar')), 0);
  // Glyphs of Type 3 are drawn in a space of their own.
  const matrix = objects.list(entries.get('FontMatrix'))?.items[0];
  const unit = typeof matrix === 'number' ? matrix * WHOLE : 1;
  const widthOf =
    widths === undefined
      ? standardWidths(name)
      : (code: number): number => (widths[code - first] ?? HALF) * unit;
  return (text) => {
    let [width, spaces] = [0, 0];
    for (const code of text) {
      width += widthOf(code);
      if (code === 32) spaces += 1;
    }
    return { width, signs: text.length, spaces };
  };
}

/** Fonts of two bytes a sign, as nearly all composite fonts are. */
function wideMeasure(descendants: PdfValue | undefined, objects: PdfObjects): InnerFont['measure'] {
  const font = objects.dict(objects.list(descendants)?.items[0]);
  const usual = numberOr(objects.get(font?.entries.get('DW')), WHOLE);
  const widths = wideWidths(objects.list(font?.entries.get('W'))?.items ?? [], objects);
  return (text) => {
    let width = 0;
    for (let at = 0; at + 1 < text.length; at += 2)
      width += widths.get((text[at] ?? 0) * 256 + (text[at + 1] ?? 0)) ?? usual;
    return { width, signs: Math.floor(text.length / 2), spaces: 0 };
  };
}

/** `1 [500 600]` says the widths of codes from 1 on, `3 9 500` that of all from 3 to 9. */
function wideWidths(items: readonly PdfValue[], objects: PdfObjects): ReadonlyMap<number, number> {
  const widths = new Map<number, number>();
  let at = 0;
  while (at + 1 < items.length && widths.size < CODES_MAX) {
    const first = numberOr(objects.get(items[at]), 0);
    const list = objects.list(items[at + 1]);
    if (list !== undefined) {
      list.items.forEach((item, i) => widths.set(first + i, numberOr(objects.get(item), WHOLE)));
      at += 2;
    } else {
      const last = Math.min(numberOr(objects.get(items[at + 1]), first), first + CODES_MAX - widths.size);
      for (let code = first; code <= last; code += 1)
        widths.set(code, numberOr(objects.get(items[at + 2]), WHOLE));
      at += 3;
    }
  }
  return widths;
}

const numberOr = (value: PdfValue | undefined, other: number): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : other;
