import { deserialize, serialize } from 'node:v8';
import type { PackedDocument } from '../document/document.ts';
import type { ParseFailure, ParseRequest } from '../ports/documentParser.ts';
import { pageRanges, spelledPages } from '../document/pages.ts';
import type { ChildPool } from './children/childPool.ts';
import type { Answers, JobFile } from './children/jobs.ts';
import {
  fileOf,
  readWhole,
  runDocumentJob,
  type RecognitionMeans,
  type Unread,
  type WholeJob,
} from './documentJobs.ts';
import type { LayoutTraits } from '../layout/layoutPages.ts';
import { eachOf } from '../models/byModel/modelWorkDeps.ts';
import type {
  ExtractionRequest,
  ExtractionResult,
  PartShelf,
  Ranged,
  RangedWork,
} from '../ports/extractionEngine.ts';

/** Pages by which the look of a whole document is told. */
const SURVEY_PAGES = 40;

/** Pairs of neighbours from all over a document: left and right pages may have headers of their own. */
function surveyPages(numbers: readonly number[]): readonly number[] {
  const pairs = SURVEY_PAGES / 2;
  if (numbers.length <= SURVEY_PAGES) return numbers;
  const starts = Array.from({ length: pairs }, (_, i) =>
    Math.floor((i * (numbers.length - 2)) / (pairs - 1)),
  );
  return [...new Set(starts.flatMap((start) => numbers.slice(start, start + 2)))];
}

/** Ranges of one document that are read at the same time, and so the words that are in memory at once. */
const AT_ONCE = 2;

/** A document that is read in ranges, whatever for. */
interface Reading {
  readonly pool: ChildPool;
  readonly means: RecognitionMeans;
  readonly request: Ranged<ParseRequest>;
  readonly traits: LayoutTraits | undefined;
  readonly unread: Unread;
}

/** Ranges without a page that was read: after so many of them no other is begun. */
const UNREAD_MAX = 3;

/** Part names tell what they were made by: another way to read ranges has others. */
const nameOf = (range: readonly number[]): string => `v1-${range[0] ?? 0}-${range.at(-1) ?? 0}`;
const leadNameOf = (range: readonly number[]): string => `${nameOf(range)}-lead`;

/** `numbers` alone; undefined: the whole file. */
const fileFor = ({ request, means, traits }: Reading, numbers?: readonly number[]): JobFile => ({
  ...fileOf({ ...request, pages: numbers && spelledPages(numbers) }, { ...means, isLast: true }),
  traits,
});

/** Of the deadline: telling the look of the whole; without it each range is laid out by its own. */
const SURVEY_SHARE = 1 / 4;

/** The look of the whole document, as some of its pages show it; where one of these is not read, nothing is told. */
async function surveyed(reading: Reading): Promise<LayoutTraits | undefined | ParseFailure> {
  const { pool, request } = reading;
  const numbers = surveyPages(request.numbers);
  const outcome = await pool.run(
    { kind: 'survey', file: fileFor(reading), numbers },
    { ...request, deadlineMs: SURVEY_SHARE * request.deadlineMs },
  );
  if (outcome.kind === 'aborted') return ABORTED;
  if (outcome.kind !== 'answered') return undefined;
  const answer = outcome.answer as Answers['survey'];
  return answer.kind === 'surveyed' ? answer.traits : answer;
}

/**
 * Does a job on a range; pages that are not read are said to be in its part, be it all of them. A document of which
 * many ranges cost all their time would cost hours: then the rest is not begun.
 */
async function workOnRange<K extends 'read' | 'renderPart'>(
  reading: Reading,
  range: readonly number[],
  { job, goOn }: Pick<WholeJob<K>, 'job' | 'goOn'>,
): Promise<Answers[K] | ParseFailure> {
  const { pool, request: limits, unread } = reading;
  if (unread.count < UNREAD_MAX)
    return readWhole(pool, { job, goOn, limits, unread, fileFor: (numbers) => fileFor(reading, numbers) });
  unread.count += 1;
  const left = { parts: [], late: range, failed: [], isHurried: false };
  const read = await runDocumentJob(pool, { kind: 'joinRead', ...left }, limits);
  return read.kind === 'ok' ? goOn(read.document, limits) : read;
}

const allParts = async (shelf: PartShelf, ranges: readonly (readonly number[])[]): Promise<Uint8Array[]> => {
  const parts: Uint8Array[] = [];
  for (const range of ranges) {
    const part = await shelf.find(nameOf(range));
    if (part === undefined) throw new Error('a part of a document is gone from its shelf');
    parts.push(part);
  }
  return parts;
};

/** Counts pages as their ranges are done. */
const progressOf = ({ onPages }: Pick<Ranged<ParseRequest>, 'onPages'>) => {
  let done = 0;
  return (range: readonly number[]): void => {
    done += range.length;
    onPages(done);
  };
};

const ABORTED: ParseFailure = { kind: 'aborted' };

