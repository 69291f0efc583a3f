import type { z } from 'zod';
import type { ApiDeps } from '../apiDeps.ts';
import type { RouteRequest } from '../defineRoute.ts';
import { validate } from '../server/validate.ts';
import type { CanonicalEnvelope } from '../wire/canonical.ts';

/** An envelope on its way. */
export interface CanonicalCall {
  readonly deps: ApiDeps;
  readonly request: RouteRequest<unknown, unknown, CanonicalEnvelope>;
}

/** What an operation does with an envelope. It answers as the plain endpoint does. */
export type CanonicalOperation = (call: CanonicalCall) => Promise<object>;

/** The payload by its operation's schema; issues are told where they stand in the envelope. */
export const payloadOf = <Schema extends z.ZodType>(
  { request }: CanonicalCall,
  schema: Schema,
): z.output<Schema> => {
  const value = request.body.payload;
  const { payload: halves } = (request.halves ?? {}) as { readonly payload?: unknown };
  const [payload] = validate([{ at: 'body', schema, value, under: ['payload'], halves }]);
  return payload as z.output<Schema>;
};
