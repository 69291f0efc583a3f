import { LiteParse, type LiteParseConfig, type ParseResult } from '@llamaindex/liteparse';

/** A PDF, and what opens it where it is encrypted. */
export interface PdfFile {
  readonly bytes: Buffer;
  readonly password?: string | undefined;
}

/** Looks at a PDF once; what the look is for is in `config`. Throws plain errors of the library. */
export const parsePdf = (
  { bytes, password }: PdfFile,
  config: Partial<LiteParseConfig>,
): Promise<ParseResult> =>
  new LiteParse({ ...config, ...(password !== undefined && { password }) }).parse(bytes);

/** Reads pages by their numbers, which rise. */
export const only = (numbers: readonly number[]): Partial<LiteParseConfig> => {
  const last = numbers.at(-1) ?? 1;
  return numbers.length === last ? { maxPages: last } : { maxPages: last, targetPages: numbers.join(',') };
};
