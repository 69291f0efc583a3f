import iconv from 'iconv-lite';

/** A font of the document: the code page of its bytes, and its name. */
export interface RtfFont {
  readonly encoding: string | null;
  readonly name: string;
}

/** Code pages by the character set that a font names. */
const CHARSETS: Readonly<Record<number, string>> = {
  0: 'windows-1252',
  77: 'macintosh',
  128: 'shift_jis',
  129: 'euc-kr',
  130: 'johab',
  134: 'gbk',
  136: 'big5',
  161: 'windows-1253',
  162: 'windows-1254',
  163: 'windows-1258',
  177: 'windows-1255',
  178: 'windows-1256',
  186: 'windows-1257',
  204: 'windows-1251',
  222: 'windows-874',
  238: 'windows-1250',
  255: 'cp437',
};

/** The code page of a character set; null where it is that of the document. */
export const encodingOfCharset = (charset: number): string | null => known(CHARSETS[charset]);

/** A code page by its number, as documents name it. */
export function encodingOfCodePage(page: number): string | null {
  if (page === 10000) return 'macintosh';
  return known(
    { 932: 'shift_jis', 936: 'gbk', 949: 'euc-kr', 950: 'big5', 65001: 'utf-8' }[page] ?? `cp${page}`,
  );
}

const known = (encoding: string | undefined): string | null =>
  encoding !== undefined && iconv.encodingExists(encoding) ? encoding : null;

/** Bytes of a code page as text. */
export const decodeBytes = (bytes: readonly number[], encoding: string): string =>
  iconv.decode(Buffer.from(bytes), encoding);
