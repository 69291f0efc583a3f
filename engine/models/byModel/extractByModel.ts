import type { ExtractionRequest, Extraction, ValueCitation } from '../../ports/extractionEngine.ts';
import type { PackedDocument, DocumentWarning } from '../../document/document.ts';
import { ownMember, type Json, type JsonObject } from '../../kernel/json.ts';
import { limitsOf, inTime, modelFailed, eachOf, type Running } from './modelWorkDeps.ts';
import { UNTRAINED, withLearned } from '../../learning/prompts/learned.ts';
import {
  nameOfModel,
  type ModelAccess,
  type ModelAnswer,
  type ModelTurn,
} from '../../ports/modelProvider.ts';
import { repairTurnV1, extractionTurnV2 } from '../prompts.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import type { GroundedValue, NoObject } from '../../ports/documentTools.ts';
import type { ModelCall, ModelFailed, ModelExtractionResult } from '../../ports/modelWork.ts';
import { mergedAnswers, relaxedSchema } from './answers.ts';
import { partsOf, type ShownDocument, type Showable } from './shownDocument.ts';

/** A value that the local engine found, as a model is told of it. */
interface Found {
  readonly page: number;
  readonly line: string;
}

/** Values that are told, and letters of each: a model is to read the document, not these. */
const FOUND_MAX = 300;
const TEXT_MAX = 200;

/**
 * What the local engine finds in the document, for a model to confirm or correct. Where it finds nothing, or
 * cannot end in its time, the model has the document alone.
 */
async function foundByRules(
  running: Running,
  document: PackedDocument,
  { schema, learned }: Pick<ExtractionRequest, 'schema' | 'learned'>,
): Promise<readonly Found[]> {
  const work = { document, schema, citations: true, learned };
  const result = await running.deps.tools.extractFrom(work, limitsOf(running));
  if (result.kind !== 'ok') return [];
  const { value, citations } = result.extraction;
  return citations.slice(0, FOUND_MAX).flatMap(({ path, text, page, confidence }) => {
    const said = valueAt(value, path);
    if (said === undefined || page === null) return [];
    const quoted = `page ${page}: ${JSON.stringify(text.slice(0, TEXT_MAX))}`;
    const line = `${path} = ${JSON.stringify(said).slice(0, TEXT_MAX)} (${quoted}, ${confidence.toFixed(2)})`;
    return [{ page, line }];
  });
}

function valueAt(value: JsonObject, pointer: string): Json | undefined {
  let at: Json | undefined = value;
  for (const part of pointer.split('/').slice(1)) {
    if (typeof at !== 'object' || at === null) return undefined;
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    at = Array.isArray(at) ? (at as readonly Json[])[Number(key)] : ownMember(at as JsonObject, key);
  }
  return at;
}

