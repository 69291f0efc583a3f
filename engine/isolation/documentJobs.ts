import {
  type ParseFailure,
  type ParseRequest,
  ProcessNotStarted,
  type ReadResult,
} from '../ports/documentParser.ts';
import type { PackedDocument } from '../document/document.ts';
import { pageRanges } from '../document/pages.ts';
import type { ChildPool, PoolLimits } from './children/childPool.ts';
import type { Answers, Job, JobFile, JobOutcome, PartsRead } from './children/jobs.ts';
import type { FileFacts } from '../formats/pieces/received.ts';

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
        detail:
          `The work on the document was not done in the ${Math.ceil(deadlineMs / 1000)} s that it may take. ` +
          'Ask for fewer pages, or in a mode with more time.',
      };
    case 'starved':
      return { kind: 'starved', detail: 'The server has too much to do to work on the document now.' };
    case 'not_started':
      throw new ProcessNotStarted(outcome.message);
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

/** Of the deadline: for parsing a PDF as a whole, which takes a second where nothing keeps the parser busy. */
const PARSING_SHARE = 1 / 4;
/** The same for a part of one. */
const PART_SHARE = 1 / 16;
/** Of the deadline, and beyond it: for a last look, at text layers alone, after work that did not end in its time. */
const LAST_SHARE = 1 / 8;
const PART_PAGES = 20;
/** Parts that are not read, and divided or left: a page that is found among twenty costs six. */
const UNREAD_MAX = 24;

/** Work on a file of pages. */
type OnFile = 'read' | 'render' | 'renderPart' | 'extract';

/** A job that reads a file, and what it takes to do it with the parts of a PDF. */
export interface WholeJob<K extends OnFile> {
  readonly job: DocumentJob & { readonly kind: K; readonly file: JobFile };
  readonly limits: PoolLimits & Pick<ParseRequest, 'onPagesRead'>;
  /** The file for a job on these pages of it. */
  readonly fileFor: (numbers: readonly number[]) => JobFile;
  /** The same job with a document that was read in parts. */
  readonly goOn: (read: PackedDocument, limits: PoolLimits) => Promise<Answers[K] | ParseFailure>;
  /** Goes on without a page that was read too, and notes it. Left out: that is a failure. */
  readonly unread?: Unread | undefined;
}

/** Jobs for which no page was read, and what the first of them failed with. */
export interface Unread {
  count: number;
  failure?: ParseFailure;
}

/**
 * Does a job on a file. A PDF that keeps the parser busy, that ends its process or that is not done in its time is
 * read again in parts, each in a time of its own, and a part that is not read is divided, down to the page: so one
 * page costs itself only. What is not read by then is said in the answer. Only where no page was read, or the file is
 * no PDF of several pages, it is what the whole failed with.
 */
export async function readWhole<K extends OnFile>(
  pool: ChildPool,
  whole: WholeJob<K>,
): Promise<Answers[K] | ParseFailure> {
  const { job, limits } = whole;
  const { deadlineMs, onPagesRead } = limits;
  const onProgress = onPagesRead && ((told: unknown) => onPagesRead(Number(told)));
  const outcome = await pool.run(job, { ...limits, onProgress, parsingMs: PARSING_SHARE * deadlineMs });
  if (outcome.kind === 'answered') return outcome.answer as Answers[K];
  const failure = failureOf(outcome, deadlineMs);
  const { reading: pages = [], workedMs = 0 } = outcome;
  if (pages.length < 2 || !isOfItself(failure)) return failure;
  return readAgain(pool, whole, { pages, failure, leftMs: deadlineMs - workedMs });
}

/** Whether it is the document's doing, so that its pages by themselves may do better. */
const isOfItself = ({ kind }: ParseFailure): boolean => kind !== 'aborted' && kind !== 'starved';

/** What the whole failed with, and the time that is left for its pages. */
interface FailedWhole {
  readonly pages: readonly number[];
  readonly failure: ParseFailure;
  readonly leftMs: number;
}

async function readAgain<K extends OnFile>(
  pool: ChildPool,
  { job, limits, fileFor, goOn, unread }: WholeJob<K>,
  { pages, failure, leftMs }: FailedWhole,
): Promise<Answers[K] | ParseFailure> {
  const leastMs = LAST_SHARE * limits.deadlineMs;
  const isLast = leftMs < leastMs;
  const left = { ms: Math.max(leastMs, leftMs) };
  const partOf = (numbers: readonly number[]): JobFile => {
    const file = fileFor(numbers);
    const isLaterPart = file.isLaterPart === true || numbers[0] !== pages[0];
    return { ...file, isLaterPart, ...(isLast && { effort: 'fast' }) };
  };
  const read = await readInParts(pool, { pages, limits, left, partOf });
  if ('kind' in read) return read;
  if (read.parts.length === 0) {
    if (unread === undefined) return failure;
    unread.count += 1;
    unread.failure ??= failure;
  }
  const inTime = { ...limits, kept: undefined, deadlineMs: Math.max(leastMs, left.ms) };
  const isHurried = isLast && job.file.effort !== 'fast';
  const joined = await runDocumentJob(pool, { kind: 'joinRead', ...read, isHurried }, inTime);
  return joined.kind === 'ok' ? goOn(joined.document, inTime) : joined;
}

interface Parting {
  readonly pages: readonly number[];
  readonly limits: PoolLimits;
  /** Time to work, ms. */
  readonly left: { ms: number };
  readonly partOf: (numbers: readonly number[]) => JobFile;
}

/** One part after the other, in the order of their pages; a failure only where that is not the document's doing. */
async function readInParts(
  pool: ChildPool,
  { pages, limits, left, partOf }: Parting,
): Promise<Omit<PartsRead, 'isHurried'> | ParseFailure> {
  const parts: Uint8Array[] = [];
  const unread: Record<'late' | 'failed', number[]> = { late: [], failed: [] };
  const open = [...pageRanges(pages, Math.min(PART_PAGES, Math.ceil(pages.length / 2)))].reverse();
  let unreadParts = 0;
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const read = await readPart(pool, { part, limits, left, partOf });
    if (read.kind === 'aborted' || read.kind === 'starved') return read;
    if (read.kind === 'ok') parts.push(read.document.packed);
    else {
      unreadParts += 1;
      if (read.kind === 'late' || part.length === 1 || unreadParts > UNREAD_MAX)
        unread[read.kind === 'unreadable' ? 'failed' : 'late'].push(...part);
      else open.push(...[...pageRanges(part, Math.ceil(part.length / 2))].reverse());
    }
  }
  return { parts, ...unread };
}

/** `late`: no time was left to begin. */
async function readPart(
  pool: ChildPool,
  { part, limits, left, partOf }: Omit<Parting, 'pages'> & { readonly part: readonly number[] },
): Promise<ReadResult | { readonly kind: 'late' }> {
  if (left.ms <= 0) return { kind: 'late' };
  const { deadlineMs } = limits;
  const outcome = await pool.run(
    { kind: 'read', file: partOf(part) },
    { ...limits, kept: undefined, deadlineMs: left.ms, parsingMs: PART_SHARE * deadlineMs },
  );
  left.ms -= outcome.workedMs ?? 0;
  return outcome.kind === 'answered' ? (outcome.answer as ReadResult) : failureOf(outcome, deadlineMs);
}
