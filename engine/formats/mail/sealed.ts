import { unzlibSync } from 'fflate';

/*
 * Envelopes of signed, compressed and encrypted files: Cryptographic Message Syntax (RFC 5652), as S/MIME and `.p7m`
 * files use it, in binary or as base64. Signatures are not checked: whoever trusts one checks the file itself.
 */

/** Kinds of content by their object identifiers, as bytes in hexadecimal digits. */
const SIGNED = '2a864886f70d010702';
const COMPRESSED = '2a864886f70d0109100109';
const ENCRYPTED: ReadonlySet<string> = new Set([
  '2a864886f70d010703',
  '2a864886f70d010706',
  '2a864886f70d0109100117',
]);

const [OBJECT_ID, OCTETS, SEQUENCE, CONTENT] = [0x06, 0x04, 0x30, 0xa0];
const DEPTH_MAX = 16;
const NODES_MAX = 200_000;
const INFLATED_MAX = 64 * 1024 * 1024;

interface Node {
  readonly tag: number;
  /** Without its head. */
  readonly from: number;
  readonly to: number;
  /** Where the next one begins. */
  readonly end: number;
}

interface Within {
  readonly limit: number;
  /** Of nodes without a length, one in another. */
  readonly depth?: number;
}

/** A node at a place; of one without a length, its end is that of the nodes in it. Throws `RangeError`. */
function nodeAt(bytes: Buffer, at: number, { limit, depth = 0 }: Within): Node {
  if (at + 2 > limit || depth > DEPTH_MAX) throw new RangeError('an envelope is cut short');
  const tag = bytes.readUInt8(at);
  const short = bytes.readUInt8(at + 1);
  if (short === 0x80) {
    let next = at + 2;
    while (bytes.readUInt16BE(next) !== 0) next = nodeAt(bytes, next, { limit, depth: depth + 1 }).end;
    return { tag, from: at + 2, to: next, end: next + 2 };
  }
  const more = short < 0x80 ? 0 : short - 0x80;
  if (more > 4) throw new RangeError('an envelope is larger than any file');
  const length = more === 0 ? short : bytes.readUIntBE(at + 2, more);
  const from = at + 2 + more;
  if (from + length > limit) throw new RangeError('an envelope is cut short');
  return { tag, from, to: from + length, end: from + length };
}

function childrenOf(bytes: Buffer, { from, to }: Node): readonly Node[] {
  const nodes: Node[] = [];
  for (let at = from; at < to;) {
    if (nodes.length >= NODES_MAX)
      throw new RangeError('an envelope has more pieces than any program writes');
    const node = nodeAt(bytes, at, { limit: to });
    nodes.push(node);
    at = node.end;
  }
  return nodes;
}

/** Bytes in one piece or in several. */
function octetsOf(bytes: Buffer, node: Node, depth = 0): Buffer {
  if (node.tag === OCTETS || depth > DEPTH_MAX) return bytes.subarray(node.from, node.to);
  return Buffer.concat(childrenOf(bytes, node).map((piece) => octetsOf(bytes, piece, depth + 1)));
}

const identifierOf = (bytes: Buffer, node: Node | undefined): string =>
  node?.tag === OBJECT_ID ? bytes.toString('hex', node.from, node.to) : '';

/** A kind of content and the node around it. */
function contentIn(bytes: Buffer, node: Node): { readonly kind: string; readonly content: Node | undefined } {
  const [kind, content] = childrenOf(bytes, node);
  return { kind: identifierOf(bytes, kind), content: content?.tag === CONTENT ? content : undefined };
}

const HEAD_BYTES = 64;

/** Whether bytes begin as such an envelope does. */
export function isEnvelope(bytes: Buffer): boolean {
  const head = bytes.subarray(0, HEAD_BYTES);
  if (head[0] !== SEQUENCE) return false;
  const text = head.toString('hex');
  return [SIGNED, COMPRESSED, ...ENCRYPTED].some((kind) =>
    text.includes(`06${(kind.length / 2).toString(16).padStart(2, '0')}${kind}`),
  );
}

const BASE64_HEAD = /^(?:-----BEGIN (?:PKCS7|CMS|PKCS #7 SIGNED DATA)-----\s+)?MI[A-Za-z0-9+/]{20}/;

/** An envelope in binary, also of one that is written in base64; undefined where the bytes are none. */
export function envelopeIn(bytes: Buffer): Buffer | undefined {
  if (isEnvelope(bytes)) return bytes;
  if (!BASE64_HEAD.test(bytes.toString('latin1', 0, HEAD_BYTES * 2).trimStart())) return undefined;
  const plain = Buffer.from(bytes.toString('latin1').replace(/-----[^-\n]{1,64}-----/g, ''), 'base64');
  return isEnvelope(plain) ? plain : undefined;
}

/** The file in an envelope; undefined where it holds none, as a signature beside its file does. */
export function contentOfEnvelope(envelope: Buffer): Buffer | 'encrypted' | undefined {
  try {
    return openedEnvelope(envelope);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function openedEnvelope(envelope: Buffer): Buffer | 'encrypted' | undefined {
  const { kind, content } = contentIn(envelope, nodeAt(envelope, 0, { limit: envelope.length }));
  if (ENCRYPTED.has(kind)) return 'encrypted';
  if (content === undefined) return undefined;
  const [body] = childrenOf(envelope, content);
  if (body === undefined) return undefined;
  const inner = childrenOf(envelope, body).find(
    (node) => node.tag === SEQUENCE && hasKind(envelope, node, kind),
  );
  const held = inner === undefined ? undefined : contentIn(envelope, inner).content;
  const [octets] = held === undefined ? [] : childrenOf(envelope, held);
  if (octets === undefined) return undefined;
  const bytes = octetsOf(envelope, octets);
  return kind === COMPRESSED ? inflated(bytes) : bytes;
}

/** The content's own description names data; the algorithm of compression stands before it in the same form. */
const hasKind = (bytes: Buffer, node: Node, kind: string): boolean => {
  const { content } = contentIn(bytes, node);
  return content !== undefined || kind === SIGNED;
};

function inflated(bytes: Buffer): Buffer | undefined {
  try {
    const out = Buffer.alloc(Math.min(INFLATED_MAX, bytes.length * 100 + 1024));
    return Buffer.from(unzlibSync(bytes, { out }));
  } catch {
    return undefined;
  }
}

/** Headers of a part of a mail. */
const MIME_HEAD =
  /^(?:mime-version|content-[a-z-]{2,30}):[^\n]*\n(?:(?:[a-z][a-z-]{2,40}:|[ \t])[^\n]*\n)*\r?\n/i;
const MIME_HEAD_MAX = 16 * 1024;

/**
 * The part of a mail that an attached file seals (S/MIME), in an envelope or, as some programs keep it, as it
 * travelled; undefined where the file is any other.
 */
export function sealedContent(attached: {
  readonly bytes: Buffer;
  readonly name: string | null;
}): Buffer | 'encrypted' | undefined {
  const envelope = envelopeIn(attached.bytes);
  const content = envelope === undefined ? attached.bytes : contentOfEnvelope(envelope);
  if (content === undefined || content === 'encrypted') return content;
  if (envelope === undefined && !/\.p7m$/i.test(attached.name ?? '')) return undefined;
  return isMailPart(content) ? content : undefined;
}

/** Whether bytes begin with the headers of a part of a mail. */
export const isMailPart = (bytes: Buffer): boolean =>
  MIME_HEAD.test(bytes.toString('latin1', 0, MIME_HEAD_MAX));
