import type { z } from 'zod';
import type { CanonicalCall } from './canonicalOperations.ts';
import { validate } from './validate.ts';

/** The payload by its operation's schema; issues are told where they stand in the envelope. */
export const payloadOf = <Schema extends z.ZodType>(
  { request }: CanonicalCall,
  schema: Schema,
): z.output<Schema> => {
  const [payload] = validate([{ at: 'body', schema, value: request.body.payload, under: ['payload'] }]);
  return payload as z.output<Schema>;
};
