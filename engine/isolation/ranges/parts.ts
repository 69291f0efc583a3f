import { deserialize, serialize } from 'node:v8';
import {
  pageSummary,
  type Document,
  type DocumentWarning,
  type PageSummary,
} from '../../document/document.ts';
import { markdownOf } from '../../document/markdown.ts';
import { pagesText, textEnded } from '../../document/plainText.ts';
import { MIN_CONFIDENCE, seenWarnings } from '../../extraction/confidenceFloor.ts';
import { extract } from '../../extraction/extract.ts';
import { withAbsence } from '../../extraction/grounding/absence.ts';
import { leftWarnings } from '../../extraction/pace.ts';
import { joinedFindings, type RangeFindings } from '../../extraction/ranges/joinedFindings.ts';
import { leadPages, ownFindings } from '../../extraction/ranges/ownFindings.ts';
import { checkSchema, validate } from '../../extraction/schema/validation.ts';
import { withContinuedTables } from '../../layout/tables/continuedTables.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { extractTaught } from '../../learning/extractWith.ts';
import type { PageContents, RenderForm, RenderResult } from '../../ports/documentParser.ts';
import type { ExtractionResult } from '../../ports/extractionEngine.ts';
import type { Answers, Job } from '../jobs.ts';
import { MARKDOWN_CHARACTERS_MAX, tooLong, unpacked } from '../packing.ts';
import { contentsOf } from './pageContents.ts';

/** What one range of pages looks like as text; `plainText` is not ended yet, for pages may follow. */
interface RenderedPart {
  readonly mimeType: string;
  readonly markdown: string;
  readonly plainText: string;
  readonly pages: readonly PageSummary[];
  readonly warnings: readonly DocumentWarning[];
  readonly pageContents: readonly PageContents[] | undefined;
}

interface ExtractedPart extends RangeFindings {
  readonly mimeType: string;
  readonly pages: readonly PageSummary[];
  readonly warnings: readonly DocumentWarning[];
}

/** Warnings of one answer. */
const WARNINGS_MAX = 200;

export const renderedPart = (document: Document, form: RenderForm = {}): Uint8Array =>
  serialize({
    mimeType: document.mimeType,
    markdown: markdownOf(document, form),
    plainText: pagesText(document),
    pages: document.pages.map(pageSummary),
    warnings: document.warnings,
    pageContents: contentsOf(document, form),
  } satisfies RenderedPart);

/** That nothing was found is true of a document of which it is true of every part. */
function joinedWarnings(parts: readonly { readonly warnings: readonly DocumentWarning[] }[]) {
  const silent = parts.every(({ warnings }) => warnings.some(({ code }) => code === 'no_text_found'));
  const all = parts.flatMap(({ warnings }) => warnings.filter(({ code }) => code !== 'no_text_found'));
  const none = silent ? parts[0]?.warnings.filter(({ code }) => code === 'no_text_found') : [];
  return [...(none ?? []), ...all].slice(0, WARNINGS_MAX);
}

/** Parts of a document in their order as one: the marks between pages are those of one reading. */
export function joinedRendition(packed: readonly Uint8Array[]): RenderResult {
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
    },
  };
}

/** The part of a range, and the pages that lead to the next. */
export function extractedPart(
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

export function joinedExtraction({ parts: packed, schema, citations }: Joining): ExtractionResult {
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
