import WIDTHS from './standardWidths.json' with { type: 'json' };

/** The widths of a font that every viewer has and no file needs to say: those of ASCII, from the space on. */
export function standardWidths(name: string): (code: number) => number {
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
