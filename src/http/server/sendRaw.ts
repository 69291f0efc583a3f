import type { ServerResponse } from 'node:http';
import type { RawBody } from '../defineRoute.ts';

/** How long a caller may take nothing of what waits for it, ms. */
const SILENT_MS = 30_000;
/** What is handed over at once: of a caller that does not read, no more than this lies about. */
const SLICE_CHARS = 65_536;
/** What a body in pieces counts as, bytes: a piece that waits, the next one, and what lies between. */
export const PIECES_BYTES = 4 * SLICE_CHARS;

interface Sending {
  readonly silentMs?: number | undefined;
}

/** Until the response takes more, or nobody reads it any more: a caller that takes nothing is cut off. */
const roomIn = (res: ServerResponse, { silentMs = SILENT_MS }: Sending): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => res.req.socket.destroy(), silentMs);
    const done = (): void => {
      clearTimeout(timer);
      res.off('drain', done);
      res.off('close', done);
      resolve();
    };
    res.once('drain', done);
    res.once('close', done);
  });

/** Until the caller's system has it all, or nobody reads it any more. */
const ended = (res: ServerResponse, sending: Sending): Promise<void> => {
  res.end();
  if (res.writableFinished) return Promise.resolve();
  const { silentMs = SILENT_MS } = sending;
  return new Promise((resolve) => {
    const timer = setTimeout(() => res.req.socket.destroy(), silentMs);
    res.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
};

/** Pieces are made as fast as the caller reads, and no longer than it stays. Resolves when it has them all. */
export const sendPieces = async (
  res: ServerResponse,
  pieces: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  sending: Sending = {},
): Promise<void> => {
  for await (const piece of pieces) {
    if (res.destroyed) return;
    if (!res.write(piece)) await roomIn(res, sending);
  }
  if (!res.destroyed) await ended(res, sending);
};

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xdc00;

function* slicesOf(body: string | Uint8Array): Iterable<string | Uint8Array> {
  for (let from = 0; from < body.length;) {
    let to = Math.min(body.length, from + SLICE_CHARS);
    if (typeof body === 'string' && isHighSurrogate(body.charCodeAt(to - 1))) to += 1;
    yield body.slice(from, to);
    from = to;
  }
}

/** Whether a body lies in the system's buffers, read or not. */
export const isSmall = ({ length }: string | Uint8Array): boolean => length <= SLICE_CHARS;

/** Sends a body that is whole. */
export const sendWhole = async (
  res: ServerResponse,
  body: string | Uint8Array,
  sending: Sending = {},
): Promise<void> => {
  if (isSmall(body)) {
    res.end(body);
    return;
  }
  res.setHeader('Content-Length', typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength);
  await sendPieces(res, slicesOf(body), sending);
};

/** Sends a body that is not JSON, or JSON that is made while it is sent. */
export const sendRaw = (res: ServerResponse, body: RawBody['body'], sending: Sending): Promise<void> =>
  typeof body === 'string' || body instanceof Uint8Array
    ? sendWhole(res, body, sending)
    : sendPieces(res, body, sending);
