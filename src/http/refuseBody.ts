import type { Request, Response } from 'express';

/** How long a caller that is still sending gets to read why it was refused, ms. */
const LINGER_MS = 2_000;
/** Most bytes of a refused body that are read and thrown away. */
const LINGER_BYTES_MAX = 8 * 1024 * 1024;

/** The rest of so small a body is soon read, and the connection goes on. */
const KEPT_BYTES_MAX = 2 * 1024 * 1024;

/** Calls `done` once: when the rest of the body has come, or enough of it, or long enough was waited. */
const drained = (req: Request, done: () => void): void => {
  let bytes = 0;
  const end = () => {
    clearTimeout(timer);
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
 * no use after that, and says so; it stays open a little while, for closing it under a caller that is sending would take the answer
 * from it. An endless body is cut off.
 */
export const endUnread = (req: Request, res: Response, text: string): void => {
  const length = Number(req.headers['content-length'] ?? Number.NaN);
  if (req.complete || length <= KEPT_BYTES_MAX) {
    res.end(text);
    return;
  }
  res.set('Connection', 'close').set('Content-Length', String(Buffer.byteLength(text)));
  res.write(text);
  drained(req, () => {
    res.end();
    req.socket.destroySoon();
  });
};
