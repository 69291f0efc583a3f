import type { z } from 'zod';
import type { CanonicalCall } from './canonicalOperations.ts';
import { validate } from '../server/validate.ts';

/** The payload by its operation's schema; issues are told where they stand in the envelope. */
export const payloadOf = <Schema extends z.ZodType>(
  { request }: CanonicalCall,
  schema: Schema,
): z.output<Schema> => {
  const oddIntegers = request.oddIntegers.filter(([at]) => at === 'payload').map(([, ...path]) => path);
  const value = request.body.payload;
  const [payload] = validate([{ at: 'body', schema, value, under: ['payload'], oddIntegers }]);
  return payload as z.output<Schema>;
};
