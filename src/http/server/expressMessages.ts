import { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerOptions } from 'node:http';
import type { Express } from 'express';

/**
 * Classes of requests and answers that are Express's from their birth. Express gives each request and each answer
 * its own prototype, and V8 treats an object whose prototype was changed as one of a kind: all that is done with
 * it is slow from then on. Where it has that prototype already, nothing is changed.
 */
export const expressMessages = (
  app: Express,
): Required<Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>> => {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<Asked extends IncomingMessage> extends ServerResponse<Asked> {}
  app.request = Object.setPrototypeOf(ExpressRequest.prototype, app.request) as Express['request'];
  app.response = Object.setPrototypeOf(ExpressResponse.prototype, app.response) as Express['response'];
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
};
