import chardet from 'chardet';
import iconv from 'iconv-lite';
import { cleanText } from '../../document/plainText.ts';
import type { Block, Document } from '../../document/document.ts';
import { escapeText } from '../../document/inline.ts';
import { charactersIn } from '../../document/pages.ts';
import { flowDocument } from '../pieces/flow.ts';
import alphabets from './alphabets.json' with { type: 'json' };

const SAMPLE_BYTES = 64 * 1024;

/** The text of a file, or undefined when its bytes are not text in any encoding we know. */
export function decodeText(bytes: Uint8Array): string | undefined {
  const text = decodeRaw(bytes);
  return text === undefined || looksBinary(text) ? undefined : cleanText(text);
}

function decodeRaw(bytes: Uint8Array): string | undefined {
  const marked = byteOrderMark(bytes);
  if (marked !== undefined) return decodeStrictly(bytes, marked);
  const wide = wideEncoding(bytes);
  if (wide !== undefined) return decodeStrictly(bytes, wide);
  if (bytes.subarray(0, SAMPLE_BYTES).includes(0)) return undefined;
  return decodeStrictly(bytes, 'utf-8') ?? decodeLegacy(bytes);
}

/** Whether the bytes begin like marked text; UTF-16's mark is also how some sound files begin. */
export const hasByteOrderMark = (bytes: Uint8Array): boolean =>
  byteOrderMark(bytes) !== undefined && decodeText(bytes) !== undefined;

export const isUtf8 = (bytes: Uint8Array): boolean => decodeStrictly(bytes, 'utf-8') !== undefined;

function byteOrderMark(bytes: Uint8Array): string | undefined {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  return undefined;
}

/** UTF-16 without a mark: in most scripts' text, nearly every other byte is zero. */
function wideEncoding(bytes: Uint8Array): string | undefined {
  const sample = bytes.subarray(0, 4096);
  const zeros = [0, 0];
  sample.forEach((byte, i) => {
    if (byte === 0) zeros[i % 2] = (zeros[i % 2] ?? 0) + 1;
  });
  const [even = 0, odd = 0] = zeros;
  const most = sample.length * 0.3;
  if (odd > most && even < odd / 20) return 'utf-16le';
  if (even > most && odd < even / 20) return 'utf-16be';
  return undefined;
}

function decodeStrictly(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function decodeLegacy(bytes: Uint8Array): string | undefined {
  const guesses = chardet.analyse(bytes.subarray(0, SAMPLE_BYTES)).map(({ name }) => name);
  const encoding = narrowEncoding(bytes, guesses);
  if (!iconv.encodingExists(encoding)) return undefined;
  const text = decodedBy(encoding, bytes);
  return letterShare(text) >= SURE_LETTERS ? text : (decodeWide(bytes, guesses) ?? text);
}

/** What bytes that are no UTF-8 are most likely encoded in, by a name that iconv knows. */
export const legacyEncoding = (bytes: Uint8Array): string =>
  narrowEncoding(
    bytes,
    chardet.analyse(bytes.subarray(0, SAMPLE_BYTES)).map(({ name }) => name),
  );

const decodedBy = (encoding: string, bytes: Uint8Array): string =>
  iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), encoding);

/** The letters beyond ASCII that a language has, by the encoding of its systems. */
const ALPHABETS: ReadonlyMap<string, readonly ReadonlySet<string>[]> = new Map(
  Object.entries(alphabets).map(([encoding, letters]) => [encoding, letters.map((own) => new Set(own))]),
);
/** What standards' encodings are on the systems that texts come from: the same letters, and more. */
const SYSTEMS: ReadonlyMap<string, string> = new Map([
  ['ISO-8859-1', 'windows-1252'],
  ['UTF-8', 'windows-1252'],
  ['ISO-8859-9', 'windows-1254'],
]);
/** Guesses that say no more than that the letters are Latin; each is the same as one with an alphabet, or less. */
const LATIN = /^(?:UTF-8|ASCII|ISO-8859-(?:1|2|9)|windows-125[0247])$/;

