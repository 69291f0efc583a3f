import iconv from 'iconv-lite';
import type { ParseFailure } from '../../ports/documentParser.ts';
import { RefusedDocument } from '../pieces/blocks.ts';
import type { OpenedDocument, SourceFile } from '../pieces/opened.ts';
import { decodeText } from '../text/textDocument.ts';
import { rtfOfBody } from './compressedRtf.ts';
import type { Attached, Mail } from './mail.ts';
import { openMessage } from './message.ts';

/*
 * Outlook's own form of a mail ([MS-OXTNEF]), which other programs show as an attachment `winmail.dat`: attributes one
 * after the other, of the message and then of each attachment; in some of them, properties as in a `.msg` file.
 */

const SIGNATURE = 0x223e9f78;
/** Of an attribute, before its data: its level, its name and its length; a checksum follows the data. */
const HEAD_BYTES = 9;
const CHECKSUM_BYTES = 2;
const PROPERTIES_MAX = 10_000;

const [SUBJECT, BODY, ATTACHED_NAME, ATTACHED_DATA] = [0x8004, 0x800c, 0x8010, 0x800f];
const [PROPERTIES, CODEPAGE, ATTACHED, ATTACHED_PROPERTIES] = [0x9003, 0x9007, 0x9002, 0x9005];

/** Whether bytes are a mail in this form. */
export const isTnef = (bytes: Buffer): boolean => bytes.length > 6 && bytes.readUInt32LE(0) === SIGNATURE;

/** Opens a mail that is in this form alone. */
export function openTnef(file: SourceFile): Promise<OpenedDocument | ParseFailure> {
  try {
    return openMessage(mailIn(file.bytes), file);
  } catch (error) {
    if (error instanceof RefusedDocument || error instanceof RangeError)
      return Promise.resolve({ kind: 'unreadable', detail: 'The message is damaged and cannot be read.' });
    throw error;
  }
}

interface Attribute {
  readonly name: number;
  readonly data: Buffer;
}

/** Up to the first that the file cuts short. */
function attributesOf(bytes: Buffer): readonly Attribute[] {
  const attributes: Attribute[] = [];
  let at = 6;
  while (at + HEAD_BYTES <= bytes.length) {
    const end = at + HEAD_BYTES + bytes.readUInt32LE(at + 5);
    if (end > bytes.length) break;
    attributes.push({ name: bytes.readUInt16LE(at + 1), data: bytes.subarray(at + HEAD_BYTES, end) });
    at = end + CHECKSUM_BYTES;
  }
  return attributes;
}

type Properties = ReadonlyMap<number, Buffer | string>;

/** An attachment while its attributes are read. */
interface Open {
  name: string;
  data: Buffer | undefined;
}

function mailIn(bytes: Buffer): Mail {
  const attributes = attributesOf(bytes);
  const found = (name: number): Buffer | undefined => attributes.find((one) => one.name === name)?.data;
  const codepage = found(CODEPAGE)?.readUInt32LE(0);
  const own = propertiesIn(found(PROPERTIES), codepage);
  const textOf = (property: number, name?: number): string => {
    const value = own.get(property);
    const plain = name === undefined ? undefined : found(name);
    return typeof value === 'string' ? value : decoded(plain ?? Buffer.alloc(0), codepage);
  };
  const html = own.get(0x1013);
  const rtf = own.get(0x1009);
  return {
    mimeType: 'application/vnd.ms-tnef',
    subject: textOf(0x0037, SUBJECT).trim(),
    from: [{ name: textOf(0x0c1a), address: textOf(0x5d01) }],
    to: [],
    cc: [],
    date: undefined,
    messageId: textOf(0x1035),
    html: typeof html === 'object' ? decoded(html, undefined) : (html ?? ''),
    text: textOf(0x1000, BODY),
    rtf: typeof rtf === 'object' ? rtfOfBody(rtf) : undefined,
    attachments: attachmentsIn(attributes, codepage),
  };
}

