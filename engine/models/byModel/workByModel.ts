import type { ParseRequest, RenderRequest } from '../../ports/documentParser.ts';
import type { ExtractionRequest } from '../../ports/extractionEngine.ts';
import type {
  ModelConversionResult,
  ModelExtractionResult,
  ModelWork,
  WorkModels,
} from '../../ports/modelWork.ts';
import { deadlineIn, limitsOf, type ModelWorkDeps, type Running } from './modelWorkDeps.ts';
import { extractByModel } from './extractByModel.ts';
import { readByModel } from './readByModel.ts';
import { showDocument } from './shownDocument.ts';

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
  const shown = await showDocument(running, request, llm && deps.providers.abilitiesOf(llm.ref));
  if (shown.kind !== 'ok') return shown;
  if (llm !== null) return extractByModel(running, { llm, shown }, request);
  const work = { document: shown.document, schema, citations, minConfidence, learned };
  return deps.tools.extractFrom(work, limitsOf(running));
};

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
