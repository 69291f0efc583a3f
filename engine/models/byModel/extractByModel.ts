import type { DocumentWarning } from '../../document/document.ts';
import { extractionTurnV2 } from '../prompts/extraction.v2.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import type { GroundedValue } from '../../ports/documentTools.ts';
import type { Extraction, ExtractionRequest } from '../../ports/extractionEngine.ts';
import type { ModelAccess, ModelTurn } from '../../ports/modelProvider.ts';
import type { ModelExtractionResult, ModelFailed } from '../../ports/modelWork.ts';
import { askForValue } from './askForValue.ts';
import { eachOf } from './eachOf.ts';
import { foundByRules, type Found } from './foundByRules.ts';
import { mergedAnswers } from './mergedAnswers.ts';
import { limitsOf, type Running } from './modelWorkDeps.ts';
import { relaxedSchema } from './relaxedSchema.ts';
import type { ShownDocument } from './shownDocument.ts';
import { partsOf, type Showable } from './shownParts.ts';

/** Parts of one document that a model is asked about at the same time. */
const PARTS_AT_ONCE = 3;

const POINTERS_SHOWN = 20;

const groundingWarnings = (ungrounded: readonly string[], hasText: boolean): readonly DocumentWarning[] => {
  if (ungrounded.length === 0) return [];
  if (!hasText)
    return [
      {
        code: 'not_grounded',
        message: 'The document has no text in this mode, so no value could be checked against it.',
      },
    ];
  const rest = ungrounded.length - POINTERS_SHOWN;
  const list = ungrounded.slice(0, POINTERS_SHOWN).join(', ');
  const more = rest > 0 ? ` and ${rest} more` : '';
  return [{ code: 'not_grounded', message: `Not found in the text of the document: ${list}${more}.` }];
};

const extractionOf = (
  { document }: ShownDocument,
  { value, validationErrors, citations, ungrounded, warnings }: GroundedValue,
  withCitations: boolean,
): Extraction => ({
  mimeType: document.mimeType,
  value,
  validationErrors,
  citations: withCitations ? citations : [],
  pages: document.pages,
  warnings: [...document.warnings, ...groundingWarnings(ungrounded, document.hasText), ...warnings],
});

const turnsOf = ({ text, attachments, part }: Showable, found: readonly Found[]): readonly ModelTurn[] => {
  const inPart = found.filter(
    ({ page }) => part === undefined || (page >= part.firstPage && page <= part.lastPage),
  );
  const turn = extractionTurnV2({
    text,
    pictures: attachments.length > 0,
    part,
    found: inPart.map(({ line }) => line),
  });
  return [{ role: 'user', text: turn, attachments }];
};

type Asking = Pick<ShownDocument, 'document'> & {
  readonly llm: ModelAccess;
  readonly parts: readonly Showable[];
  readonly found: readonly Found[];
};

/** Asks about each part, and holds what they say together against schema and document. */
const askInParts = async (
  running: Running,
  { llm, document, parts, found }: Asking,
  { schema, minConfidence }: ExtractionRequest,
): Promise<GroundedValue | ParseFailure | ModelFailed> => {
  const relaxed = relaxedSchema(schema);
  const answers = await eachOf(parts, PARTS_AT_ONCE, (shown) => {
    const { part } = shown;
    const pages = part && ([part.firstPage, part.lastPage] as const);
    return askForValue(
      { running, llm, schema: relaxed, minConfidence: 0, document, pages },
      turnsOf(shown, found),
    );
  });
  const failed = answers.find(({ kind }) => kind !== 'ok');
  if (failed !== undefined && failed.kind !== 'ok') return failed;
  const merged = mergedAnswers(answers.flatMap((answer) => (answer.kind === 'ok' ? [answer] : [])));
  const grounded = await running.deps.tools.ground(
    { document, schema, minConfidence, answer: JSON.stringify(merged) },
    limitsOf(running),
  );
  if (grounded.kind === 'no_object') throw new Error('a merged answer is an object');
  return grounded;
};

/**
 * Asks the model, repairs its answers at most once each, and holds them against schema and document. In `robust`
 * it is told what the local engine found; a document that is too long for it is shown in parts.
 */
export const extractByModel = async (
  running: Running,
  { llm, shown }: { readonly llm: ModelAccess; readonly shown: ShownDocument },
  request: ExtractionRequest,
): Promise<ModelExtractionResult> => {
  const { document } = shown;
  const { schema, minConfidence } = request;
  const tells = request.effort === 'robust' && document.hasText;
  const found = tells ? await foundByRules(running, document, request) : [];
  const parts = partsOf(shown, running.deps.providers.abilitiesOf(llm.ref).documentTokens);
  const [only, ...others] = parts;
  const whole = { running, llm, schema, minConfidence, document, pages: undefined };
  const grounded =
    only === undefined || others.length > 0
      ? await askInParts(running, { llm, document, parts, found }, request)
      : await askForValue(whole, turnsOf(only, found));
  if (grounded.kind !== 'ok') return grounded;
  return { kind: 'ok', extraction: extractionOf(shown, grounded, request.citations) };
};
