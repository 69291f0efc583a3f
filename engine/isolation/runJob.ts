import { deserialize, serialize } from 'node:v8';
import { pageSummary, type Document, type DocumentWarning, type PageSummary } from '../document/document.ts';
import { deadlineWarnings } from '../document/pages.ts';
import type { ParseResult, RenderResult } from '../ports/documentParser.ts';
import { layoutTextOf } from '../document/layoutText.ts';
import { pageRanks } from '../models/byModel/pageRanks.ts';
import { seenWarnings } from '../extraction/confidenceFloor.ts';
import { extract, type LocalExtraction } from '../extraction/extract.ts';
import { saidOtherwise } from '../extraction/facts/exactValues.ts';
import { leftWarnings } from '../extraction/pace.ts';
import { withAbsence } from '../extraction/grounding/absence.ts';
import {
  joinedFindings,
  leadPages,
  ownFindings,
  type RangeFindings,
} from '../extraction/ranges/joinedFindings.ts';
import { checkSchema, validate } from '../extraction/schema/validation.ts';
import { withContinuedTables } from '../layout/tables/continuedTables.ts';
import type { JsonObject } from '../kernel/json.ts';
import { extractTaught } from '../learning/extractWith.ts';
import { classify } from '../sorting/classify.ts';
import { split } from '../sorting/split.ts';
import type { ExtractionResult } from '../ports/extractionEngine.ts';
import type { Answers, Job } from './children/jobs.ts';
import { exactFirst } from './exactFirst.ts';
import { withAskedCodes, withCodes, withZones } from './codesOfDocument.ts';
import { joinedRendition, joinedWarnings, rendered, renderedPart } from './renditions.ts';
import type { ReceivedFile } from '../formats/pieces/received.ts';
import { unpacked, packedResult } from '../ports/packing.ts';
import { scoreAnswer } from '../extraction/grounding/groundAnswer.ts';
import { picturesOfFile } from '../formats/pagePictures.ts';
import { inspectFile, readFileAsDocument, type OpenFile } from '../formats/readDocument.ts';
import { readTableFile } from '../formats/tableFile.ts';
import { modelDocument } from '../formats/text/modelDocument.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LearningResult, LearningTask } from '../ports/training.ts';
import { trainLocal } from '../learning/train.ts';

/** How often progress is told, ms. */
const TELL_EVERY_MS = 250;

/** Learns inside the child, telling its progress now and then. */
async function learn(
  { examples: packed, schema, options }: LearningTask,
  tell: (progress: unknown) => void,
): Promise<LearningResult> {
  const examples = packed.map(({ document, expected }) => ({
    document: unpacked(document.packed),
    expected,
  }));
  const steps = stepsOf(examples, schema, options);
  if (typeof steps === 'string') return { kind: 'failed', detail: steps };
  let toldAt = 0;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return { kind: 'learned', ...step.value };
    if (performance.now() - toldAt < TELL_EVERY_MS) continue;
    toldAt = performance.now();
    tell(step.value);
    await nextTurn();
  }
}

