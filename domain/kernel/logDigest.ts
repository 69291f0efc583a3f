import { sha256 } from './chain.ts';

/** Before the first event that a digest over a whole log covers. */
export const LOG_DIGEST_START = '';

/**
 * One step of a digest over a whole log: SHA-256 of the step before, the event's position and its hash. So
 * events of different streams cannot change places; the chains of streams alone would not tell.
 */
export const logDigestAfter = (before: string, position: bigint | number, hash: string): string =>
  sha256(`${before} ${position.toString()} ${hash}`);
