import type { Request } from 'express';
import { CreditsOutOfRange } from '../../../domain/kernel/amounts.ts';
import { LogUnavailable } from '../../../domain/ports/log.ts';
import { DIVERGED, ReadModelsDiverged } from '../../../projections/engine/divergence.ts';
import { SqlUnavailable } from '../../../projections/engine/ports.ts';
import { NotPublished } from '../../commands/reference.ts';
import { AccountUnavailable } from '../../writer/accountWriter.ts';
import { TamperedArtifact } from '../../commands/deployments.ts';
import { ObjectStoreFailed } from '../../commands/uploads.ts';
import { LogWentBack } from '../../writer/append.ts';
import { LogContradicts } from '../../writer/streamFold.ts';
import { CallerLeft } from './callerLeft.ts';
import { statusOf } from '../../problemTable.ts';
import { Problem, invalid, problem, retryLater } from '../problems.ts';

/** What may be thrown beside a problem, by its class, and what it is answered with. */
const FAILURES: readonly (readonly [new (...args: never[]) => Error, (error: Error) => Problem])[] = [
  [NotPublished, ({ message }) => retryLater('not_ready', message)],
  [SqlUnavailable, () => retryLater('not_ready', 'The read models cannot be reached right now.')],
  [AccountUnavailable, () => retryLater('not_ready', 'The event log cannot be reached right now.')],
  [LogUnavailable, () => retryLater('not_ready', 'The event log cannot be reached right now.')],
  [ReadModelsDiverged, () => retryLater('not_ready', DIVERGED)],
  [LogWentBack, () => retryLater('not_ready', DIVERGED)],
  [LogContradicts, () => retryLater('not_ready', DIVERGED)],
  [
    TamperedArtifact,
    () =>
      problem('storage_error', 'The artifact in the object storage is damaged or gone; nothing was billed.'),
  ],
  [ObjectStoreFailed, () => problem('storage_error', 'The object storage failed; nothing was billed.')],
  [
    CreditsOutOfRange,
    () => invalid({ loc: ['body'], msg: 'A total would pass 2^53 − 1 credits.', type: 'too_big' }),
  ],
  // Nobody is there to read it; the log line of the request names it.
  [CallerLeft, () => problem('malformed_json', 'The body ended before its end.')],
  // Express: a path with a broken percent-encoding.
  [URIError, () => invalid({ loc: ['path'], msg: 'Broken percent-encoding.', type: 'invalid_format' })],
];

/** The problem that an error is answered with; undefined for a defect of ours. */
export const asProblem = (error: unknown): Problem | undefined => {
  if (error instanceof Problem) return error;
  if (!(error instanceof Error)) return undefined;
  return FAILURES.find(([failure]) => error instanceof failure)?.[1](error);
};

/**
 * What the caller did wrong, or that it went away while its body was read, is no failure of ours. Of diverged
 * read models the watch over the log tells, once.
 */
export const isExpected = (error: unknown, req: Request): boolean => {
  if (error instanceof Problem || error === req.errored) return true;
  if (error instanceof ReadModelsDiverged || error instanceof NotPublished) return true;
  const known = asProblem(error);
  return known !== undefined && statusOf(known.code) < 500;
};
