import { randomUUID } from 'node:crypto';
import type { ParseRequest, RenderRequest } from '../../ports/documentParser.ts';
import type { Extraction, ExtractionRequest, SchemaCheck } from '../../ports/extractionEngine.ts';
import type {
  Keeping,
  ModelConversionResult,
  ModelExtractionResult,
  ModelWork,
  Showing,
  WorkModels,
} from '../../ports/modelWork.ts';
import type { ModelAccess } from '../../ports/modelProvider.ts';
import { askedSchema, engineAlone, joinedReadings, planOf } from './doubtful.ts';
import {
  deadlineIn,
  eachOf,
  fairGate,
  limitsOf,
  type FairGate,
  type ModelWorkDeps,
  type Running,
} from './modelWorkDeps.ts';
import { extractByModel } from './extractByModel.ts';
import { readLong, type LongKeeping } from './longDocument.ts';
import { readByModel } from './readByModel.ts';
import { showDocument, type ShownDocument } from './shownDocument.ts';

/** Requests of models at the same time, of all documents together. */
const CALLS_AT_ONCE = 16;

/** Providers that are asked in turn: the wait for it counts against the deadline of a request. */
const inTurn = (deps: ModelWorkDeps, gate: FairGate, share: string): ModelWorkDeps['providers'] => {
  const { providers } = deps;
  const after = async <
    R extends { readonly deadlineMs: number; readonly signal?: AbortSignal | undefined },
    A,
  >(
    request: R,
    ask: (request: R) => Promise<A>,
  ): Promise<A> => {
    const { deadlineMs, signal } = request;
    const deadline = deadlineIn(deadlineMs);
    const expiry = new AbortController();
    const timer = setTimeout(() => expiry.abort(), deadlineMs);
    const over = signal === undefined ? expiry.signal : AbortSignal.any([signal, expiry.signal]);
    const leave = await gate.enter(share, over);
    clearTimeout(timer);
    try {
      return await ask({ ...request, deadlineMs: deadline.leftMs() });
    } finally {
      leave();
    }
  };
  return {
    abilitiesOf: (ref) => providers.abilitiesOf(ref),
    ask: (request) => after(request, (one) => providers.ask(one)),
    readPages: (request) => after(request, (one) => providers.readPages(one)),
  };
};

/** The same with a name for each call: another attempt tells it again. */
const withNames = (models: WorkModels): WorkModels => ({
  ...models,
  onCall: (call) => models.onCall({ ...call, id: call.id ?? randomUUID() }),
});

interface Starting {
  readonly deps: ModelWorkDeps;
  readonly gate: FairGate;
  readonly models: WorkModels;
  readonly keeping: Keeping | undefined;
}

const started = (
  { deps, gate, models, keeping }: Starting,
  { deadlineMs, effort, signal, share }: ParseRequest,
): Running => ({
  deps: { ...deps, providers: inTurn(deps, gate, share) },
  models,
  deadline: deadlineIn(deadlineMs),
  effort,
  signal,
  share,
  keeping,
});

const isLong = (keeping: Keeping | undefined): keeping is LongKeeping => keeping?.numbers !== undefined;

/** What is shown of a document: of one that is too long for one piece the text, in every mode. */
const shownOf = async (running: Running, request: ParseRequest, { llm }: WorkModels) => {
  const { keeping } = running;
  if (!isLong(keeping))
    return showDocument(running, request, llm && running.deps.providers.abilitiesOf(llm.ref));
  // Without pictures of its pages, what is not text has to be recognised.
  const effort = request.effort === 'fast' ? 'standard' : request.effort;
  const read = await readLong(running, {
    request: { ...request, effort },
    keeping,
    // Its pages are done when the model was asked about them.
    onPages: () => undefined,
  });
  if (read.kind !== 'ok') return read;
  const { document, ranges } = read;
  return { kind: 'ok', document, text: document.markdown, attachments: [], ranges } satisfies ShownDocument;
};

/** The text as the pages are set, where that is asked for. */
const inForm = async (
  running: Running,
  shown: ShownDocument,
  { shownText }: Showing,
): Promise<ShownDocument> => {
  if (shownText !== 'layout' || shown.text === undefined) return shown;
  const { ranges = [shown.document] } = shown;
  const texts = await eachOf(ranges, 1, (range) => running.deps.tools.layoutText(range, limitsOf(running)));
  const all = texts.flatMap((one) => (one.kind === 'text' ? [one.text.trimEnd()] : []));
  return all.length === texts.length ? { ...shown, text: `${all.join('\n\n')}\n` } : shown;
};

