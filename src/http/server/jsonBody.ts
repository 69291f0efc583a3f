import { isUtf8 as isUtf8Bytes } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import {
  DEPTH_MAX,
  memberTwiceIn,
  membersOf,
  oddIntegersIn,
  shapeOf,
  type JsonPath,
} from './jsonAsWritten.ts';
import { Problem, problem } from '../problems.ts';

/** Requests of this service are small; schemas travel in forms. */
export const JSON_BYTES_MAX = 1_048_576;

const isJson = (contentType: string): boolean =>
  /^application\/([a-z0-9.!#$&^_-]+\+)?json\s*(;|$)/i.test(contentType.trim());

const isUtf8 = (contentType: string): boolean => {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)"?/i.exec(contentType)?.[1]?.toLowerCase();
  return charset === undefined || charset === 'utf-8' || charset === 'utf8';
};

const checkHeaders = ({ headers }: IncomingMessage): void => {
  const contentType = headers['content-type'] ?? '';
  const encoding = headers['content-encoding'] ?? 'identity';
  if (contentType === 'application/json' && encoding === 'identity') return;
  if (!isJson(contentType)) throw problem('unsupported_media_type', 'Send application/json.');
  if (!isUtf8(contentType)) throw problem('unsupported_media_type', 'JSON travels in UTF-8.');
  if (encoding !== 'identity') throw problem('unsupported_media_type', 'Send the body uncompressed.');
};

const tooLarge = (): Problem =>
  problem('body_too_large', `The body has more than ${String(JSON_BYTES_MAX)} bytes.`, {
    max_bytes: JSON_BYTES_MAX,
  });

/** What the server says itself of a caller that went away. */
const hungUp = (): Error => Object.assign(new Error('aborted'), { code: 'ECONNRESET' });

/** Listens itself: the stream's iterator costs more than all else that is done with a small body. */
const bytesOf = (request: IncomingMessage): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > JSON_BYTES_MAX) throw tooLarge();
    if (request.destroyed && !request.readableEnded) throw hungUp();
    const chunks: Buffer[] = [];
    let size = 0;
    const stopListening = () => request.off('data', onData).off('end', onEnd).off('close', onClose);
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= JSON_BYTES_MAX) return;
      stopListening();
      // What is left unread is drained by the server after the answer.
      request.pause();
      reject(tooLarge());
    };
    const onEnd = () => {
      stopListening();
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    };
    const onClose = () => {
      stopListening();
      reject(hungUp());
    };
    request.on('data', onData).on('end', onEnd).on('close', onClose);
  });

const BYTE_ORDER_MARK = 0xfeff;

const textOf = (bytes: Buffer): string => {
  if (!isUtf8Bytes(bytes)) throw new SyntaxError('not UTF-8');
  const text = bytes.toString('utf8');
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
};

/** Half a surrogate pair is no text, and NUL is none that a database stores. */
const UNSTORABLE = /\p{Surrogate}|\0/u;
const MAYBE_UNSTORABLE = /\\u(0000|d[89a-f])/i;

const isStorable = (value: unknown): boolean => {
  if (typeof value === 'string') return !UNSTORABLE.test(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, member]) => isStorable(key) && isStorable(member));
};

/** A JSON body as it was written. */
export interface JsonBody {
  readonly value: unknown;
  readonly oddIntegers: readonly JsonPath[];
}

/** Told before it is parsed: what walks a value afterwards calls itself once a level. */
export const isTooDeep = (text: string): boolean => shapeOf(text) === 'too_deep';

const parsed = (text: string): JsonBody => {
  const value = JSON.parse(text) as unknown;
  if (MAYBE_UNSTORABLE.test(text) && !isStorable(value)) throw new SyntaxError('unstorable text');
  return { value, oddIntegers: oddIntegersIn(text) };
};

const NAME_SHOWN = 100;

/** Reads a JSON body: type, size, encoding, depth, syntax and members are checked, in this order. */
export const readJson = async (request: IncomingMessage): Promise<JsonBody> => {
  checkHeaders(request);
  const bytes = await bytesOf(request);
  let body: JsonBody;
  let twice: string | undefined;
  try {
    const text = textOf(bytes);
    const shape = shapeOf(text);
    if (shape === 'too_deep')
      throw problem('malformed_json', `The body is nested deeper than ${String(DEPTH_MAX)} levels.`);
    body = parsed(text);
    if (shape.members !== membersOf(body.value)) twice = memberTwiceIn(text);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw problem('malformed_json', 'The body is not JSON in UTF-8 (no NUL, no half surrogate pairs).');
  }
  if (twice !== undefined)
    throw problem('malformed_json', `The member "${twice.slice(0, NAME_SHOWN)}" stands twice in one object.`);
  return body;
};
