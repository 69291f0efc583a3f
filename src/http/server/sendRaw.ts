import type { Response } from 'express';
import type { RawBody } from '../defineRoute.ts';

/** Until the response takes more, or nobody reads it any more. */
const roomIn = (res: Response): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      res.off('drain', done);
      res.off('close', done);
      resolve();
    };
    res.once('drain', done);
    res.once('close', done);
  });

/** Pieces are made as fast as the caller reads, and no longer than it stays. */
const sendPieces = async (res: Response, pieces: AsyncIterable<string>): Promise<void> => {
  for await (const piece of pieces) {
    if (res.closed) return;
    if (!res.write(piece)) await roomIn(res);
  }
  res.end();
};

/** Sends a body that is not JSON. */
export const sendRaw = async (res: Response, body: RawBody['body'], isHead: boolean): Promise<void> => {
  if (isHead) res.end();
  else if (typeof body === 'string' || body instanceof Uint8Array) res.end(body);
  else await sendPieces(res, body);
};
