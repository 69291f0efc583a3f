import { pageSummary, type Document } from '../document/document.ts';
import { markdownOf } from '../document/markdown.ts';
import { plainTextOf } from '../document/plainText.ts';
import { MIN_CONFIDENCE, seenWarnings } from '../extraction/confidenceFloor.ts';
import { extract } from '../extraction/extract.ts';
import { leftWarnings } from '../extraction/pace.ts';
import { withAbsence } from '../extraction/grounding/absence.ts';
import type { RenderForm, RenderResult } from '../ports/documentParser.ts';
import type { ExtractionResult } from '../ports/extractionEngine.ts';
import { extractTaught } from '../learning/extractWith.ts';
import { groundAnswer, scoreAnswer } from '../extraction/grounding/groundAnswer.ts';
import { learn } from '../learning/learn.ts';
import type { Answers, Job, ReceivedFile } from './jobs.ts';
import { picturesOfFile } from '../formats/images/pagePictures.ts';
import { inspectFile, readFileAsDocument, type OpenFile } from '../formats/readDocument.ts';
import { MARKDOWN_CHARACTERS_MAX, packedResult, tooLong, unpacked } from './packing.ts';
import { modelDocument } from '../formats/text/modelDocument.ts';
import { checkSchema, validate } from '../extraction/schema/validation.ts';
import { contentsOf } from './ranges/pageContents.ts';
import { extractedPart, joinedExtraction, joinedRendition, renderedPart } from './ranges/parts.ts';

type JobOf<K extends Job['kind']> = Extract<Job<ReceivedFile>, { readonly kind: K }>;
type ExtractJob = JobOf<'extract'>;
type Extraction = Pick<ExtractJob, 'schema' | 'citations' | 'minConfidence' | 'learned'> & {
  readonly document: Document;
  readonly isLate: () => boolean;
};
/** Work on a document that was read before. */
type DocumentJob =
  JobOf<'documentOf'> | JobOf<'renderDocument'> | JobOf<'extractFrom'> | JobOf<'ground'> | PartsJob;
/** Work on parts of a long document. */
type PartsJob = JobOf<'extractPart'> | JobOf<'joinRendered'> | JobOf<'joinExtracted'>;
/** Work on what a caller or a model sent beside a document. */
type ValueJob = JobOf<'score'> | JobOf<'checkSchema'> | JobOf<'validate'>;

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
      return render(job, open);
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
      return rendered(unpacked(job.packed), job.form);
    case 'extractFrom':
      return extractFrom(job, isLate);
    case 'ground':
      return groundAnswer(job);
    case 'extractPart':
      return extractedPart(job, isLate);
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

async function render({ file, form }: JobOf<'render'>, open: OpenFile): Promise<RenderResult> {
  const parsed = await readFileAsDocument(file, open);
  return parsed.kind === 'ok' ? rendered(parsed.document, form) : parsed;
}

function rendered(document: Document, form: RenderForm = {}): RenderResult {
  const { mimeType, warnings } = document;
  const pages = document.pages.map(pageSummary);
  const texts = { markdown: markdownOf(document, form), plainText: plainTextOf(document) };
  if (texts.markdown.length > MARKDOWN_CHARACTERS_MAX) return tooLong(texts.markdown.length);
  const pageContents = contentsOf(document, form);
  return {
    kind: 'ok',
    rendition: { mimeType, warnings, pages, ...texts, ...(pageContents && { pageContents }) },
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
  isLate,
}: Extraction): ExtractionResult {
  const { mimeType, warnings, pages } = document;
  const found =
    learned === undefined
      ? extract(document, schema, { minConfidence, isLate })
      : extractTaught({ artifact: learned, minConfidence, isLate }, document, schema);
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
    },
  };
}