function attachmentsIn(attributes: readonly Attribute[], codepage: number | undefined): readonly Attached[] {
  const open: Open[] = [];
  for (const { name, data } of attributes) {
    if (name === ATTACHED) open.push({ name: '', data: undefined });
    const last = open.at(-1);
    if (last === undefined) continue;
    if (name === ATTACHED_NAME) last.name ||= decoded(data, codepage);
    if (name === ATTACHED_DATA) last.data = data;
    if (name === ATTACHED_PROPERTIES) takeProperties(last, propertiesIn(data, codepage));
  }
  return open.flatMap(({ name, data }) =>
    data === undefined ? [] : [{ name: name === '' ? null : name, bytes: data, mimeType: '' }],
  );
}

/** The name that was cut short elsewhere, and a message that is attached: it begins with the name of its interface. */
function takeProperties(attached: Open, own: Properties): void {
  const long = own.get(0x3707) ?? own.get(0x3001);
  if (typeof long === 'string' && long.trim() !== '') attached.name = long;
  const object = own.get(0x3701);
  if (typeof object === 'object') attached.data = isTnef(object.subarray(16)) ? object.subarray(16) : object;
}

/** A text up to its end mark. */
function decoded(bytes: Buffer, codepage: number | undefined): string {
  const encoding = `cp${String(codepage)}`;
  const text =
    codepage !== undefined && iconv.encodingExists(encoding)
      ? iconv.decode(bytes, encoding)
      : (decodeText(bytes) ?? '');
  return withoutEnd(text);
}

const withoutEnd = (text: string): string => text.split('\0', 1)[0] ?? '';

const [TEXT8, TEXT16, OBJECT, BINARY, MANY] = [0x1e, 0x1f, 0x0d, 0x102, 0x1000];
const SIZES: ReadonlyMap<number, number> = new Map([
  ...[2, 3, 4, 0x0a, 0x0b].map((type) => [type, 4] as const),
  ...[5, 6, 7, 0x14, 0x40].map((type) => [type, 8] as const),
  [0x48, 16],
]);

/** Texts and bytes by the property's id, those up to one that cannot be read; named properties are left out. */
function propertiesIn(data: Buffer | undefined, codepage: number | undefined): Properties {
  const properties = new Map<number, Buffer | string>();
  if (data === undefined || data.length < 4) return properties;
  const read = readerOn(data);
  try {
    for (let left = Math.min(read.number(), PROPERTIES_MAX); left > 0; left -= 1) {
      const head = read.number();
      const [type, id] = [head & 0xffff, head >>> 16];
      if (id >= NAMED) skipName(read);
      const value = valueIn(read, type, codepage);
      if (value !== undefined && id < NAMED) properties.set(id, value);
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return properties;
}

const NAMED = 0x8000;

/** Throws `RangeError` at the end of the data. */
function readerOn(data: Buffer) {
  let at = 0;
  const bytes = (length: number): Buffer => {
    if (at + length > data.length) throw new RangeError('a property is cut short');
    const taken = data.subarray(at, at + length);
    at += Math.ceil(length / 4) * 4;
    return taken;
  };
  return { bytes, number: () => bytes(4).readUInt32LE(0) };
}

type Reader = ReturnType<typeof readerOn>;

function skipName(read: Reader): void {
  read.bytes(16);
  const isNumber = read.number() === 0;
  const size = read.number();
  if (!isNumber) read.bytes(size);
}

/** The first value of a property that is text or bytes. */
function valueIn(read: Reader, type: number, codepage: number | undefined): Buffer | string | undefined {
  const plain = type & ~MANY;
  const size = SIZES.get(plain);
  if (size !== undefined) {
    read.bytes((type & MANY) === 0 ? size : size * read.number());
    return undefined;
  }
  if (![TEXT8, TEXT16, OBJECT, BINARY].includes(plain)) throw new RangeError('a property of no known type');
  const count = Math.min(read.number(), PROPERTIES_MAX);
  const [value] = Array.from({ length: count }, () => read.bytes(read.number()));
  if (value === undefined || plain === OBJECT || plain === BINARY) return value;
  if (plain === TEXT8) return decoded(value, codepage);
  // Whole code units: of a long text with half a one, Node 24 writes a byte beyond its memory.
  return withoutEnd(value.toString('utf16le', 0, value.length & ~1));
}
