import type { ParseFailure, ParseRequest } from '../ports/documentParser.ts';
import type { ChildPool } from './children/childPool.ts';
import type { PoolLimits } from './children/piece.ts';
import type { Answers, FileFacts, Job, JobFile, JobOutcome } from './jobs.ts';

/** What pictures of text are read with. */
export type RecognitionMeans = Pick<FileFacts, 'languages' | 'engines'>;

/** The file of a request, as its job has it. `isLast`: no other job of the request needs it open. */
export const fileOf = (
  { path, fileName, effort, pagesMax, deadlineMs, pages, password, kept }: ParseRequest,
  { isLast, ...recognition }: RecognitionMeans & { readonly isLast: boolean },
): JobFile => ({
  ...recognition,
  path,
  fileName,
  effort,
  pagesMax,
  deadlineMs,
  pages,
  password,
  keep: kept !== undefined && !isLast,
});

/** The answer that goes with a job's kind. */
export type AnswerTo<J extends Job> = Answers[J['kind']];

/** Work on a document, whose answer may be that it cannot be done. */
type DocumentJob = Exclude<Job, { readonly kind: 'checkSchema' | 'validate' }>;

/** The child is our own code and answers by the job's kind; everything else becomes a failure value. */
export async function runDocumentJob<K extends DocumentJob['kind']>(
  pool: ChildPool,
  job: DocumentJob & { readonly kind: K },
  limits: PoolLimits,
): Promise<Answers[K] | ParseFailure> {
  const outcome = await pool.run(job, limits);
  if (outcome.kind !== 'answered') return failureOf(outcome, limits.deadlineMs);
  // Without the assertion the compiler makes the union of all answers, which is too large for it.
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-assertion
  return outcome.answer as Answers[K];
}

function failureOf(
  outcome: Exclude<JobOutcome, { readonly kind: 'answered' }>,
  deadlineMs: number,
): ParseFailure {
  switch (outcome.kind) {
    case 'aborted':
      return { kind: 'aborted' };
    case 'timed_out':
      return {
        kind: 'timed_out',
        detail: `The document was not read within ${Math.round(deadlineMs / 1000)} s.`,
      };
    case 'out_of_memory':
      return { kind: 'unreadable', detail: 'The document needs more memory than one document may use.' };
    case 'died':
      return {
        kind: 'unreadable',
        detail: 'The document cannot be read: it is damaged or needs more memory than one document may use.',
      };
    case 'failed':
      throw new Error(`a document job failed: ${outcome.message}`);
  }
}
