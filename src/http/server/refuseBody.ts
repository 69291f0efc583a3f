import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

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
