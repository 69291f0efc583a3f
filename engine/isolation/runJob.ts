import { deserialize, serialize } from 'node:v8';
import { pageSummary, type Document, type DocumentWarning, type PageSummary } from '../document/document.ts';
import { markdownOfPage, markdownOf } from '../document/markdown.ts';
import { deadlineWarnings } from '../document/pages.ts';
import type { PageContents, RenderForm, RenderResult } from '../ports/documentParser.ts';
import { layoutTextOf } from '../document/layoutText.ts';
import { pageRanks } from '../models/byModel/pageRanks.ts';
import { pagesText, textEnded, plainTextOf } from '../document/plainText.ts';
import { MIN_CONFIDENCE, seenWarnings } from '../extraction/confidenceFloor.ts';
import { extract } from '../extraction/extract.ts';
import { leftWarnings } from '../extraction/pace.ts';
import { withAbsence } from '../extraction/grounding/absence.ts';
import {
  joinedFindings,
  leadPages,
  ownFindings,
  type RangeFindings,
} from '../extraction/ranges/joinedFindings.ts';
import { proposedSchema, type ProposedSchema } from '../extraction/schema/proposedSchema.ts';
import { checkSchema, validate } from '../extraction/schema/validation.ts';
import { withContinuedTables } from '../layout/tables/continuedTables.ts';
import type { JsonObject } from '../kernel/json.ts';
import { extractTaught } from '../learning/extractWith.ts';
import { proposalFor } from '../extraction/schema/proposal.ts';
import type { ExtractionResult } from '../ports/extractionEngine.ts';
import type { Answers, Job, ReceivedFile } from './children/jobs.ts';
import { MARKDOWN_CHARACTERS_MAX, tooLong, unpacked, packedResult } from './children/packing.ts';
import { groundAnswer, scoreAnswer } from '../extraction/grounding/groundAnswer.ts';
import { learn } from '../learning/learn.ts';
import { picturesOfFile } from '../formats/pagePictures.ts';
import { inspectFile, readFileAsDocument, type OpenFile } from '../formats/readDocument.ts';
import { modelDocument } from '../formats/text/modelDocument.ts';

/** What the form asks for of each page; undefined where it asks for nothing. */
function contentsOf({ pages }: Document, form: RenderForm): readonly PageContents[] | undefined {
  if (form.blocks !== true && form.pageMarkdown !== true) return undefined;
  return pages.map((page) => ({
    page: page.page,
    ...(form.pageMarkdown === true && { markdown: markdownOfPage(page, form) }),
    ...(form.blocks === true && { blocks: page.blocks }),
  }));
}

/** What one range of pages looks like as text; `plainText` is not ended yet, for pages may follow. */
interface RenderedPart {
  readonly mimeType: string;
  readonly markdown: string;
  readonly plainText: string;
  readonly pages: readonly PageSummary[];
  readonly warnings: readonly DocumentWarning[];
  readonly pageContents: readonly PageContents[] | undefined;
  /** Of its own blocks. */
  readonly proposed: ProposedSchema | undefined;
}

interface ExtractedPart extends RangeFindings {
  readonly mimeType: string;
  readonly pages: readonly PageSummary[];
  readonly warnings: readonly DocumentWarning[];
}

/** Warnings of one answer. */
const WARNINGS_MAX = 200;

const renderedPart = (document: Document, form: RenderForm = {}): Uint8Array =>
  serialize({
    mimeType: document.mimeType,
    markdown: markdownOf(document, form),
    plainText: pagesText(document),
    pages: document.pages.map(pageSummary),
    warnings: document.warnings,
    pageContents: contentsOf(document, form),
    proposed:
      form.proposedSchema === true
        ? proposedSchema(document.pages.flatMap(({ blocks }) => blocks))
        : undefined,
  } satisfies RenderedPart);

