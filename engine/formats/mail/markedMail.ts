import { isAscii } from 'node:buffer';
import iconv from 'iconv-lite';
import { isUtf8, legacyEncoding } from '../text/textDocument.ts';

const [NEWLINE, RETURN] = [0x0a, 0x0d];

/** A stretch of lines: headers, or what follows them up to the next part. */
interface Stretch {
  readonly isHead: boolean;
  readonly from: number;
  readonly to: number;
}

/**
 * A mail with its letters in UTF-8 where they are no ASCII and nothing says in which encoding: in headers, and in
 * texts that claim to be ASCII. Programs that wrote them so meant the encoding of their own system.
 */
export function markedMail(bytes: Uint8Array): Uint8Array {
  const mail = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!hasLetters(mail)) return bytes;
  const encoding = isUtf8(mail) ? 'utf-8' : legacyEncoding(mail);
  const told = (part: Buffer): Buffer =>
    isUtf8(part) ? part : Buffer.from(iconv.decode(part, encoding), 'utf8');
  const parts: Buffer[] = [];
  let head: Buffer = Buffer.alloc(0);
  for (const { isHead, from, to } of stretchesOf(mail)) {
    const part = mail.subarray(from, to);
    if (isHead) {
      head = told(part);
      continue;
    }
    const isUnmarked = hasLetters(part) && saysNoEncoding(head.toString('utf8'));
    parts.push(isUnmarked ? asUtf8(head) : head, isUnmarked ? told(part) : part);
    head = Buffer.alloc(0);
  }
  return Buffer.concat([...parts, head]);
}

const hasLetters = (bytes: Buffer): boolean => !isAscii(bytes);

const CHARSET = /;\s*charset\s*=\s*"?([\w:.-]{1,40})"?/i;
const ASCII = /^(?:us-ascii|ascii|ansi_x3\.4-1968|unknown-8bit|unknown|default|x-unknown)$/i;

/** Whether headers are of a text whose bytes stand as they are, in no encoding that is named. */
function saysNoEncoding(head: string): boolean {
  const type = /^content-type:\s*([\w/+.-]{1,80})/im.exec(head)?.[1]?.toLowerCase() ?? 'text/plain';
  const isPlain = !/^content-transfer-encoding:\s*(?:base64|quoted-printable)/im.test(head);
  const [, charset] = CHARSET.exec(head) ?? [];
  return type.startsWith('text/') && isPlain && (charset === undefined || ASCII.test(charset));
}

function asUtf8(head: Buffer): Buffer {
  const text = head.toString('utf8');
  if (CHARSET.test(text)) return Buffer.from(text.replace(CHARSET, '; charset=utf-8'), 'utf8');
  const typed = text.replace(/^(content-type:\s*[\w/+.-]{1,80})/im, '$1; charset=utf-8');
  return Buffer.from(typed, 'utf8');
}

/** Heads and bodies in turn. A line of a boundary that headers named begins a part. */
function stretchesOf(mail: Buffer): readonly Stretch[] {
  const stretches: Stretch[] = [];
  const boundaries = new Set<string>();
  let isHead = true;
  let from = 0;
  for (const line of linesOf(mail)) {
    const isEnd = isHead ? line.to === line.from : isBoundary(mail.subarray(line.from, line.to), boundaries);
    if (!isEnd) continue;
    stretches.push({ isHead, from, to: line.next });
    if (isHead) addBoundaries(mail.toString('latin1', from, line.next), boundaries);
    from = line.next;
    isHead = !isHead;
  }
  return from < mail.length ? [...stretches, { isHead, from, to: mail.length }] : stretches;
}

/** A line without its end, and where the next one begins. */
interface MailLine {
  readonly from: number;
  readonly to: number;
  readonly next: number;
}

function* linesOf(mail: Buffer): Generator<MailLine> {
  for (let from = 0; from < mail.length;) {
    const newline = mail.indexOf(NEWLINE, from);
    const to = newline < 0 ? mail.length : newline;
    const next = newline < 0 ? mail.length : newline + 1;
    yield { from, to: to > from && mail[to - 1] === RETURN ? to - 1 : to, next };
    from = next;
  }
}

const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"\n]{1,100})"|([^\s;"]{1,100}))/gi;

function addBoundaries(head: string, boundaries: Set<string>): void {
  for (const [, quoted, plain = ''] of head.matchAll(BOUNDARY)) boundaries.add(quoted ?? plain);
}

const BOUNDARY_MAX = 120;
const DASHES = 0x2d2d;

const isBoundary = (line: Buffer, boundaries: ReadonlySet<string>): boolean =>
  line.length > 2 &&
  line.length <= BOUNDARY_MAX &&
  line.readUInt16BE(0) === DASHES &&
  boundaries.has(line.toString('latin1', 2).trimEnd());
