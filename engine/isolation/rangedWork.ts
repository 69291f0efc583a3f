import { deserialize, serialize } from 'node:v8';
import type { PackedDocument } from '../document/document.ts';
import type { ParseFailure, ParseRequest, RenderForm } from '../ports/documentParser.ts';
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
import type { LayoutTraits } from '../layout/pages/layoutPages.ts';
import { aloneIn, readInTurns } from './rangeTurns.ts';
import type {
  ExtractionRequest,
  ExtractionResult,
  Ranged,
  RangedWork,
  RangesToHelp,
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
interface RangedReading {
  readonly pool: ChildPool;
  readonly means: RecognitionMeans;
  readonly request: Ranged<ParseRequest>;
  readonly traits: LayoutTraits | undefined;
  /** undefined: a range of which no page is read is a failure. */
  readonly unread: Unread | undefined;
}

/** Ranges without a page that was read: after so many of them no other is begun. */
const UNREAD_MAX = 3;

/** Part names tell what they were made by: another way to read ranges has others. */
const MADE_BY = 'v1';
const nameOf = (range: readonly number[]): string => `${MADE_BY}-${range[0] ?? 0}-${range.at(-1) ?? 0}`;
const leadNameOf = (range: readonly number[]): string => `${nameOf(range)}-lead`;

/** `numbers` alone; undefined: the whole file. */
const fileFor = ({ request, means, traits }: RangedReading, numbers?: readonly number[]): JobFile => ({
  ...fileOf({ ...request, pages: numbers && spelledPages(numbers) }, { ...means, isLast: true }),
  traits,
  isLaterPart: numbers !== undefined && numbers[0] !== request.numbers[0],
});

/** Of the deadline: telling the look of the whole; without it each range is laid out by its own. */
const SURVEY_SHARE = 1 / 4;

/** The look of the whole document, as some of its pages show it; where one of these is not read, nothing is told. */
async function surveyed(reading: RangedReading): Promise<LayoutTraits | undefined | ParseFailure> {
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
  reading: RangedReading,
  range: readonly number[],
  { job, goOn }: Pick<WholeJob<K>, 'job' | 'goOn'>,
): Promise<Answers[K] | ParseFailure> {
  const { pool, request: limits, unread } = reading;
  if (unread === undefined || unread.count < UNREAD_MAX)
    return readWhole(pool, { job, goOn, limits, unread, fileFor: (numbers) => fileFor(reading, numbers) });
  unread.count += 1;
  const left = { parts: [], late: range, failed: [], isHurried: false };
  const read = await runDocumentJob(pool, { kind: 'joinRead', ...left }, limits);
  return read.kind === 'ok' ? goOn(read.document, limits) : read;
}

const ABORTED: ParseFailure = { kind: 'aborted' };

type Ranges = readonly (readonly number[])[];

/** What is made of each range. */
type RangeJob =
  | { readonly kind: 'read' }
  | { readonly kind: 'render'; readonly form?: RenderForm | undefined };

/** How ranges are read, for those who help. Passwords are not in it. */
interface RangePlan extends Pick<ParseRequest, 'fileName' | 'effort' | 'pagesMax' | 'deadlineMs'> {
  readonly job: RangeJob;
  readonly numbers: readonly number[];
  readonly traits: LayoutTraits | undefined;
}

/** Documents of two efforts differ, and one operation may need both. */
const partName = ({ kind }: RangeJob, { effort }: Pick<ParseRequest, 'effort'>): string =>
  kind === 'render' ? `${MADE_BY}-render` : `${MADE_BY}-read-${effort}`;
const planName = (part: string): string => `${part}-plan`;

/** Ranges of a document, what is made of each, and where it lies. */
interface RangesWork {
  readonly reading: RangedReading;
  readonly job: RangeJob;
  readonly ranges: Ranges;
}

const madeName = ({ reading: { request }, job }: RangesWork, range: readonly number[]): string =>
  job.kind === 'render' ? nameOf(range) : `${nameOf(range)}-${request.effort}-read`;

type Made = { readonly kind: 'made'; readonly bytes: Uint8Array } | ParseFailure;

/** Makes what is to be made of a range, and puts it on the shelf. */
async function madeOf(work: RangesWork, range: readonly number[]): Promise<Made> {
  const { reading, job } = work;
  const made = job.kind === 'render' ? await rendered(reading, range, job) : await readRange(reading, range);
  if (made.kind === 'made') await reading.request.shelf.put(madeName(work, range), made.bytes);
  return made;
}

async function rendered(
  reading: RangedReading,
  range: readonly number[],
  { form }: Pick<Extract<RangeJob, { kind: 'render' }>, 'form'>,
): Promise<Made> {
  const answer = await workOnRange(reading, range, {
    job: { kind: 'renderPart', file: fileFor(reading, range), form },
    goOn: ({ packed }, limits) =>
      runDocumentJob(reading.pool, { kind: 'renderPartOf', packed, form }, limits),
  });
  return answer.kind === 'part' ? { kind: 'made', bytes: answer.part } : answer;
}

async function readRange(reading: RangedReading, range: readonly number[]): Promise<Made> {
  const answer = await workOnRange(reading, range, {
    job: { kind: 'read', file: fileFor(reading, range) },
    goOn: (document) => Promise.resolve({ kind: 'ok', document }),
  });
  return answer.kind === 'ok' ? { kind: 'made', bytes: serialize(answer.document) } : answer;
}

interface Reader {
  /** As in `readInTurns`. */
  readonly waits: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onDone: (done: ReadonlySet<number>) => void;
  /** Whether a range is not needed any more; left out: each is. */
  readonly isNeedless?: (range: readonly number[]) => Promise<boolean>;
}

/** Reads ranges as long as there are any to take; what is on the shelf already is not made again. */
const readRanges = (work: RangesWork, { isNeedless, signal, ...reader }: Reader) => {
  const { reading, job, ranges } = work;
  const { shelf, turns = aloneIn(), ...request } = reading.request;
  return readInTurns({
    ...reader,
    turns,
    part: partName(job, request),
    ranges: ranges.length,
    atOnce: AT_ONCE,
    signal: signal ?? request.signal,
    read: async (at) => {
      const range = ranges[at];
      if (range === undefined || (await isNeedless?.(range)) === true) return undefined;
      if ((await shelf.find(madeName(work, range))) !== undefined) return undefined;
      const made = await madeOf(work, range);
      return made.kind === 'made' ? undefined : made;
    },
  });
};

/** What was made of a range; what another process says to have made and is not there is made here. */
const found = async (work: RangesWork, range: readonly number[]): Promise<Made> => {
  const bytes = await work.reading.request.shelf.find(madeName(work, range));
  return bytes === undefined ? madeOf(work, range) : { kind: 'made', bytes };
};

/** What was made of all ranges, in order. */
async function allParts(work: RangesWork): Promise<Uint8Array[] | ParseFailure> {
  const failure = await readRanges(work, { waits: true, onDone: tellPages(work) });
  if (failure !== undefined) return failure;
  const parts: Uint8Array[] = [];
  for (const range of work.ranges) {
    const part = await found(work, range);
    if (part.kind !== 'made') return part;
    parts.push(part.bytes);
  }
  return parts;
}

/** Tells pages as their ranges are done, whoever read them. */
const tellPages =
  ({ reading: { request }, ranges }: RangesWork) =>
  (done: ReadonlySet<number>): void => {
    if (done.size > 0) request.onPages([...done].reduce((pages, at) => pages + (ranges[at]?.length ?? 0), 0));
  };

/** Lets one wait until a range is read, or until no more of them is. */
const arrivals = () => {
  const waiting = new Map<number, () => void>();
  let known: ReadonlySet<number> = new Set();
  let isOver = false;
  let failure: ParseFailure | undefined;
  return {
    tell: (done: ReadonlySet<number>): void => {
      known = done;
      for (const [at, go] of waiting) if (done.has(at)) go();
    },
    end: (failed?: ParseFailure): void => {
      isOver = true;
      failure = failed;
      for (const go of waiting.values()) go();
    },
    /** What reading failed with, once it is over. */
    failure: (): ParseFailure | undefined => failure,
    of: (at: number): Promise<void> =>
      isOver || known.has(at) ? Promise.resolve() : new Promise((go) => void waiting.set(at, go)),
  };
};

type ExtractionAsked = Pick<ExtractionRequest, 'schema' | 'learned' | 'settings'>;
type NotExtracted = Exclude<ExtractionResult, { readonly kind: 'ok' }>;

/** Extracts from ranges in order, for each needs what leads to it. They are read meanwhile, by whoever takes them. */
async function extractedParts(
  work: RangesWork,
  asked: ExtractionAsked,
): Promise<Uint8Array[] | NotExtracted> {
  const { shelf, signal } = work.reading.request;
  const arriving = arrivals();
  const stopping = new AbortController();
  const reader = readRanges(work, {
    waits: true,
    isNeedless: async (range) => (await shelf.find(nameOf(range))) !== undefined,
    onDone: arriving.tell,
    signal: signal === undefined ? stopping.signal : AbortSignal.any([signal, stopping.signal]),
  }).then(arriving.end, () => arriving.end());
  try {
    return await inOrder(work, { ...asked, arriving });
  } finally {
    stopping.abort();
    await reader;
  }
}

interface InOrder extends ExtractionAsked {
  readonly arriving: ReturnType<typeof arrivals>;
}

async function inOrder(work: RangesWork, asked: InOrder): Promise<Uint8Array[] | NotExtracted> {
  const { reading, ranges } = work;
  const { shelf, signal, onPages } = reading.request;
  const parts: Uint8Array[] = [];
  let lead: Uint8Array | undefined;
  let pages = 0;
  for (const [at, range] of ranges.entries()) {
    if (signal?.aborted === true) return ABORTED;
    const known = await shelf.find(nameOf(range));
    if (known === undefined) {
      await asked.arriving.of(at);
      const answer = asked.arriving.failure() ?? (await extractedPart(work, range, { ...asked, lead }));
      if (answer.kind !== 'part') return answer;
      await shelf.put(leadNameOf(range), answer.lead);
      await shelf.put(nameOf(range), answer.part);
      parts.push(answer.part);
      ({ lead } = answer);
    } else {
      parts.push(known);
      lead = await shelf.find(leadNameOf(range));
    }
    pages += range.length;
    onPages(pages);
  }
  return parts;
}

async function extractedPart(
  work: RangesWork,
  range: readonly number[],
  { lead, schema, settings, learned }: ExtractionAsked & { readonly lead: Uint8Array | undefined },
): Promise<Answers['extractPart'] | ParseFailure> {
  const { pool, request } = work.reading;
  const read = await found(work, range);
  if (read.kind !== 'made') return read;
  const { packed } = deserialize(read.bytes) as PackedDocument;
  return runDocumentJob(pool, { kind: 'extractPart', packed, lead, schema, settings, learned }, request);
}

/** What the first range failed with, where no range has a page that was read. */
const failureIn = ({ reading: { unread }, ranges }: RangesWork): ParseFailure | undefined =>
  unread?.count === ranges.length ? unread.failure : undefined;

/** Where others may help, how they do it lies on the shelf; who takes the document over reads it by the same plan. */
async function planned(
  reading: RangedReading,
  job: RangeJob,
): Promise<LayoutTraits | undefined | ParseFailure> {
  const { shelf, turns, numbers, fileName, effort, pagesMax, deadlineMs } = reading.request;
  if (turns === undefined) return surveyed(reading);
  const name = planName(partName(job, { effort }));
  const known = await shelf.find(name);
  if (known !== undefined) return (deserialize(known) as RangePlan).traits;
  const traits = await surveyed(reading);
  if (traits !== undefined && 'kind' in traits) return traits;
  const plan: RangePlan = { job, numbers, traits, fileName, effort, pagesMax, deadlineMs };
  await shelf.put(name, serialize(plan));
  return traits;
}

/** Reads ranges of a document that another process joins; undefined where nothing is to be done. */
async function helped(
  { pool, means }: Pick<RangedReading, 'pool' | 'means'>,
  { part, ...request }: RangesToHelp,
): Promise<ParseFailure | undefined> {
  const known = part.startsWith(`${MADE_BY}-`) ? await request.shelf.find(planName(part)) : undefined;
  if (known === undefined) return undefined;
  const { job, traits, ...plan } = deserialize(known) as RangePlan;
  // A range of which no page is read is for the owner to judge, who counts them.
  const reading = { pool, means, request: { ...plan, ...request, onPages: () => undefined }, traits };
  const work = { reading: { ...reading, unread: undefined }, job, ranges: pageRanges(plan.numbers) };
  return readRanges(work, { waits: false, onDone: () => undefined });
}

export const rangedWork = (pool: ChildPool, means: RecognitionMeans): RangedWork => {
  const opened = async (
    request: Ranged<ParseRequest>,
    job: RangeJob,
  ): Promise<(RangesWork & { readonly kind: 'opened' }) | ParseFailure> => {
    const reading = { pool, means, request, traits: undefined, unread: { count: 0 } };
    const traits = await planned(reading, job);
    if (traits !== undefined && 'kind' in traits) return traits;
    return { kind: 'opened', reading: { ...reading, traits }, job, ranges: pageRanges(request.numbers) };
  };
  return {
    read: async (request) => {
      const work = await opened(request, { kind: 'read' });
      if (work.kind !== 'opened') return work;
      const parts = await allParts(work);
      if ('kind' in parts) return parts;
      return { kind: 'ok', parts: parts.map((part) => deserialize(part) as PackedDocument) };
    },
    render: async (request) => {
      const work = await opened(request, { kind: 'render', form: request.form });
      if (work.kind !== 'opened') return work;
      const parts = await allParts(work);
      if ('kind' in parts) return parts;
      const failure = failureIn(work);
      if (failure !== undefined) return failure;
      return runDocumentJob(pool, { kind: 'joinRendered', parts }, request);
    },
    extract: async (request) => {
      const { schema, settings } = request;
      const work = await opened(request, { kind: 'read' });
      if (work.kind !== 'opened') return work;
      const parts = await extractedParts(work, request);
      if ('kind' in parts) return parts;
      const failure = failureIn(work);
      if (failure !== undefined) return failure;
      const job = { kind: 'joinExtracted', parts, schema, citations: settings.citations } as const;
      return runDocumentJob(pool, job, request);
    },
    help: (request) => helped({ pool, means }, request),
  };
};
