import { isUtf8 as isUtf8Bytes } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { visit } from 'jsonc-parser';
import { shapeOf, type ShapeLimits } from '../../domain/kernel/json.ts';
import { CallerLeft, hasLeft, Problem, problem } from './problems.ts';

/** What `JSON.parse` does not tell of a text: how numbers were written, and members that stand twice. */

export const BODY_LIMITS = {
  /** Deeper than any body of the interface: a schema of depth 32 takes 2 levels a depth. */
  depthMax: 128,
  /**
   * More than any body of the interface has: a thousand examples of fifty fields. What is done with a body at a
   * stretch (parsing, counting, checking) takes some 50 ms for so many, and ten times that for a megabyte of them.
   */
  valuesMax: 50_000,
} satisfies ShapeLimits;

/**
 * How many members all objects of a value have together: of a name that stood twice one is left. Throws for a
 * number such as `1e400`, which parsed is infinite: no event can carry it.
 */
export const membersOf = (value: unknown): number => {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new SyntaxError('no double has this number');
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) for (const item of value) members += membersOf(item);
  else
    for (const name of Object.keys(value)) {
      members += 1 + membersOf((value as Readonly<Record<string, unknown>>)[name]);
    }
  return members;
};

/** A member that stands twice in one object of a text that is JSON. */
export const memberTwiceIn = (text: string): string | undefined => {
  const open: Set<string>[] = [];
  let twice: string | undefined;
  visit(text, {
    onObjectBegin: () => {
      open.push(new Set());
    },
    onObjectProperty: (name) => {
      const names = open.at(-1);
      if (names?.has(name) === true) twice ??= name;
      names?.add(name);
    },
    onObjectEnd: () => {
      open.pop();
    },
  });
  return twice;
};

/** May be in a string, too; then the text is looked at for nothing. */
const MAYBE_ODD = /[:,[]\s*-?\d+[.eE]/;
const ODD = /[.eE]/;

/**
 * A text that is JSON with 0.5 in the place of each whole number that has a fraction or an exponent: `5.0`, `1e3`,
 * and `9007199254740991.4`, which is whole once it is parsed. A schema for whole numbers refuses them there.
 * undefined: it has none.
 */
export const withHalves = (text: string): string | undefined => {
  if (!MAYBE_ODD.test(text)) return undefined;
  const pieces: string[] = [];
  let from = 0;
  visit(text, {
    onLiteralValue: (value, offset, length) => {
      if (!Number.isInteger(value) || !ODD.test(text.slice(offset, offset + length))) return;
      pieces.push(text.slice(from, offset), '0.5');
      from = offset + length;
    },
  });
  return from === 0 ? undefined : pieces.join('') + text.slice(from);
};

/** Of every JSON answer. */
export const JSON_TYPE = 'application/json; charset=utf-8';

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
  if (!isUtf8(contentType)) throw problem('unsupported_media_type', 'The body must be JSON in UTF-8.');
  if (encoding !== 'identity') throw problem('unsupported_media_type', 'Send the body uncompressed.');
};

const tooLarge = (): Problem =>
  problem('body_too_large', `The body has more than ${String(JSON_BYTES_MAX)} bytes.`, {
    max_bytes: JSON_BYTES_MAX,
  });

/** Listens itself: the stream's iterator costs more than all else that is done with a small body. */
const bytesOf = (request: IncomingMessage): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > JSON_BYTES_MAX) throw tooLarge();
    if (hasLeft(request)) throw new CallerLeft();
    const chunks: Buffer[] = [];
    let size = 0;
    const stopListening = () => request.off('data', onData).off('end', onEnd).off('close', onClose);
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= JSON_BYTES_MAX) return;
      stopListening();
      // The server drains the unread rest after the answer.
      request.pause();
      reject(tooLarge());
    };
    const onEnd = () => {
      stopListening();
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    };
    const onClose = () => {
      stopListening();
      reject(new CallerLeft());
    };
    request.on('data', onData).on('end', onEnd).on('close', onClose);
  });

const BYTE_ORDER_MARK = 0xfeff;

const textOf = (bytes: Buffer): string => {
  if (!isUtf8Bytes(bytes)) throw new SyntaxError('not UTF-8');
  const text = bytes.toString('utf8');
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
};

/** Half a surrogate pair is not text, and databases cannot store NUL. */
const UNSTORABLE = /\p{Surrogate}|\0/u;
const MAYBE_UNSTORABLE = /\\u(0000|d[89a-f])/i;

const isStorable = (value: unknown): boolean => {
  if (typeof value === 'string') return !UNSTORABLE.test(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, member]) => isStorable(key) && isStorable(member));
};

/** A JSON body. */
interface JsonBody {
  readonly value: unknown;
  /** The same with 0.5 for each whole number that was written as none; undefined: it has none. */
  readonly halves: unknown;
}

/** Whether a text is small enough to be parsed where nobody else waits: see `shapeOf`. */
export const isTooMuch = (text: string): boolean => typeof shapeOf(text, BODY_LIMITS) === 'string';

const NAME_SHOWN = 100;
const NOT_JSON =
  'The body is not JSON in UTF-8 (no NUL, no half surrogate pairs, no number beyond those of a double).';

const TOO_DEEP = `The body is nested deeper than ${String(BODY_LIMITS.depthMax)} levels.`;
const TOO_MANY = `The body has more than ${String(BODY_LIMITS.valuesMax)} values.`;

const twiceIn = (text: string): Problem => {
  const name = (memberTwiceIn(text) ?? '').slice(0, NAME_SHOWN);
  return problem('malformed_json', `The member "${name}" occurs twice in one object.`);
};

/** Longer texts are read step by step, and others have their turn between the steps. */
const AT_ONCE_CHARS = 32_768;

/** The long text that was begun last. */
let longBefore: Promise<unknown> = Promise.resolve();

/** One long text after the other: of many at once, each would do a step in the same turn. */
const inOrder = (work: () => Promise<JsonBody>): Promise<JsonBody> => {
  const mine = longBefore.then(() => nextTurn()).then(work);
  longBefore = mine.catch(() => undefined);
  return mine;
};

const parsed = (text: string): Promise<JsonBody> =>
  text.length > AT_ONCE_CHARS
    ? inOrder(() => parsedWith(text, () => nextTurn()))
    : parsedWith(text, () => undefined);

const parsedWith = async (text: string, turn: () => Promise<unknown> | undefined): Promise<JsonBody> => {
  const shape = shapeOf(text, BODY_LIMITS);
  if (shape === 'too_deep') throw problem('malformed_json', TOO_DEEP);
  if (shape === 'too_many_values')
    throw problem('body_too_large', TOO_MANY, {
      max_bytes: JSON_BYTES_MAX,
      max_values: BODY_LIMITS.valuesMax,
    });
  await turn();
  const value = JSON.parse(text) as unknown;
  await turn();
  if (MAYBE_UNSTORABLE.test(text) && !isStorable(value)) throw new SyntaxError('unstorable text');
  await turn();
  if (shape.members !== membersOf(value)) throw twiceIn(text);
  await turn();
  const halved = withHalves(text);
  await turn();
  const halves = halved === undefined ? undefined : (JSON.parse(halved) as unknown);
  await turn();
  return { value, halves };
};

/** Reads a JSON body: type, size, encoding, depth, values, syntax and members are checked, in this order. */
export const readJson = async (request: IncomingMessage): Promise<JsonBody> => {
  checkHeaders(request);
  const bytes = await bytesOf(request);
  try {
    return await parsed(textOf(bytes));
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw problem('malformed_json', NOT_JSON);
  }
};