async function renderedParts(
  reading: Reading,
  ranges: readonly (readonly number[])[],
  { form, shelf, signal, onPages }: Parameters<RangedWork['render']>[0],
): Promise<ParseFailure | undefined> {
  const tell = progressOf({ onPages });
  let failure: ParseFailure | undefined;
  await eachOf(ranges, AT_ONCE, async (range) => {
    if (signal?.aborted === true) failure = ABORTED;
    if (failure !== undefined) return;
    if ((await shelf.find(nameOf(range))) === undefined) {
      const answer = await workOnRange(reading, range, {
        job: { kind: 'renderPart', file: fileFor(reading, range), form },
        goOn: ({ packed }, limits) =>
          runDocumentJob(reading.pool, { kind: 'renderPartOf', packed, form }, limits),
      });
      if (answer.kind === 'part') await shelf.put(nameOf(range), answer.part);
      else failure ??= answer;
    }
    if (failure === undefined) tell(range);
  });
  return failure;
}

/** Reads a range; what it fails with is its answer. */
const readRange = (reading: Reading, range: readonly number[]) =>
  workOnRange(reading, range, {
    job: { kind: 'read', file: fileFor(reading, range) },
    goOn: (document) => Promise.resolve({ kind: 'ok', document }),
  });

/** The ranges as they were read, each from the shelf where it is there already. */
async function readParts(
  reading: Reading,
  ranges: readonly (readonly number[])[],
  { shelf, signal, onPages }: Ranged<ParseRequest>,
): Promise<readonly PackedDocument[] | ParseFailure> {
  const tell = progressOf({ onPages });
  let failure: ParseFailure | undefined;
  const parts = await eachOf(ranges, AT_ONCE, async (range) => {
    if (signal?.aborted === true) failure = ABORTED;
    if (failure !== undefined) return [];
    const name = `${nameOf(range)}-read`;
    const known = await shelf.find(name);
    if (known !== undefined) {
      tell(range);
      return [deserialize(known) as PackedDocument];
    }
    const answer = await readRange(reading, range);
    if (answer.kind !== 'ok') {
      failure ??= answer;
      return [];
    }
    await shelf.put(name, serialize(answer.document));
    tell(range);
    return [answer.document];
  });
  return failure ?? parts.flat();
}

/**
 * In order, for each range needs what leads to it; the next ones are read meanwhile. What is on the shelf
 * already is where it begins.
 */
async function extractedParts(
  reading: Reading,
  ranges: readonly (readonly number[])[],
  { shelf, signal, onPages, schema, learned, minConfidence }: Ranged<ExtractionRequest>,
): Promise<ExtractionResult | undefined> {
  const tell = progressOf({ onPages });
  const ahead = new Map<number, ReturnType<typeof readRange>>();
  const readAhead = (from: number): void => {
    for (let at = from; at < Math.min(from + AT_ONCE, ranges.length); at += 1) {
      const range = ranges[at];
      if (range === undefined || ahead.has(at)) continue;
      const read = readRange(reading, range);
      // It is awaited in its turn, or never.
      read.catch(() => undefined);
      ahead.set(at, read);
    }
  };
  let lead: Uint8Array | undefined;
  for (const [at, range] of ranges.entries()) {
    if (signal?.aborted === true) return ABORTED;
    const known = await shelf.find(nameOf(range));
    if (known === undefined) {
      readAhead(at);
      const read = await ahead.get(at);
      ahead.delete(at);
      if (read?.kind !== 'ok') return read;
      const job = {
        kind: 'extractPart',
        packed: read.document.packed,
        lead,
        schema,
        minConfidence,
        learned,
      } as const;
      const answer = await runDocumentJob(reading.pool, job, reading.request);
      if (answer.kind !== 'part') return answer;
      await shelf.put(leadNameOf(range), answer.lead);
      await shelf.put(nameOf(range), answer.part);
      lead = answer.lead;
    } else lead = await shelf.find(leadNameOf(range));
    tell(range);
  }
  return undefined;
}

/** What the first range failed with, where no range has a page that was read. */
const failureIn = ({ unread }: Reading, ranges: readonly unknown[]): ParseFailure | undefined =>
  unread.count === ranges.length ? unread.failure : undefined;

export const rangedWork = (pool: ChildPool, means: RecognitionMeans): RangedWork => {
  const opened = async (request: Ranged<ParseRequest>): Promise<Reading | ParseFailure> => {
    const reading = { pool, means, request, traits: undefined, unread: { count: 0 } };
    const traits = await surveyed(reading);
    return traits !== undefined && 'kind' in traits ? traits : { ...reading, traits };
  };
  return {
    read: async (request) => {
      const reading = await opened(request);
      if ('kind' in reading) return reading;
      const parts = await readParts(reading, pageRanges(request.numbers), request);
      return 'kind' in parts ? parts : { kind: 'ok', parts };
    },
    render: async (request) => {
      const reading = await opened(request);
      if ('kind' in reading) return reading;
      const ranges = pageRanges(request.numbers);
      const failure = (await renderedParts(reading, ranges, request)) ?? failureIn(reading, ranges);
      if (failure !== undefined) return failure;
      const parts = await allParts(request.shelf, ranges);
      return runDocumentJob(pool, { kind: 'joinRendered', parts }, request);
    },
    extract: async (request) => {
      const { schema, citations } = request;
      const reading = await opened(request);
      if ('kind' in reading) return reading;
      const ranges = pageRanges(request.numbers);
      const failure = (await extractedParts(reading, ranges, request)) ?? failureIn(reading, ranges);
      if (failure !== undefined) return failure;
      const parts = await allParts(request.shelf, ranges);
      return runDocumentJob(pool, { kind: 'joinExtracted', parts, schema, citations }, request);
    },
  };
};
