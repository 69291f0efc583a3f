import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from './problems.ts';
import type { RawBody, AnyRequest } from './routes.ts';
import { ALL_TENANTS, type ReadYourWrites } from '../queries/queries.ts';

/**
 * What every answer carries: JSON loads nothing, is framed by nobody, read by no other origin and kept by no
 * cache. Made once; nothing of it depends on the request. Pages that need more say so themselves.
 */
const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** A year. Not for subdomains: those that are not ours may have no TLS. */
const HTTPS_ONLY = { 'Strict-Transport-Security': 'max-age=31536000' };

/** What a page adds, which a browser renders: it shares its process, window and devices with nobody. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Origin-Agent-Cluster': '?1',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'X-DNS-Prefetch-Control': 'off',
  'X-Download-Options': 'noopen',
  'X-Permitted-Cross-Domain-Policies': 'none',
  'X-XSS-Protection': '0',
};

/** The headers of every answer. `publicUrl`: where clients reach the service; HSTS only if that is https. */
export const safeHeaders = (publicUrl: string | undefined): Readonly<Record<string, string>> =>
  publicUrl?.toLowerCase().startsWith('https://') === true
    ? { ...SAFE_HEADERS, ...HTTPS_ONLY }
    : SAFE_HEADERS;

/** How long a caller that is still sending gets to read why it was refused, ms. */
const LINGER_MS = 2_000;
/** Most bytes of a refused body that are read and thrown away. */
const LINGER_BYTES_MAX = 8 * 1024 * 1024;

/** The rest of so small a body is soon read, and the connection goes on. */
const KEPT_BYTES_MAX = 2 * 1024 * 1024;

/**
 * Whether much of a body may be left. A request that is refused at once is not complete yet, even where it
 * has no body: that is told by its headers.
 */
export const mayLeaveMuch = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > KEPT_BYTES_MAX;

/** Calls `done` once, and reads no more: the rest of the body has come, or enough of it, or long enough was waited. */
const drained = (req: IncomingMessage, done: () => void): void => {
  let bytes = 0;
  const end = () => {
    clearTimeout(timer);
    req.pause();
    req.off('data', count).off('end', end).off('close', end).off('error', end);
    done();
  };
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES_MAX) end();
  };
  const timer = setTimeout(end, LINGER_MS);
  req.on('data', count).once('end', end).once('close', end).once('error', end).resume();
};

/**
 * Answers a request whose body was not read to its end. Where much of it may be left, the connection is of
 * no use after that, and says so; it stays open a little while, for closing it under a caller that is
 * sending would take the answer from it. An endless body is cut off.
 */
export const endUnread = (req: IncomingMessage, res: ServerResponse, text: string): void => {
  if (req.complete || !mayLeaveMuch(req.headers)) {
    res.end(text);
    return;
  }
  res.setHeader('Connection', 'close');
  res.setHeader('Content-Length', String(Buffer.byteLength(text)));
  res.write(text);
  drained(req, () => {
    // Not before it is sent: answers to earlier requests on the connection may wait in front of it.
    res.end(() => req.socket.destroySoon());
  });
};

/** Bytes of answers that wait for their callers to read them. */
export interface AnswersOut {
  /** Throws 429 where a tenant leaves as much unread as it may. */
  readonly check: (tenantId: string) => void;
  /** Call what it gives once they are read, or will not be. */
  readonly hold: (tenantId: string, bytes: number) => () => void;
}

/** Of one tenant: ten answers of the size that a long document has. */
const UNREAD_BYTES_MAX = 64 * 1_048_576;

const unread = (max: number): Problem =>
  new Problem('rate_limited', {
    detail: `${String(max)} bytes of answers to this tenant wait to be read: read them, or close their connections.`,
    members: { bucket: 'unread' },
    headers: { 'Retry-After': '1' },
  });

export const answersOut = (max = UNREAD_BYTES_MAX): AnswersOut => {
  const byTenant = new Map<string, number>();
  const add = (tenantId: string, bytes: number): void => {
    const now = (byTenant.get(tenantId) ?? 0) + bytes;
    if (now > 0) byTenant.set(tenantId, now);
    else byTenant.delete(tenantId);
  };
  return {
    check: (tenantId) => {
      if ((byTenant.get(tenantId) ?? 0) >= max) throw unread(max);
    },
    hold: (tenantId, bytes) => {
      add(tenantId, bytes);
      return () => add(tenantId, -bytes);
    },
  };
};

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

function* slicesAfter(opening: string, body: string | Uint8Array): Iterable<string | Uint8Array> {
  yield opening;
  yield* slicesOf(body);
}

async function* piecesAfter(
  opening: string | undefined,
  body: AsyncIterable<string | Uint8Array>,
): AsyncIterable<string | Uint8Array> {
  if (opening !== undefined) yield opening;
  yield* body;
}

/** Sends a body that is not JSON, or JSON that is made while it is sent. */
export const sendRaw = (
  res: ServerResponse,
  { opening, body }: Pick<RawBody, 'opening' | 'body'>,
  sending: Sending,
): Promise<void> => {
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    return sendPieces(res, piecesAfter(opening, body), sending);
  return opening === undefined
    ? sendWhole(res, body, sending)
    : sendPieces(res, slicesAfter(opening, body), sending);
};

/** As `settleReads`, for reads of all tenants. */
export const settleAllReads = async (
  reads: ReadYourWrites,
  { answer }: Pick<AnyRequest, 'answer'>,
): Promise<void> => {
  const missing = await reads.settleAll();
  if (missing !== undefined) answer.header('X-Projection-Lag', String(missing));
};

/** Waits for what this process wrote; a late read model answers with what it has, and says so. */
export const settleReads = async (
  reads: ReadYourWrites,
  { answer }: Pick<AnyRequest, 'answer'>,
  tenantId: string,
): Promise<void> => {
  const missing = [await reads.settle(tenantId), await reads.settle(ALL_TENANTS)].filter(
    (position) => position !== undefined,
  );
  const [first, ...others] = missing;
  if (first === undefined) return;
  const last = others.reduce((a, b) => (a > b ? a : b), first);
  answer.header('X-Projection-Lag', String(last));
};
