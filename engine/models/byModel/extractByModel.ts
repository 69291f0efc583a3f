import type { ExtractionRequest, Extraction, ValueCitation } from '../../ports/extractionEngine.ts';
import type { PackedDocument, DocumentWarning } from '../../document/document.ts';
import { ownMember, pointedName, type Json, type JsonObject } from '../../kernel/json.ts';
import { eachOf, inRounds, limitsOf, type Running } from './modelWorkDeps.ts';
import { nameOfModel, type ModelAccess, type ModelTurn } from '../../ports/modelProvider.ts';
import { extractionTurnV2 } from '../prompts.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import type { GroundedValue, PageRanks } from '../../ports/documentTools.ts';
import type { ModelFailed, ModelExtractionResult } from '../../ports/modelWork.ts';
import { mergedAnswers, relaxedSchema } from './answers.ts';
import { askForValue } from './askForValue.ts';
import { CHOICE_FROM_PAGES, firstPages, nextPages, type Standing } from './chosenPages.ts';
import { partsOf, partsOfPages, type ShownDocument, type Showable } from './shownDocument.ts';

/** A value that the local engine found, as a model is told of it, and where it stands. */
interface Found extends Standing {
  readonly confidence: number;
  readonly line: string;
}
/** Values that are told, and letters of each: a model is to read the document, not these. */
const FOUND_MAX = 300;
const TEXT_MAX = 200;

/** Ranges of a long document that the engine looks through at the same time. */
const RANGES_AT_ONCE = 2;

/** What the local engine finds in a document, or in each range of one. */
const foundIn = async (
  running: Running,
  { document, ranges = [document] }: ShownDocument,
  request: Pick<ExtractionRequest, 'schema' | 'learned'>,
): Promise<readonly Found[]> => {
  const found = await eachOf(ranges, RANGES_AT_ONCE, (range) => foundByRules(running, range, request));
  return found.flat();
};

/**
 * What the local engine finds, for a model to confirm or correct, and to tell which pages to show. Where it finds
 * nothing, or cannot end in its time, the model has the document alone.
 */
async function foundByRules(
  running: Running,
  document: PackedDocument,
  { schema, learned }: Pick<ExtractionRequest, 'schema' | 'learned'>,
): Promise<readonly Found[]> {
  const work = { document, schema, settings: { citations: true }, learned };
  const result = await running.deps.tools.extractFrom(work, limitsOf(running));
  if (result.kind !== 'ok') return [];
  const { value, citations } = result.extraction;
  return citations.slice(0, FOUND_MAX).flatMap(({ path, text, page, confidence }) => {
    const said = valueAt(value, path);
    if (said === undefined || page === null) return [];
    const quoted = `page ${page}: ${JSON.stringify(text.slice(0, TEXT_MAX))}`;
    const line = `${path} = ${JSON.stringify(said).slice(0, TEXT_MAX)} (${quoted}, ${confidence.toFixed(2)})`;
    return [{ path, page, confidence, line }];
  });
}

function valueAt(value: JsonObject, pointer: string): Json | undefined {
  let at: Json | undefined = value;
  for (const part of pointer.split('/').slice(1)) {
    if (typeof at !== 'object' || at === null) return undefined;
    const key = pointedName(part);
    at = Array.isArray(at) ? (at as readonly Json[])[Number(key)] : ownMember(at as JsonObject, key);
  }
  return at;
}

/** Where a value of an answer stands, where it stands somewhere. */
const standingOf = ({ path, page }: ValueCitation): readonly Standing[] =>
  page === null ? [] : [{ path, page }];