/** What is asked of whom, about which pages. */
interface Asked {
  readonly running: Running;
  readonly llm: ModelAccess;
  readonly schema: JsonObject;
  readonly minConfidence: number | undefined;
  readonly requireGrounding?: boolean | undefined;
  readonly document: PackedDocument;
  /** The first and the last that the model is shown; undefined: all. */
  readonly pages: readonly [number, number] | undefined;
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

/** An answer that was read: what it says, or why that cannot be used. */
interface ReadAnswer {
  readonly kind: 'read';
  readonly grounded: GroundedValue | NoObject;
}

const readAnswer = async (
  { running, schema, minConfidence, requireGrounding, document, pages, llm }: Asked,
  answer: Answered,
): Promise<ReadAnswer | ParseFailure | ModelFailed> => {
  if (answer.finish === 'refused') return useless(llm, 'refused to answer.');
  const grounded = await running.deps.tools.ground(
    { document, schema, minConfidence, requireGrounding, answer: answer.text, pages },
    limitsOf(running),
  );
  return grounded.kind === 'ok' || grounded.kind === 'no_object' ? { kind: 'read', grounded } : grounded;
};

const fits = ({ grounded }: ReadAnswer): boolean =>
  grounded.kind === 'ok' && grounded.validationErrors.length === 0;

/** Of two answers the one that fits better; the later one where they are alike. */
const better = (first: ReadAnswer, second: ReadAnswer): ReadAnswer => {
  if (first.grounded.kind === 'no_object') return second;
  if (second.grounded.kind === 'no_object') return first;
  return second.grounded.validationErrors.length <= first.grounded.validationErrors.length ? second : first;
};

/** Shows the model its answer and what is wrong with it, once. What fails now leaves the first answer. */
const repaired = async (
  asked: Asked,
  turns: readonly ModelTurn[],
  { answer, first }: { readonly answer: Answered; readonly first: ReadAnswer },
): Promise<ReadAnswer | ParseFailure | ModelFailed> => {
  const errors = first.grounded.kind === 'ok' ? first.grounded.validationErrors : [];
  const again = await ask(
    asked,
    [...turns, { role: 'assistant', text: answer.text }, { role: 'user', text: repairTurnV1(errors) }],
    'repair',
  );
  if (again.kind !== 'answered') return again;
  const second = await readAnswer(asked, again);
  return second.kind === 'read' ? better(first, second) : second;
};

/** Asks the model about what it is shown, and has it repair its answer at most once. */
const askForValue = async (
  asked: Asked,
  turns: readonly ModelTurn[],
): Promise<GroundedValue | ParseFailure | ModelFailed> => {
  const answer = await ask(asked, turns, 'extraction');
  if (answer.kind !== 'answered') return answer;
  const first = await readAnswer(asked, answer);
  if (first.kind !== 'read') return first;
  const last = fits(first) ? first : await repaired(asked, turns, { answer, first });
  if (last.kind !== 'read') return last;
  const { grounded } = last;
  return grounded.kind === 'ok' ? grounded : useless(asked.llm, `${grounded.detail}, asked twice.`);
};

/** Parts of one document that a model is asked about at the same time. */
const PARTS_AT_ONCE = 3;

const POINTERS_SHOWN = 20;

const groundingWarnings = (
  citations: readonly ValueCitation[],
  hasText: boolean,
): readonly DocumentWarning[] => {
  const ungrounded = citations.flatMap(({ grounding, path }) => (grounding === 'none' ? [path] : []));
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
  { value, validationErrors, citations, warnings }: GroundedValue,
  withCitations: boolean,
): Extraction => ({
  mimeType: document.mimeType,
  value,
  validationErrors,
  citations: withCitations ? citations : [],
  pages: document.pages,
  warnings: [...document.warnings, ...groundingWarnings(citations, document.hasText), ...warnings],
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
  { schema, minConfidence, requireGrounding }: ExtractionRequest,
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
    { document, schema, minConfidence, requireGrounding, answer: JSON.stringify(merged.value) },
    limitsOf(running),
  );
  if (grounded.kind === 'no_object') throw new Error('a merged answer is an object');
  return grounded.kind === 'ok'
    ? { ...grounded, warnings: [...merged.warnings, ...grounded.warnings] }
    : grounded;
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
  const { schema, minConfidence, requireGrounding } = request;
  const tells = request.effort === 'robust' && document.hasText;
  const found = tells ? await foundByRules(running, document, request) : [];
  const parts = partsOf(shown, running.deps.providers.abilitiesOf(llm.ref).documentTokens);
  const [only, ...others] = parts;
  const whole = { running, llm, schema, minConfidence, requireGrounding, document, pages: undefined };
  const grounded =
    only === undefined || others.length > 0
      ? await askInParts(running, { llm, document, parts, found }, request)
      : await askForValue(whole, turnsOf(only, found));
  if (grounded.kind !== 'ok') return grounded;
  return { kind: 'ok', extraction: extractionOf(shown, grounded, request.citations) };
};
