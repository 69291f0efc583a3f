import type { z } from 'zod';
import type { CanonicalCall } from './canonicalOperations.ts';
import { validate } from '../server/validate.ts';

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