/** That nothing was found is true of a document of which it is true of every part. */
function joinedWarnings(parts: readonly { readonly warnings: readonly DocumentWarning[] }[]) {
  const silent = parts.every(({ warnings }) => warnings.some(({ code }) => code === 'no_text_found'));
  const all = parts.flatMap(({ warnings }) => warnings.filter(({ code }) => code !== 'no_text_found'));
  const none = silent ? parts[0]?.warnings.filter(({ code }) => code === 'no_text_found') : [];
  return [...(none ?? []), ...all].slice(0, WARNINGS_MAX);
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

/** The fields of all parts; of those of one name, the first. */
function joinedProposal(parts: readonly RenderedPart[]): JsonObject {
  const properties: Record<string, JsonObject> = {};
  for (const { proposed } of parts)
    for (const [name, field] of Object.entries(proposed?.properties ?? {})) properties[name] ??= field;
  return { type: 'object', properties };
}

/** Parts of a document in their order as one: the marks between pages are those of one reading. */
function joinedRendition(packed: readonly Uint8Array[]): RenderResult {
  const parts = packed.map((part) => deserialize(part) as RenderedPart);
  const markdown = `${parts.map((part) => part.markdown.trim()).join('\n\n')}\n`;
  if (markdown.length > MARKDOWN_CHARACTERS_MAX) return tooLong(markdown.length);
  const pageContents = parts.flatMap((part) => part.pageContents ?? []);
  return {
    kind: 'ok',
    rendition: {
      mimeType: parts[0]?.mimeType ?? '',
      markdown,
      plainText: textEnded(parts.map(({ plainText }) => plainText).join('\f')),
      pages: parts.flatMap(({ pages }) => pages),
      warnings: joinedWarnings(parts),
      ...(pageContents.length > 0 && { pageContents }),
      ...(parts.some(({ proposed }) => proposed !== undefined) && { proposedSchema: joinedProposal(parts) }),
    },
  };
}

/** The part of a range, and the pages that lead to the next. */
function extractedPart(
  {
    packed,
    lead,
    schema,
    minConfidence = MIN_CONFIDENCE,
    learned,
  }: Extract<Job, { readonly kind: 'extractPart' }>,
  isLate: () => boolean,
): Answers['extractPart'] {
  const checked = checkSchema(schema);
  if (checked.kind === 'invalid_schema') return checked;
  const range = unpacked(packed);
  const before = lead === undefined ? [] : unpacked(lead).pages;
  // Which tables go on was told within the range: its first page goes on with what leads to it.
  const document = { ...range, pages: withContinuedTables([...before, ...range.pages]) };
  const found =
    learned === undefined
      ? extract(document, schema, { minConfidence, isLate })
      : extractTaught({ artifact: learned, minConfidence, isLate }, document, schema);
  const { value, citations, seen, left } = ownFindings(found, range.pages[0]?.page ?? 1);
  const leading = leadPages(found, document);
  return {
    kind: 'part',
    part: serialize({
      mimeType: range.mimeType,
      value,
      citations,
      pages: range.pages.map(pageSummary),
      warnings: [...range.warnings, ...leftWarnings(left), ...seenWarnings(seen, minConfidence)],
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
type Extraction = Pick<ExtractJob, 'schema' | 'citations' | 'minConfidence' | 'learned' | 'why'> & {
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
    case 'survey':
      return survey(job, open);
    case 'renderPart':
      return renderPart(job, open);
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
      return groundAnswer(job);
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
  { file, form }: JobOf<'renderPart'>,
  open: OpenFile,
): Promise<Answers['renderPart']> {
  const parsed = await readFileAsDocument(file, open);
  return parsed.kind === 'ok' ? { kind: 'part', part: renderedPart(parsed.document, form) } : parsed;
}

async function render(
  { file, form }: JobOf<'render'>,
  { open, isLate }: Omit<Surroundings, 'tell'>,
): Promise<RenderResult> {
  const parsed = await readFileAsDocument(file, open);
  return parsed.kind === 'ok' ? rendered(parsed.document, form, isLate) : parsed;
}

function rendered(document: Document, form: RenderForm | undefined, isLate: () => boolean): RenderResult {
  const { mimeType, warnings } = document;
  const pages = document.pages.map(pageSummary);
  const texts = { markdown: markdownOf(document, form), plainText: plainTextOf(document) };
  if (texts.markdown.length > MARKDOWN_CHARACTERS_MAX) return tooLong(texts.markdown.length);
  const pageContents = contentsOf(document, form ?? {});
  return {
    kind: 'ok',
    rendition: {
      mimeType,
      warnings,
      pages,
      ...texts,
      ...(pageContents && { pageContents }),
      ...(form?.proposedSchema === true && { proposedSchema: proposalFor(document, isLate) }),
    },
  };
}

/** The schema is checked first: a document is not read for a schema that cannot be used. */
async function extractFromFile(
  { file, ...work }: ExtractJob,
  { open, isLate }: Omit<Surroundings, 'tell'>,
): Promise<ExtractionResult> {
  const checked = checkSchema(work.schema);
  if (checked.kind === 'invalid_schema') return checked;
  const parsed = await readFileAsDocument(file, open);
  return parsed.kind === 'ok' ? extracted({ document: parsed.document, isLate, ...work }) : parsed;
}

function extractFrom({ packed, ...work }: JobOf<'extractFrom'>, isLate: () => boolean): ExtractionResult {
  const checked = checkSchema(work.schema);
  if (checked.kind === 'invalid_schema') return checked;
  return extracted({ document: unpacked(packed), isLate, ...work });
}

function extracted({
  document,
  schema,
  citations,
  minConfidence = MIN_CONFIDENCE,
  learned,
  why,
  isLate,
}: Extraction): ExtractionResult {
  const { mimeType, warnings, pages } = document;
  const options = { minConfidence, isLate, why };
  const found =
    learned === undefined
      ? extract(document, schema, options)
      : extractTaught({ artifact: learned, ...options }, document, schema);
  const { value, errors } = validate(schema, withAbsence(schema, found.value));
  return {
    kind: 'ok',
    extraction: {
      mimeType,
      value,
      validationErrors: errors,
      citations: citations ? found.citations : [],
      pages: pages.map(pageSummary),
      warnings: [...warnings, ...leftWarnings(found.left), ...seenWarnings(found.seen, minConfidence)],
      ...(found.why !== undefined && { why: found.why }),
    },
  };
}
