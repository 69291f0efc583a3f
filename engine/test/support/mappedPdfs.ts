import { pdfOf } from './pdfs.ts';

/** The code of a glyph, by what it means. */
export const mappedCode = (glyphs: readonly string[], meaning: string): string =>
  (glyphs.indexOf(meaning) + 65).toString(16);

const unicode = (text: string): string =>
  Array.from({ length: text.length }, (_, i) => text.charCodeAt(i).toString(16).padStart(4, '0')).join('');

/** A page of 600 x 800 points whose font says what each glyph means; the glyphs are as wide as high. */
export function mappedPdf(glyphs: readonly string[], content: string): Buffer {
  const pairs = glyphs.map((glyph) => `<${mappedCode(glyphs, glyph)}> <${unicode(glyph)}>`);
  const cmap =
    'begincmap 1 begincodespacerange <00> <ff> endcodespacerange ' +
    `${pairs.length} beginbfchar ${pairs.join('\n')} endbfchar endcmap`;
  const stream = (data: string): string => `<< /Length ${data.length} >>\nstream\n${data}\nendstream`;
  const widths = glyphs.map(() => 1000).join(' ');
  return pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R ' +
        '/Resources << /Font << /F1 5 0 R >> >> >>',
      stream(content),
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R ' +
        `/FirstChar 65 /LastChar ${64 + glyphs.length} /Widths [${widths}] >>`,
      stream(cmap),
    ],
    '',
  );
}
