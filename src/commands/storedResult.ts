import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { ObjectStore } from '../../domain/ports/services.ts';
import { sha256 } from '../../domain/kernel/chain.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { neededReview } from '../../domain/review.ts';
import { isWorkId } from '../../domain/workEvents.ts';

/** Pieces of a text of JSON, in order. */
export type JsonPieces = AsyncIterable<string | Uint8Array>;

/** Members that are known only after a body was stored; `meta` is its last member. */
export interface BodyEnds {
  readonly body: Readonly<Record<string, unknown>>;
  readonly meta: Readonly<Record<string, unknown>>;
}

/** The body is the last member of what is stored. No text has this in it: quotes are escaped there. */
const BODY = ',"body":';
/** Ends `meta`, the body and what is stored. */
const TAIL = '}}}';
/** Room for a request with the longest schema, whose text is escaped. */
const HEAD_BYTES_MAX = 1_048_576;

/** The head, then the body in pieces, with the end of what is stored. */
async function* split(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let head: Uint8Array | undefined = new Uint8Array();
  for await (const chunk of bytes) {
    if (head === undefined) {
      yield chunk;
      continue;
    }
    const read: Buffer = Buffer.concat([head, chunk]);
    const at = read.indexOf(BODY);
    if (at < 0 && read.length > HEAD_BYTES_MAX) return;
    head = at < 0 ? read : undefined;
    if (at < 0) continue;
    yield read.subarray(0, at);
    yield read.subarray(at + BODY.length);
  }
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

const membersText = (members: Readonly<Record<string, unknown>>): string =>
  Object.entries(members)
    .map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`)
    .join('');

async function* withEnds(pieces: AsyncIterable<Uint8Array>, { meta, body }: BodyEnds): JsonPieces {
  let held = new Uint8Array();
  for await (const piece of pieces) {
    const all = Buffer.concat([held, piece]);
    const upTo = Math.max(0, all.length - TAIL.length);
    if (upTo > 0) yield all.subarray(0, upTo);
    held = all.subarray(upTo);
  }
  if (textOf(held) !== TAIL) throw new Error('a stored result does not end as one');
  yield `${membersText(meta)}}${membersText(body)}}`;
}

/**
 * The body of the stored result under a key as stored, with its ends: it is not parsed, and only the part that a
 * reader waits for is in memory. It is opened when it is read. undefined: there is none.
 */
export const storedBody = async (
  objects: Pick<ObjectStore, 'open'>,
  key: string,
  ends: BodyEnds,
): Promise<JsonPieces | undefined> => {
  const bytes = await objects.open(key);
  if (bytes === undefined) return undefined;
  const looked = split(bytes);
  const { done } = await looked.next();
  await looked.return();
  return done === true ? undefined : bodyUnder(objects, key, ends);
};

async function* bodyUnder(objects: Pick<ObjectStore, 'open'>, key: string, ends: BodyEnds): JsonPieces {
  const bytes = await objects.open(key);
  if (bytes === undefined) throw new Error('a stored result went while it was asked for');
  const pieces = split(bytes);
  await pieces.next();
  yield* withEnds(pieces, ends);
}

/** The request that a stored result answers; undefined: there is none, or an older release has stored it. */
export const storedRequest = async (
  objects: Pick<ObjectStore, 'open'>,
  key: string,
): Promise<JsonObject | undefined> => {
  const bytes = await objects.open(key);
  if (bytes === undefined) return undefined;
  const pieces = split(bytes);
  const { done, value } = await pieces.next();
  await pieces.return();
  if (done === true) return undefined;
  const { request } = storedHead.parse(JSON.parse(`${textOf(value)}}`));
  return request === undefined ? undefined : (JSON.parse(request) as JsonObject);
};

/** Pieces of an object some of whose members are pieces: as `JSON.stringify` would write it. */
export async function* jsonPieces(members: object): JsonPieces {
  let text = '{';
  for (const [name, value] of Object.entries(members) as [string, unknown][]) {
    if (value === undefined) continue;
    text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:`;
    if (!isPieces(value)) {
      text += JSON.stringify(value);
      continue;
    }
    yield text;
    yield* value;
    text = '';
  }
  yield `${text}}`;
}

const isPieces = (value: unknown): value is JsonPieces =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** Bytes that are sent at once. */
const PIECE_BYTES = 65_536;