/**
 * The guess, and of Latin letters the encoding in which the letters are those of one language: frequencies, which
 * guesses are made by, say little of a table's few words.
 */
function narrowEncoding(bytes: Uint8Array, [guess = 'windows-1252', ...others]: readonly string[]): string {
  if (!LATIN.test(guess)) return guess;
  const order = [guess, ...others].map((name) => SYSTEMS.get(name) ?? name.toLowerCase());
  const rank = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const judged = [...ALPHABETS].map(([name, own]) => ({
    name,
    share: knownShare(decodedBy(name, sample), own),
  }));
  const most = Math.max(...judged.map(({ share }) => share));
  const best = judged.filter(({ share }) => share === most).sort((a, b) => rank(a.name) - rank(b.name));
  return best[0]?.name ?? 'windows-1252';
}

/** A sign in a word that is no letter: the sign of another encoding. */
const SIGN_IN_WORD = /(?<=\p{L})[¡¿£¥¼½¾¤¦§©«¬®¯°±´µ¶·¸»×÷](?=\p{L})|[¹²³£¥¼½¾](?=\p{L})|(?<=\p{Ll})\p{Lu}/gu;

/** The share of what is not ASCII in words that one of the languages knows. */
function knownShare(text: string, alphabetsOf: readonly ReadonlySet<string>[]): number {
  const letters =
    text
      .toLowerCase()
      .match(/[\u0080-\uffff]/g)
      ?.filter((sign) => /[\p{L}\p{M}]/u.test(sign)) ?? [];
  const odd = text.match(SIGN_IN_WORD)?.filter((sign) => sign > '\u007f').length ?? 0;
  if (letters.length + odd === 0) return 1;
  const known = alphabetsOf.map((own) => letters.filter((letter) => own.has(letter)).length);
  return Math.max(...known) / (letters.length + odd);
}

/** Encodings with two bytes a letter, which short texts are seldom recognised by. */
const WIDE = new Set(['Shift_JIS', 'EUC-JP', 'ISO-2022-JP', 'Big5', 'GB18030', 'EUC-KR']);
/** In a text that was decoded rightly at least this share of what is not ASCII are letters. */
const SURE_LETTERS = 0.6;

/** The likeliest encoding of two bytes a letter in which the bytes are nothing but letters. */
const decodeWide = (bytes: Uint8Array, guesses: readonly string[]): string | undefined =>
  guesses
    .filter((name) => WIDE.has(name))
    .map((name) => decodeStrictly(bytes, name.toLowerCase()))
    .find((text) => text !== undefined && letterShare(text) > 0.9);

function letterShare(text: string): number {
  const others = text.slice(0, SAMPLE_BYTES).match(/[^\u0000-\u007f]/gu) ?? [];
  const letters = others.filter((sign) => /[\p{L}\p{M}\u3000-\u303f\uff00-\uffef]/u.test(sign));
  return others.length === 0 ? 1 : letters.length / others.length;
}

/** More than 1 in 50 control or replacement characters: no person wrote that. */
function looksBinary(text: string): boolean {
  const sample = text.slice(0, SAMPLE_BYTES);
  const odd = sample.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f-\u009f\ufffd]/g)?.length ?? 0;
  return odd * 50 > sample.length;
}

/** Plain text as blocks: a blank line parts paragraphs, and each line stays a line. */
export function textBlocks(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let paragraph: string[] = [];
  const flush = (): void => {
    if (paragraph.length > 0) blocks.push(paragraphOf(paragraph.join('\n')));
    paragraph = [];
  };
  for (const line of text.split('\n')) {
    if (line.trim() === '') flush();
    else paragraph.push(line.trimEnd());
  }
  flush();
  return blocks;
}

/** Plain text on its pages. */
export const textDocument = (text: string): Document =>
  flowDocument({ mimeType: 'text/plain', blocks: textBlocks(text), characters: charactersIn(text) });

const paragraphOf = (text: string): Block => ({
  kind: 'paragraph',
  text,
  markdown: escapeText(text),
  box: null,
});
