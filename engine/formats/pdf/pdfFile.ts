import { parseFile, type ParseConfig, type ParseResult } from '../../recognition/liteparse.ts';
import { soundPdf } from './soundPdf.ts';

/** A PDF, and what opens it where it is encrypted. */
export interface PdfFile {
  /** For the parser. */
  readonly bytes: Buffer;
  /** As they were sent, from their header. */
  readonly sent: Buffer;
  readonly password?: string | undefined;
}

/** The file that begins at the header in `bytes`: places in it are counted from there. */
export function pdfFileOf(bytes: Buffer, password?: string): PdfFile {
  const sent = bytes.subarray(Math.max(0, bytes.indexOf('%PDF-')));
  return { bytes: soundPdf(sent), sent, password };
}

/** Looks at a PDF once; what the look is for is in `config`. Throws plain errors of the library. */
export const parsePdf = ({ bytes, password }: PdfFile, config: ParseConfig): Promise<ParseResult> =>
  parseFile(bytes, { ...config, ...(password !== undefined && { password }) });

/** Reads pages by their numbers, which rise. */
export const only = (numbers: readonly number[]): ParseConfig => {
  const last = numbers.at(-1) ?? 1;
  return numbers.length === last ? { maxPages: last } : { maxPages: last, targetPages: numbers.join(',') };
};