/** A text of JSON in pieces: others have their turn between them. */
export async function* piecesOf(bytes: Uint8Array): JsonPieces {
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    yield bytes.subarray(from, from + PIECE_BYTES);
    await nextTurn();
  }
}

/** What pieces are, parsed. */
export const parsedPieces = async (pieces: JsonPieces): Promise<unknown> => {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(typeof piece === 'string' ? Buffer.from(piece) : piece);
  return JSON.parse(Buffer.concat(all).toString('utf8'));
};

const storedResult = z.object({
  operation_id: z.string(),
  document_id: z.string(),
  usage_id: z.string(),
  hold_id: z.string().nullable(),
  /** Digest of the request that it answers. */
  fingerprint: z.string(),
  stored_at: z.string(),
  pages: z.number(),
  status: z.enum(['success', 'partial']),
  duration_ms: z.number(),
  /** Left out where nobody has to look at it. Nothing of it may read as the beginning of the body. */
  review: neededReview.optional(),
  /** The batch that its parts become; left out where none does. */
  then_batch_id: z.string().optional(),
  /** The text of the request in JSON: its quotes are escaped here. Left out by older releases. */
  request: z.string().optional(),
  body: z.record(z.string(), z.unknown()).transform((body) => body as JsonObject),
});

const storedHead = storedResult.pick({ request: true });

/** Work that was done and stored, and may or may not be settled yet. */
export type StoredResult = z.output<typeof storedResult>;

/** The body of a result as it lies in storage. */
export const storedBodyOf = (bytes: Uint8Array): JsonObject =>
  storedResult.parse(JSON.parse(textOf(bytes))).body;

/** Where results are in object storage. */
export const RESULTS_PREFIX = 'results/';

/** Where all results of some work lie. */
export const resultFolderOf = (workId: string): string => `${RESULTS_PREFIX}${workId}/`;

/** Where a result lies: under its work and its digest. */
export const resultKeyOf = (workId: string, digest: string): string => `${resultFolderOf(workId)}${digest}`;

/** The work whose result lies under a key; undefined for one that an older release has put. */
export const workIdOfResult = (key: string): string | undefined => {
  const id = /^results\/([a-z]+_[A-Za-z0-9-]+)\/[0-9a-f]{64}$/.exec(key)?.[1];
  return id !== undefined && isWorkId(id) ? id : undefined;
};

/** Where releases before this one put a result: by what its caller named it. */
interface FormerPlace {
  readonly tenant_id: string;
  readonly endpoint: string;
  readonly idempotency_key: string;
}
export const formerKeyOf = ({ tenant_id, endpoint, idempotency_key }: FormerPlace): string =>
  `${RESULTS_PREFIX}${sha256([tenant_id, endpoint, idempotency_key].join('\u001f'))}`;

/**
 * Results of work, each under its digest: repeating the same work adds one, and replaces none. The burn and
 * the end of an operation name the one that was paid for. Outside Postgres, because they must outlive it.
 */
export const resultShelf = (objects: ObjectStore) => {
  const read = async (key: string): Promise<StoredResult | undefined> => {
    const bytes = await objects.get(key);
    if (bytes === undefined) return undefined;
    return storedResult.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data;
  };
  return {
    /** Gives the digest under which it lies. */
    put: async (result: StoredResult): Promise<string> => {
      const bytes = new TextEncoder().encode(JSON.stringify(result));
      const digest = sha256(bytes);
      await objects.put(resultKeyOf(result.operation_id, digest), bytes);
      return digest;
    },

    /** undefined if it was never stored, or is no longer kept. */
    find: (workId: string, digest: string): Promise<StoredResult | undefined> =>
      read(resultKeyOf(workId, digest)),

    /** A result of the work, from any process, with its digest. */
    any: async (
      workId: string,
    ): Promise<{ readonly stored: StoredResult; readonly digest: string } | undefined> => {
      for await (const { key } of objects.list(resultFolderOf(workId))) {
        const stored = await read(key);
        if (stored !== undefined) return { stored, digest: key.slice(resultFolderOf(workId).length) };
      }
      return undefined;
    },

    /** A result that an earlier release has stored, and may not have settled. */
    former: (place: FormerPlace): Promise<StoredResult | undefined> => read(formerKeyOf(place)),
  };
};