/** The first step says whether the examples can be learned from at all. */
function stepsOf(...given: Parameters<typeof trainLocal>): ReturnType<typeof trainLocal> | string {
  try {
    const probe = trainLocal(...given);
    probe.next();
    return trainLocal(...given);
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

interface ExtractedPart extends RangeFindings {
  readonly mimeType: string;
  readonly pages: readonly PageSummary[];
  readonly warnings: readonly DocumentWarning[];
}

const UNREAD = { source: 'text_layer', width: null, height: null, lines: [], blocks: [] } as const;
const LATE = { status: 'skipped', detail: 'The time was used up before the page was read.' } as const;
const FAILED = { status: 'failed', detail: 'The page could not be read.' } as const;

/** Pages that were read in parts, in their order, and those that were not read. */
function joinedRead({ parts, late, failed, isHurried }: JobOf<'joinRead'>): Document {
  const read = parts.map(unpacked);
  const pages = [
    ...read.flatMap((part) => part.pages),
    ...late.map((page) => ({ page, ...UNREAD, ...LATE })),
    ...failed.map((page) => ({ page, ...UNREAD, ...FAILED })),
  ].sort((a, b) => a.page - b.page);
  const inHaste = isHurried ? pages.map(({ page }) => page).filter((page) => !failed.includes(page)) : late;
  return {
    mimeType: read[0]?.mimeType ?? 'application/pdf',
    pages: withContinuedTables(pages),
    warnings: [
      ...deadlineWarnings(inHaste),
      ...failed.map((page) => ({ code: 'page_failed' as const, message: `Page ${page}: ${FAILED.detail}` })),
      ...joinedWarnings(read),
    ],
  };
}

/** Where the pages of a document say something else than the invoice that lies in it as data. */
function readOtherwise(
  found: LocalExtraction,
  { invoice, ...printed }: Document,
  { schema, settings, isLate }: Pick<Extraction, 'schema' | 'settings' | 'isLate'>,
): readonly DocumentWarning[] {
  if (invoice === undefined) return [];
  const paths = new Set(found.citations.flatMap(({ by, path }) => (by === 'embedded_xml' ? [path] : [])));
  const { value } = found;
  return paths.size === 0
    ? []
    : saidOtherwise({ value, paths }, extract(printed, schema, { ...settings, isLate }), 'page');
}

/** The part of a range, and the pages that lead to the next. */
function extractedPart(
  { packed, lead, schema, settings, learned }: Extract<Job, { readonly kind: 'extractPart' }>,
  isLate: () => boolean,
): Answers['extractPart'] {
  const checked = checkSchema(schema);
  if (checked.kind === 'invalid_schema') return checked;
  const options = { ...settings, isLate };
  // Not of the pages that lead to it: a code comes before the words of a page, also of another one.
  const range = withZones(unpacked(packed));
  const before = lead === undefined ? [] : unpacked(lead).pages;
  // Which tables go on was told within the range: its first page goes on with what leads to it.
  const document = { ...range, pages: withContinuedTables([...before, ...range.pages]) };
  const found =
    learned === undefined
      ? extract(document, schema, options)
      : extractTaught({ artifact: learned, ...options }, document, schema);
  const { value, citations, seen, left } = ownFindings(found, range.pages[0]?.page ?? 1);
  const leading = leadPages(found, document);
  return {
    kind: 'part',
    part: serialize({
      mimeType: range.mimeType,
      value,
      citations,
      pages: range.pages.map(pageSummary),
      warnings: [
        ...range.warnings,
        ...readOtherwise(found, document, { schema, settings, isLate }),
        ...leftWarnings(left),
        ...seenWarnings(seen, settings),
      ],
    } satisfies ExtractedPart),
    lead: serialize({ ...range, pages: document.pages.filter(({ page }) => leading.has(page)) }),
  };
}

interface Joining {
  readonly parts: readonly Uint8Array[];
  readonly schema: JsonObject;
  readonly citations: boolean;
}

function joinedExtraction({ parts: packed, schema, citations }: Joining): ExtractionResult {
  const parts = packed.map((part) => deserialize(part) as ExtractedPart);
  const found = joinedFindings(parts);
  const { value, errors } = validate(schema, withAbsence(schema, found.value));
  return {
    kind: 'ok',
    extraction: {
      mimeType: parts[0]?.mimeType ?? '',
      value,
      validationErrors: errors,
      citations: citations ? found.citations : [],
      pages: parts.flatMap(({ pages }) => pages),
      warnings: joinedWarnings(parts),
    },
  };
}

type JobOf<K extends Job['kind']> = Extract<Job<ReceivedFile>, { readonly kind: K }>;
type ExtractJob = JobOf<'extract'>;
type Extraction = Pick<ExtractJob, 'schema' | 'settings' | 'learned' | 'why'> & {
  readonly document: Document;
  readonly isLate: () => boolean;
};
/** Work on a document that was read before. */
type DocumentJob =
  | JobOf<'documentOf'>
  | JobOf<'renderDocument'>
  | JobOf<'extractFrom'>
  | JobOf<'ground'>
  | JobOf<'layoutText'>
  | JobOf<'classify' | 'split'>
  | PartsJob;
/** Work on parts of a long document. */
type PartsJob =
  | JobOf<'extractPart'>
  | JobOf<'renderPartOf'>
  | JobOf<'joinRead'>
  | JobOf<'joinRendered'>
  | JobOf<'joinExtracted'>;
/** Work on what a caller or a model sent beside a document. */
type ValueJob = JobOf<'score'> | JobOf<'rankPages'> | JobOf<'checkSchema'> | JobOf<'validate'>;

/** Work on a file. */
type FileJob = Extract<Job<ReceivedFile>, { readonly file: ReceivedFile }>;

/** What a child lends to the job that it does. */
interface Surroundings {
  readonly tell: (progress: unknown) => void;
  readonly open: OpenFile;
  /** Whether the time of the job is nearly used up: for work that hears of nothing meanwhile. */
  readonly isLate: () => boolean;
}

/** Does one job inside the child. Expected failures are answers; what it throws is our own fault. */
export async function runJob(
  job: Job<ReceivedFile>,
  { tell, open, isLate }: Surroundings,
): Promise<Answers[Job['kind']]> {
  if ('file' in job) return jobOnFile(job, { open, isLate });
  switch (job.kind) {
    case 'learn':
      return learn(job, tell);
    case 'score':
    case 'rankPages':
    case 'checkSchema':
    case 'validate':
      return jobOnValue(job);
    default:
      return jobOnDocument(job, isLate);
  }
}

async function jobOnFile(
  job: FileJob,
  { open, isLate }: Omit<Surroundings, 'tell'>,
): Promise<Answers[FileJob['kind']]> {
  switch (job.kind) {
    case 'inspect':
      return inspectFile(job.file, open);
    case 'parse':
      return readFileAsDocument(job.file, open);
    case 'read':
      return packedResult(await readFileAsDocument(job.file, open));
    case 'render':
      return render(job, { open, isLate });
    case 'extract':
      return extractFromFile(job, { open, isLate });
    case 'pictures':
      return picturesOfFile(job.file, open);
    case 'tableFile':
      return readTableFile(job.file, job.limits);
    case 'survey':
      return survey(job, open);
    case 'renderPart':
      return renderPart(job, { open, isLate });
  }
}

function jobOnValue(job: ValueJob): Answers[ValueJob['kind']] {
  switch (job.kind) {
    case 'score':
      return { kind: 'scored', scored: scoreAnswer(job) };
    case 'rankPages':
      return { kind: 'ranked', ranks: pageRanks(job.text, job.schema) };
    case 'checkSchema':
      return checkSchema(job.schema);
    case 'validate':
      return validate(job.schema, job.value);
  }
}

function jobOnDocument(job: DocumentJob, isLate: () => boolean): Answers[DocumentJob['kind']] {
  switch (job.kind) {
    case 'documentOf':
      return packedResult({ kind: 'ok', document: modelDocument(job.mimeType, job.pages) });
    case 'renderDocument':
      return rendered(unpacked(job.packed), job.form, isLate);
    case 'extractFrom':
      return extractFrom(job, isLate);
    case 'ground':
      return exactFirst(job);
    case 'classify':
      return { kind: 'ok', classified: classify(unpacked(job.packed).pages, job.classes) };
    case 'split':
      return { kind: 'ok', documents: split(unpacked(job.packed).pages, job.classes) };
    case 'layoutText':
      return { kind: 'text', text: layoutTextOf(unpacked(job.packed)) };
    default:
      return jobOnParts(job, isLate);
  }
}

function jobOnParts(job: PartsJob, isLate: () => boolean): Answers[PartsJob['kind']] {
  switch (job.kind) {
    case 'extractPart':
      return extractedPart(job, isLate);
    case 'renderPartOf':
      return { kind: 'part', part: renderedPart(unpacked(job.packed), job.form) };
    case 'joinRead':
      return packedResult({ kind: 'ok', document: joinedRead(job) });
    case 'joinRendered':
      return joinedRendition(job.parts);
    case 'joinExtracted':
      return joinedExtraction(job);
  }
}

async function survey({ file, numbers }: JobOf<'survey'>, open: OpenFile): Promise<Answers['survey']> {
  const opened = await open(file);
  if (opened.kind !== 'open') return opened;
  return { kind: 'surveyed', traits: await opened.survey?.(numbers) };
}

async function renderPart(
  job: JobOf<'renderPart'>,
  surroundings: Omit<Surroundings, 'tell'>,
): Promise<Answers['renderPart']> {
  const parsed = await readForForm(job, surroundings);
  return parsed.kind === 'ok' ? { kind: 'part', part: renderedPart(parsed.document, job.form) } : parsed;
}

/** A document with all that its form asks of the file. */
async function readForForm(
  { file, form }: Pick<JobOf<'render'>, 'file' | 'form'>,
  { open, isLate }: Omit<Surroundings, 'tell'>,
): Promise<ParseResult> {
  const parsed = await readFileAsDocument(file, open);
  if (parsed.kind !== 'ok' || form?.codes !== true) return parsed;
  return { kind: 'ok', document: await withCodes(file, parsed.document, isLate) };
}

async function render(job: JobOf<'render'>, surroundings: Omit<Surroundings, 'tell'>): Promise<RenderResult> {
  const parsed = await readForForm(job, surroundings);
  return parsed.kind === 'ok' ? rendered(parsed.document, job.form, surroundings.isLate) : parsed;
}

/** The schema is checked first: a document is not read for a schema that cannot be used. */
async function extractFromFile(
  { file, ...work }: ExtractJob,
  { open, isLate }: Omit<Surroundings, 'tell'>,
): Promise<ExtractionResult> {
  const checked = checkSchema(work.schema);
  if (checked.kind === 'invalid_schema') return checked;
  const parsed = await readFileAsDocument(file, open);
  if (parsed.kind !== 'ok') return parsed;
  const document = await withAskedCodes({ file, schema: work.schema }, parsed.document, isLate);
  return extracted({ document, isLate, ...work });
}

function extractFrom({ packed, ...work }: JobOf<'extractFrom'>, isLate: () => boolean): ExtractionResult {
  const checked = checkSchema(work.schema);
  if (checked.kind === 'invalid_schema') return checked;
  return extracted({ document: unpacked(packed), isLate, ...work });
}

function extracted({ document, schema, settings, learned, why, isLate }: Extraction): ExtractionResult {
  const { mimeType, warnings, pages } = document;
  const coded = withZones(document);
  const options = { ...settings, isLate, why };
  const found =
    learned === undefined
      ? extract(coded, schema, options)
      : extractTaught({ artifact: learned, ...options }, coded, schema);
  const { value, errors } = validate(schema, withAbsence(schema, found.value));
  return {
    kind: 'ok',
    extraction: {
      mimeType,
      value,
      validationErrors: errors,
      citations: settings.citations ? found.citations : [],
      pages: pages.map(pageSummary),
      warnings: [
        ...warnings,
        ...readOtherwise(found, coded, { schema, settings, isLate }),
        ...leftWarnings(found.left),
        ...seenWarnings(found.seen, settings),
      ],
      ...(found.why !== undefined && { why: found.why }),
    },
  };
}
