import iconv from 'iconv-lite';
import { ownMember } from '../../kernel/json.ts';
import type { Role } from '../pieces/blocks.ts';
import { roleOfName } from '../office/styleNames.ts';
import { symbolSign } from '../office/symbols.ts';

/** A font of the document: the code page of its bytes, and its name. */
interface RtfFont {
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
const encodingOfCharset = (charset: number): string | null => known(CHARSETS[charset]);

/** A code page by its number, as documents name it. */
function encodingOfCodePage(page: number): string | null {
  if (page === 10000) return 'macintosh';
  return known(
    { 932: 'shift_jis', 936: 'gbk', 949: 'euc-kr', 950: 'big5', 65001: 'utf-8' }[page] ?? `cp${page}`,
  );
}

const known = (encoding: string | undefined): string | null =>
  encoding !== undefined && iconv.encodingExists(encoding) ? encoding : null;

/** Bytes of a code page as text. */
const decodeBytes = (bytes: readonly number[], encoding: string): string =>
  iconv.decode(Buffer.from(bytes), encoding);

interface Style {
  name: string;
  outline: number | null;
  base: number | null;
}

interface FontEntry {
  encoding: string | null;
  name: string;
}

type Table = 'fonts' | 'styles' | 'colours';

/** The tables at the head of a file: its fonts, its styles and its colours. */
export interface RtfHead {
  /** Takes in a word of the font table or the style sheet. */
  word(table: Table, word: string, value: number | null): void;
  /** Takes in a piece of a name there; a semicolon ends an entry. */
  name(table: Table, text: string): void;
  /** Sets the code page of the document by a word of its head; false where it is none. */
  codePage(word: string, value: number | null): boolean;
  /** Text of bytes in the code page of a font. */
  decode(bytes: readonly number[], font: number | null): string;
  /** A character by its Unicode number; those of symbol fonts lie in the private area. */
  character(code: number, font: number | null): string;
  roleOf(style: number | null): Role;
  /** Whether the colour of that number is white. */
  isWhite(colour: number): boolean;
}

const DEFAULT_FONT_CHARSET = 2;
const CHAIN_MAX = 32;
const CODE_PAGES: Readonly<Record<string, string>> = { mac: 'macintosh', pc: 'cp437', pca: 'cp850' };

/** The head of a file, at first empty. */
export function rtfHead(): RtfHead {
  const fonts = new Map<number, FontEntry>();
  const styles = new Map<number, Style>();
  let font: FontEntry = { encoding: null, name: '' };
  let style: Style = { name: '', outline: null, base: null };
  let encoding = 'windows-1252';
  let firstFont: number | null = null;
  const colours = colourTable();
  const fontAt = (number: number | null): RtfFont | undefined => fonts.get(number ?? firstFont ?? -1);
  const fontWord = (word: string, value: number): void => {
    if (word === 'f') fonts.set(value, (font = { encoding: null, name: '' }));
    if (word === 'fcharset' && value !== DEFAULT_FONT_CHARSET) font.encoding = encodingOfCharset(value);
    if (word === 'cpg') font.encoding = encodingOfCodePage(value) ?? font.encoding;
  };
  const styleWord = (word: string, value: number): void => {
    if (word === 's') styles.set(value, (style = { name: '', outline: null, base: null }));
    if (word === 'outlinelevel') style.outline = value;
    if (word === 'sbasedon') style.base = value;
  };
  return {
    word: (table, word, value) => {
      if (table === 'colours') colours.word(word, value ?? 0);
      else (table === 'fonts' ? fontWord : styleWord)(word, value ?? 0);
    },
    name: (table, text) => {
      if (table === 'colours') {
        colours.text(text);
        return;
      }
      const entry = table === 'fonts' ? font : style;
      entry.name += text.split(';', 1)[0] ?? '';
      if (!text.includes(';')) return;
      font = { encoding: null, name: '' };
      style = { name: '', outline: null, base: null };
    },
    codePage: (word, value) => {
      if (word === 'deff') firstFont = value;
      const page = word === 'ansicpg' ? encodingOfCodePage(value ?? 1252) : ownMember(CODE_PAGES, word);
      if (typeof page === 'string') encoding = page;
      return word === 'deff' || page !== undefined;
    },
    decode: (bytes, number) => {
      const used = fontAt(number);
      if (used !== undefined && SYMBOL_FONT.test(used.name))
        return bytes.map((code) => symbolSign(used.name, code)).join('');
      return decodeBytes(bytes, used?.encoding ?? encoding);
    },
    character: (code, number) =>
      code >= 0xe000 && code <= 0xf8ff
        ? symbolSign(fontAt(number)?.name ?? '', code)
        : String.fromCharCode(code),
    roleOf: (number) => roleOfChain(styles, number),
    isWhite: colours.isWhite,
  };
}

const FULL = 255;

/** Colours by their numbers; the first one, which says nothing, is what the reader takes. */
function colourTable() {
  const whites = new Set<number>();
  let number = 0;
  let shares = 0;
  return {
    word: (word: string, value: number): void => {
      if (/^(?:red|green|blue)$/.test(word) && value === FULL) shares += 1;
    },
    text: (text: string): void => {
      for (const sign of text) {
        if (sign !== ';') continue;
        if (shares === 3) whites.add(number);
        number += 1;
        shares = 0;
      }
    },
    isWhite: (colour: number): boolean => whites.has(colour),
  };
}

const SYMBOL_FONT = /^\s*(?:symbol|wingdings)/i;

function roleOfChain(styles: ReadonlyMap<number, Style>, from: number | null): Role {
  let style = from === null ? undefined : styles.get(from);
  for (let step = 0; style !== undefined && step < CHAIN_MAX; step += 1) {
    const named = roleOfName(style.name);
    if (named !== undefined && named.kind !== 'heading') return named;
    if (style.outline !== null && style.outline < 9) return { kind: 'heading', level: style.outline + 1 };
    if (named !== undefined) return named;
    style = style.base === null ? undefined : styles.get(style.base);
  }
  return { kind: 'paragraph' };
}