const extract = async (
  starting: Starting,
  request: ExtractionRequest & Showing,
): Promise<ModelExtractionResult> => {
  const running = started(starting, request);
  const { deps, models } = starting;
  const { schema, citations, minConfidence, learned } = request;
  const checked = await deps.schemas.check(schema, request);
  if (checked.kind !== 'ok') return notChecked(checked);
  const { llm } = models;
  if (llm !== null && models.modelsFor === 'doubtful') return extractDoubtful(running, llm, request);
  const shown = await shownOf(running, request, models);
  if (shown.kind !== 'ok') return shown;
  if (llm !== null)
    return extractByModel(running, { llm, shown: await inForm(running, shown, request) }, request);
  const work = { document: shown.document, schema, citations, minConfidence, learned };
  return deps.tools.extractFrom(work, limitsOf(running));
};

/** What was too busy, or was given up, says nothing of the schema. */
const notChecked = (checked: Exclude<SchemaCheck, { readonly kind: 'ok' }>): ModelExtractionResult => {
  const { kind, detail } = checked;
  if (kind === 'invalid_schema' || checked.why === 'too_costly') return { kind: 'invalid_schema', detail };
  return checked.why === 'aborted' ? { kind: 'aborted' } : { kind: 'starved', detail };
};

/**
 * The embedded engine reads, and the model is asked for what that leaves in doubt: for nothing where it leaves none.
 * It is not told what the engine read, so that its reading is one of its own.
 */
const extractDoubtful = async (
  running: Running,
  llm: ModelAccess,
  request: ExtractionRequest & Showing,
): Promise<ModelExtractionResult> => {
  const { schema, minConfidence, learned, citations } = request;
  const abilities = running.deps.providers.abilitiesOf(llm.ref);
  // a model that looks at pages is shown them only when it is asked
  const looks = request.effort === 'fast' && !isLong(running.keeping);
  const read = looks
    ? await showDocument(running, request, null)
    : await shownOf(running, request, running.models);
  if (read.kind !== 'ok') return read;
  const work = { document: read.document, schema, citations: true, minConfidence, learned };
  const found = await running.deps.tools.extractFrom(work, limitsOf(running));
  const engine = found.kind === 'ok' ? found.extraction : nothingIn(read);
  const plan = planOf(schema, engine);
  if (plan === 'sure') return ended(engineAlone(engine), citations);
  const shown = looks ? await showDocument(running, request, abilities) : read;
  if (shown.kind !== 'ok') return shown;
  const asked = { ...request, ...UNTOLD, schema: askedSchema(schema, plan), citations: true };
  const model = await extractByModel(running, { llm, shown: await inForm(running, shown, request) }, asked);
  if (model.kind !== 'ok') return model;
  return ended(joinedReadings(plan, { engine, model: model.extraction }), citations);
};

/** Where the engine could not end its work in time, say. */
const nothingIn = ({ document: { mimeType, pages, warnings } }: ShownDocument): Extraction => ({
  mimeType,
  pages,
  warnings,
  value: {},
  validationErrors: [],
  citations: [],
});

/** A model is told what the engine read only where it is asked `robust`ly. */
const UNTOLD = { effort: 'standard' } as const;

const ended = (extraction: Extraction, wanted: boolean): ModelExtractionResult => ({
  kind: 'ok',
  extraction: wanted ? extraction : { ...extraction, citations: [] },
});

const convert = async (starting: Starting, request: RenderRequest): Promise<ModelConversionResult> => {
  const running = started(starting, request);
  const { deps, models, keeping } = starting;
  if (models.ocr === null) return deps.parser.render(request);
  const reading = isLong(keeping)
    ? await readLong(running, { request, keeping, onPages: keeping.onPages })
    : await readByModel(running, models.ocr, request);
  if (reading.kind === 'unpaged') return deps.parser.render({ ...request, ...limitsOf(running) });
  const limits = { ...limitsOf(running), form: request.form };
  return reading.kind === 'ok' ? deps.tools.render(reading.document, limits) : reading;
};

/** Work on documents in which models take part, over the ports of providers and of document tools. */
export const modelWork = (deps: ModelWorkDeps): ModelWork => {
  const gate = fairGate(CALLS_AT_ONCE);
  const starting = (models: WorkModels, keeping: Keeping | undefined): Starting => ({
    deps,
    gate,
    keeping,
    models: keeping === undefined ? models : withNames(models),
  });
  return {
    extract: (request, models, keeping) => extract(starting(models, keeping), request),
    convert: (request, models, keeping) => convert(starting(models, keeping), request),
  };
};
