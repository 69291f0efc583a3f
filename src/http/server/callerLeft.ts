import type { IncomingMessage } from 'node:http';

/** The caller went away before its body had come: nobody reads an answer, and nothing of ours is broken. */
export class CallerLeft extends Error {
  override readonly name = 'CallerLeft';

  constructor() {
    super('the caller went away while its body was read');
  }
}

/** A stream that has ended so says nothing more: who begins to listen now would wait for ever. */
export const hasLeft = (request: IncomingMessage): boolean => request.destroyed && !request.complete;
