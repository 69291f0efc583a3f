import type { DocumentWarning } from '../../document/document.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { UNTRAINED, withLearned } from '../../learning/prompts/learned.ts';
import { nameOfModel } from '../modelName.ts';
import { extractionTurnV1 } from '../prompts/extraction.v1.ts';
import { repairTurnV1 } from '../prompts/repair.v1.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import type { GroundedValue } from '../../ports/documentTools.ts';
import type { Extraction, ExtractionRequest } from '../../ports/extractionEngine.ts';
import type { ModelAccess, ModelAnswer, ModelTurn } from '../../ports/modelProvider.ts';
import type { ModelCall, ModelExtractionResult, ModelFailed } from '../../ports/modelWork.ts';
import { inTime, limitsOf, modelFailed, type Running } from './modelWorkDeps.ts';
import type { ShownDocument } from './shownDocument.ts';

interface Asked {
  readonly running: Running;
  readonly llm: ModelAccess;
  readonly schema: JsonObject;
  readonly minConfidence: number | undefined;
  readonly shown: ShownDocument;
}

type Answered = Extract<ModelAnswer, { readonly kind: 'answered' }>;

const ask = async (
  { running, llm, schema }: Asked,
  turns: readonly ModelTurn[],
  step: ModelCall['step'],
): Promise<Answered | ModelFailed> => {
  const answer = await running.deps.providers.ask({
    access: llm,
    ...withLearned(running.models.learned ?? UNTRAINED, turns),
    output: { kind: 'json', schema },
    ...inTime(running),
  });
  running.models.onCall({ ref: llm.ref, owner: llm.owner, step, usage: answer.usage });
  return answer.kind === 'failed' ? modelFailed(answer.failure) : answer;
};

const useless = ({ ref }: ModelAccess, what: string): ModelFailed =>
  modelFailed({
    kind: 'provider_error',
    provider: ref.provider,
    provider_status: null,
    detail: `${nameOfModel(ref)} ${what}`,
  });

/** An answer that was read; `value` undefined: it was no whole JSON object. */
interface ReadAnswer {
  readonly kind: 'read';
  readonly grounded: GroundedValue | undefined;
}

const readAnswer = async (
  { running, schema, minConfidence, shown, llm }: Asked,
  answer: Answered,
): Promise<ReadAnswer | ParseFailure | ModelFailed> => {
  if (answer.finish === 'refused') return useless(llm, 'refused to answer.');
  const { document } = shown;
  const grounded = await running.deps.tools.ground(
    { document, schema, minConfidence, answer: answer.text },
    limitsOf(running),
  );
  if (grounded.kind === 'no_object') return { kind: 'read', grounded: undefined };
  return grounded.kind === 'ok' ? { kind: 'read', grounded } : grounded;
};

const fits = ({ grounded }: ReadAnswer): boolean =>
  grounded !== undefined && grounded.validationErrors.length === 0;

/** Of two answers the one that fits better; the later one where they are alike. */
const better = (first: ReadAnswer, second: ReadAnswer): ReadAnswer => {
  if (first.grounded === undefined) return second;
  if (second.grounded === undefined) return first;
  return second.grounded.validationErrors.length <= first.grounded.validationErrors.length ? second : first;
};

/** Shows the model its answer and what is wrong with it, once. What fails now leaves the first answer. */
const repaired = async (
  asked: Asked,
  turns: readonly ModelTurn[],
  { answer, first }: { readonly answer: Answered; readonly first: ReadAnswer },
): Promise<ReadAnswer | ParseFailure | ModelFailed> => {
  const errors = first.grounded?.validationErrors ?? [];
  const again = await ask(
    asked,
    [...turns, { role: 'assistant', text: answer.text }, { role: 'user', text: repairTurnV1(errors) }],
    'repair',
  );
  if (again.kind !== 'answered') return again;
  const second = await readAnswer(asked, again);
  return second.kind === 'read' ? better(first, second) : second;
};

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

/** Asks the model, repairs its answer at most once, and holds it against schema and document. */
export const extractByModel = async (
  running: Running,
  { llm, shown }: { readonly llm: ModelAccess; readonly shown: ShownDocument },
  request: ExtractionRequest,
): Promise<ModelExtractionResult> => {
  const { schema, minConfidence } = request;
  const asked = { running, llm, schema, minConfidence, shown };
  const { text, attachments } = shown;
  const turn = extractionTurnV1({ text, pictures: attachments.length > 0 });
  const turns: readonly ModelTurn[] = [{ role: 'user', text: turn, attachments }];
  const answer = await ask(asked, turns, 'extraction');
  if (answer.kind !== 'answered') return answer;
  const first = await readAnswer(asked, answer);
  if (first.kind !== 'read') return first;
  const last = fits(first) ? first : await repaired(asked, turns, { answer, first });
  if (last.kind !== 'read') return last;
  if (last.grounded === undefined) return useless(llm, 'did not answer with JSON, asked twice.');
  return { kind: 'ok', extraction: extractionOf(shown, last.grounded, request.citations) };
};
