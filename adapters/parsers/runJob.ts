import { pageSummary } from '../../domain/document/document.ts';
import { markdownOf } from '../../domain/document/markdown.ts';
import { plainTextOf } from '../../domain/document/plainText.ts';
import { extract } from '../../domain/localExtraction/extract.ts';
import type { RenderResult } from '../../domain/ports/documentParser.ts';
import type { ExtractionResult } from '../../domain/ports/extractionEngine.ts';
import type { Answers, Job } from './jobs.ts';
import { inspectFile, readFileAsDocument } from './readDocument.ts';
import { checkSchema, validate } from './validation.ts';

type ExtractJob = Extract<Job, { readonly kind: 'extract' }>;

/** Does one job inside the child. Expected failures are answers; what it throws is our own fault. */
export async function runJob(job: Job): Promise<Answers[Job['kind']]> {
  switch (job.kind) {
    case 'inspect':
      return inspectFile(job.file);
    case 'parse':
      return readFileAsDocument(job.file);
    case 'render':
      return render(job.file);
    case 'extract':
      return extractFrom(job);
    case 'checkSchema':
      return checkSchema(job.schema);
    case 'validate':
      return validate(job.schema, job.value);
  }
}

async function render(file: ExtractJob['file']): Promise<RenderResult> {
  const parsed = await readFileAsDocument(file);
  if (parsed.kind !== 'ok') return parsed;
  const { document } = parsed;
  const { mimeType, warnings } = document;
  const pages = document.pages.map(pageSummary);
  const texts = { markdown: markdownOf(document), plainText: plainTextOf(document) };
  return { kind: 'ok', rendition: { mimeType, warnings, pages, ...texts } };
}

/** The schema is checked first: a document is not read for a schema that cannot be used. */
async function extractFrom({ file, schema, citations }: ExtractJob): Promise<ExtractionResult> {
  const checked = checkSchema(schema);
  if (checked.kind === 'invalid_schema') return checked;
  const parsed = await readFileAsDocument(file);
  if (parsed.kind !== 'ok') return parsed;
  const { mimeType, warnings, pages } = parsed.document;
  const extracted = extract(parsed.document, schema);
  const { value, errors } = validate(schema, extracted.value);
  return {
    kind: 'ok',
    extraction: {
      mimeType,
      value,
      validationErrors: errors,
      citations: citations ? extracted.citations : [],
      pages: pages.map(pageSummary),
      warnings,
    },
  };
}