/** Parts of one document that a model is asked about at the same time. */
const PARTS_AT_ONCE = 4;

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
  {
    citations: withCitations,
    warnings: ofPages,
  }: Pick<Extraction, 'warnings'> & { readonly citations: boolean },
): Extraction => ({
  mimeType: document.mimeType,
  value,
  validationErrors,
  citations: withCitations ? citations : [],
  pages: document.pages,
  warnings: [
    ...document.warnings,
    ...ofPages,
    ...groundingWarnings(citations, document.hasText),
    ...warnings,
  ],
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

/** Work on one document that a model is asked about. */
interface Asking {
  readonly running: Running;
  readonly llm: ModelAccess;
  readonly shown: ShownDocument;
  readonly schema: JsonObject;
  /** What the model is told that the engine found. */
  readonly told: readonly Found[];
  /** Where the engine found something. */
  readonly found: readonly Found[];
  /** Told of the pages that were asked about. */
  readonly onPages: (pages: readonly number[]) => void;
}

/** A part that there was no time to ask about. */
interface Late {
  readonly kind: 'late';
}

/** What became of a part that a model was to be asked about. */
interface AskedPart {
  readonly pages: readonly number[];
  readonly answer: GroundedValue | ParseFailure | ModelFailed | Late;
}

/** The document that an answer about some pages is held against: of a long one, the ranges that have them. */
const documentWith = async (
  running: Running,
  { document, ranges = [] }: ShownDocument,
  [first, last]: readonly [number, number],
): Promise<PackedDocument> => {
  const having = ranges.filter(({ pages }) => pages.some(({ page }) => page >= first && page <= last));
  const [only] = having;
  if (only === undefined || having.length === ranges.length) return document;
  if (having.length === 1) return only;
  const packed = having.map((range) => range.packed);
  const joined = await running.deps.tools.joined(packed, limitsOf(running));
  return joined.kind === 'ok' ? joined.document : document;
};

/** The parts' values are judged once they are together. */
const ALL_OF_A_PART = { citations: true, min_confidence: 0 };

const askAboutPart = async (
  { running, llm, shown, told }: Asking,
  part: Showable,
  schema: JsonObject,
): Promise<AskedPart['answer']> => {
  if (running.deadline.isOver()) return { kind: 'late' };
  const pages = part.part && ([part.part.firstPage, part.part.lastPage] as const);
  const document = pages === undefined ? shown.document : await documentWith(running, shown, pages);
  const asked = { running, llm, schema, settings: ALL_OF_A_PART, document, pages };
  const answer = await askForValue(asked, turnsOf(part, told));
  const isLate =
    answer.kind === 'model_failed' && answer.failure.kind === 'timed_out' && running.deadline.isOver();
  return isLate ? { kind: 'late' } : answer;
};

/** Asks about each part; those that fail are asked about again. */
const askInParts = async (asking: Asking, parts: readonly Showable[]): Promise<readonly AskedPart[]> => {
  const relaxed = relaxedSchema(asking.schema);
  const pagesOfPart = ({ pages, part }: Showable): readonly number[] =>
    pages ??
    asking.shown.document.pages.flatMap(({ page }) =>
      part === undefined || (page >= part.firstPage && page <= part.lastPage) ? [page] : [],
    );
  const answers = await inRounds(asking.running, parts, {
    atOnce: PARTS_AT_ONCE,
    work: async (part) => {
      const answer = await askAboutPart(asking, part, relaxed);
      if (answer.kind === 'ok') asking.onPages(pagesOfPart(part));
      return answer;
    },
  });
  return answers.flatMap((answer, at) => {
    const part = parts[at];
    return part === undefined ? [] : [{ answer, pages: pagesOfPart(part) }];
  });
};

const answersOf = (asked: readonly AskedPart[]): readonly GroundedValue[] =>
  [...asked]
    .sort((a, b) => (a.pages[0] ?? 0) - (b.pages[0] ?? 0))
    .flatMap(({ answer }) => (answer.kind === 'ok' ? [answer] : []));

/** Looks that are taken at a document whose pages are chosen: the first, and those for what is missing then. */
const LOOKS_MAX = 4;

const saysSomething = (value: Json | undefined): boolean =>
  value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);

/** Shows the pages that speak of what is asked for, then those where the rest may be: `chosenPages.ts`. */
const askAboutChosen = async (asking: Asking, ranks: PageRanks): Promise<readonly AskedPart[]> => {
  const { running, llm, shown, found } = asking;
  const tokensMax = running.deps.providers.abilitiesOf(llm.ref).documentTokens;
  const asked: AskedPart[] = [];
  let pages = firstPages(
    ranks,
    [...found].sort((a, b) => b.confidence - a.confidence),
  );
  for (let look = 1; pages.length > 0; look += 1) {
    const parts = await askInParts(asking, partsOfPages(shown, pages, tokensMax));
    asked.push(...parts);
    const answers = answersOf(asked);
    if (look === LOOKS_MAX || answers.length === 0 || parts.every(({ answer }) => answer.kind !== 'ok'))
      break;
    const merged = mergedAnswers(answers);
    pages = nextPages(ranks, {
      seen: new Set(asked.flatMap((part) => part.pages)),
      standing: answers.flatMap(({ citations }) => citations.flatMap(standingOf)),
      says: (path) => saysSomething(valueAt(merged.value, path)),
    });
  }
  return asked;
};

/** How the pages of a text are ranked, where some of them are to be chosen; undefined: all are shown. */
const ranksFor = async (
  running: Running,
  { document, text }: ShownDocument,
  { schema, settings }: Pick<ExtractionRequest, 'schema' | 'settings'>,
): Promise<PageRanks | undefined> => {
  if (settings.shown_pages === 'all' || text === undefined || document.pages.length <= CHOICE_FROM_PAGES)
    return undefined;
  const ranked = await running.deps.tools.rankPages({ text, schema }, limitsOf(running));
  if (ranked.kind !== 'ranked') return undefined;
  // Where the text does not tell its pages apart, none can be left out.
  return ranked.ranks.pages.length > CHOICE_FROM_PAGES ? ranked.ranks : undefined;
};

/** Pages that are missing from an answer, and why; and those that were not looked at, for nothing pointed to them. */
function pageWarnings(asked: readonly AskedPart[], all: readonly number[]): readonly DocumentWarning[] {
  const answered = new Set(asked.flatMap(({ answer, pages }) => (answer.kind === 'ok' ? pages : [])));
  const missing = (isSo: (answer: AskedPart['answer']) => boolean): readonly number[] => [
    ...new Set(
      asked.flatMap(({ answer, pages }) => (isSo(answer) ? pages.filter((one) => !answered.has(one)) : [])),
    ),
  ];
  const late = missing(({ kind }) => kind === 'late');
  const failed = missing(({ kind }) => kind === 'model_failed');
  const told = new Set([...answered, ...late, ...failed]);
  const left = all.filter((page) => !told.has(page));
  return [
    ...(late.length === 0 ? [] : [lateWarning(late)]),
    ...(failed.length === 0 ? [] : [failedWarning(failed)]),
    ...(left.length === 0 ? [] : [leftWarning(left)]),
  ];
}

const lateWarning = (pages: readonly number[]): DocumentWarning => ({
  code: 'deadline_reached',
  message: 'The time was used up before a model was asked about these pages.',
  pages,
});
const failedWarning = (pages: readonly number[]): DocumentWarning => ({
  code: 'pages_not_answered',
  message: 'The model gave no answer for these pages, though it was asked several times.',
  pages,
});
const leftWarning = (pages: readonly number[]): DocumentWarning => ({
  code: 'pages_not_shown',
  message:
    'Nothing pointed to these pages, and the model was not shown them. With shown_pages=all it is shown every page.',
  pages,
});

/** Characters of text that are looked through at once: twice as many fill the memory of a process. */
const TEXT_AT_ONCE_MAX = 1_500_000;

interface InParts {
  readonly grounded: GroundedValue;
  readonly warnings: readonly DocumentWarning[];
}

/** Asks about the document in parts, and holds what they say together against schema and document. */
const inParts = async (
  asking: Asking,
  { ranks, parts }: { readonly ranks: PageRanks | undefined; readonly parts: readonly Showable[] },
  { settings }: Pick<ExtractionRequest, 'settings'>,
): Promise<InParts | ParseFailure | ModelFailed> => {
  const { running, shown, schema } = asking;
  const { document } = shown;
  const asked = ranks === undefined ? await askInParts(asking, parts) : await askAboutChosen(asking, ranks);
  const answers = answersOf(asked);
  const failures = asked.flatMap(({ answer }) =>
    answer.kind === 'ok' || answer.kind === 'late' ? [] : [answer],
  );
  // Of what a model did not answer the rest is still worth something; what failed here, or was given up, is not.
  const stopping = failures.find(({ kind }) => kind !== 'model_failed') ?? failures.find(isGivenUp);
  const [failure = lateFailure(asking)] = failures;
  if (stopping !== undefined || answers.length === 0) return stopping ?? failure;
  const merged = mergedAnswers(answers);
  const cited = document.markdown.length > TEXT_AT_ONCE_MAX ? merged.citations : undefined;
  const grounded = await running.deps.tools.ground(
    { document, schema, settings, answer: JSON.stringify(merged.value), cited },
    limitsOf(running),
  );
  if (grounded.kind === 'no_object') throw new Error('a merged answer is an object');
  if (grounded.kind !== 'ok') return grounded;
  const all = document.pages.map(({ page }) => page);
  return { grounded, warnings: [...pageWarnings(asked, all), ...merged.warnings] };
};

const isGivenUp = (failure: ParseFailure | ModelFailed): boolean =>
  failure.kind === 'model_failed' && failure.failure.kind === 'aborted';

const lateFailure = ({ llm: { ref } }: Asking): ModelFailed => ({
  kind: 'model_failed',
  failure: {
    kind: 'timed_out',
    provider: ref.provider,
    detail: `The time was used up before ${nameOfModel(ref)} was asked.`,
  },
});

/** Tells how far the work is by the pages that were asked about; it is done when they all were, or need not be. */
const progressOf = (running: Running, pages: number): Pick<Asking, 'onPages'> => {
  const done = new Set<number>();
  return {
    onPages: (answered) => {
      for (const page of answered) done.add(page);
      running.keeping?.onPages(Math.min(done.size, pages));
    },
  };
};

/**
 * Asks the model, repairs its answers at most once each, and holds them against schema and document. In `robust`
 * it is told what the local engine found; a document that is too long for it is shown in parts, and of one of many
 * pages those that speak of what is asked for, unless all are asked for.
 */
export const extractByModel = async (
  running: Running,
  { llm, shown }: { readonly llm: ModelAccess; readonly shown: ShownDocument },
  request: ExtractionRequest,
): Promise<ModelExtractionResult> => {
  const { document } = shown;
  const { schema, settings } = request;
  const { citations } = settings;
  const ranks = await ranksFor(running, shown, request);
  const isTold = request.effort === 'robust' && document.hasText;
  const found = isTold || ranks !== undefined ? await foundIn(running, shown, request) : [];
  const told = isTold ? found : [];
  const parts =
    ranks === undefined ? partsOf(shown, running.deps.providers.abilitiesOf(llm.ref).documentTokens) : [];
  const [only, ...others] = parts;
  const progress = progressOf(running, document.pages.length);
  if (only !== undefined && others.length === 0) {
    const whole = { running, llm, schema, settings, document, pages: undefined };
    const grounded = await askForValue(whole, turnsOf(only, told));
    if (grounded.kind !== 'ok') return grounded;
    return { kind: 'ok', extraction: extractionOf(shown, grounded, { citations, warnings: [] }) };
  }
  const asking = { running, llm, shown, schema, told, found, ...progress };
  const answer = await inParts(asking, { ranks, parts }, request);
  if (!('grounded' in answer)) return answer;
  const { grounded, warnings } = answer;
  return { kind: 'ok', extraction: extractionOf(shown, grounded, { citations, warnings }) };
};
