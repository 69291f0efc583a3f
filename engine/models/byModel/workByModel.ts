import type { ParseRequest, RenderRequest } from '../../ports/documentParser.ts';
import type { Extraction, ExtractionRequest } from '../../ports/extractionEngine.ts';
import type {
  ModelConversionResult,
  ModelExtractionResult,
  ModelWork,
  WorkModels,
} from '../../ports/modelWork.ts';
import type { ModelAccess } from '../../ports/modelProvider.ts';
import { askedSchema, engineAlone, joinedReadings, planOf } from './doubtful.ts';
import { deadlineIn, limitsOf, type ModelWorkDeps, type Running } from './modelWorkDeps.ts';
import { extractByModel } from './extractByModel.ts';
import { readByModel } from './readByModel.ts';
import { showDocument, type ShownDocument } from './shownDocument.ts';

const started = (
  deps: ModelWorkDeps,
  models: WorkModels,
  { deadlineMs, effort, signal, share }: ParseRequest,
): Running => ({
  deps,
  models,
  deadline: deadlineIn(deadlineMs),
  effort,
  signal,
  share,
});

const extract = async (
  deps: ModelWorkDeps,
  request: ExtractionRequest,
  models: WorkModels,
): Promise<ModelExtractionResult> => {
  const running = started(deps, models, request);
  const { schema, citations, minConfidence, learned } = request;
  const checked = await deps.schemas.check(schema, request);
  if (checked.kind !== 'ok') return { kind: 'invalid_schema', detail: checked.detail };
  const { llm } = models;
  if (llm !== null && models.modelsFor === 'doubtful') return extractDoubtful(running, llm, request);
  const shown = await showDocument(running, request, llm && deps.providers.abilitiesOf(llm.ref));
  if (shown.kind !== 'ok') return shown;
  if (llm !== null) return extractByModel(running, { llm, shown }, request);
  const work = { document: shown.document, schema, citations, minConfidence, learned };
  return deps.tools.extractFrom(work, limitsOf(running));
};

/**
 * The embedded engine reads, and the model is asked for what that leaves in doubt: for nothing where it leaves none.
 * It is not told what the engine read, so that its reading is one of its own.
 */
const extractDoubtful = async (
  running: Running,
  llm: ModelAccess,
  request: ExtractionRequest,
): Promise<ModelExtractionResult> => {
  const { schema, minConfidence, learned, citations } = request;
  const abilities = running.deps.providers.abilitiesOf(llm.ref);
  // a model that looks at pages is shown them only when it is asked
  const looks = request.effort === 'fast';
  const read = await showDocument(running, request, looks ? null : abilities);
  if (read.kind !== 'ok') return read;
  const work = { document: read.document, schema, citations: true, minConfidence, learned };
  const found = await running.deps.tools.extractFrom(work, limitsOf(running));
  const engine = found.kind === 'ok' ? found.extraction : nothingIn(read);
  const plan = planOf(schema, engine);
  if (plan === 'sure') return ended(engineAlone(engine), citations);
  const shown = looks ? await showDocument(running, request, abilities) : read;
  if (shown.kind !== 'ok') return shown;
  const asked = { ...request, ...UNTOLD, schema: askedSchema(schema, plan), citations: true };
  const model = await extractByModel(running, { llm, shown }, asked);
  if (model.kind !== 'ok') return model;
  return ended(joinedReadings(plan, { engine, model: model.extraction }), citations);
};

/** Where the engine could not end its work in time, say. */
const nothingIn = ({ document: { mimeType, pages, warnings } }: ShownDocument): Extraction => ({
  ...{ mimeType, pages, warnings },
  ...{ value: {}, validationErrors: [], citations: [] },
});

/** A model is told what the engine read only where it is asked `robust`ly. */
const UNTOLD = { effort: 'standard' } as const;

const ended = (extraction: Extraction, wanted: boolean): ModelExtractionResult => ({
  kind: 'ok',
  extraction: wanted ? extraction : { ...extraction, citations: [] },
});

const convert = async (
  deps: ModelWorkDeps,
  request: RenderRequest,
  models: WorkModels,
): Promise<ModelConversionResult> => {
  const running = started(deps, models, request);
  if (models.ocr === null) return deps.parser.render(request);
  const reading = await readByModel(running, models.ocr, request);
  if (reading.kind === 'unpaged') return deps.parser.render({ ...request, ...limitsOf(running) });
  const limits = { ...limitsOf(running), form: request.form };
  return reading.kind === 'ok' ? deps.tools.render(reading.document, limits) : reading;
};

/** Work on documents in which models take part, over the ports of providers and of document tools. */
export const modelWork = (deps: ModelWorkDeps): ModelWork => ({
  extract: (request, models) => extract(deps, request, models),
  convert: (request, models) => convert(deps, request, models),
});
