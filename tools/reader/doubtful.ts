import { basename } from 'node:path';
import { ownMember, type Json, type JsonObject } from '@quire/engine/kernel/json';
import { modelWork } from '../../engine/models/byModel/workByModel.ts';
import { openDocumentWorkers } from '../../engine/isolation/documentWorkers.ts';
import type { Extraction, ExtractionSettings } from '../../engine/ports/extractionEngine.ts';
import type { ModelRequest } from '../../engine/ports/modelProvider.ts';
import { CORPUS, corpusItems, scorer, type Counts, type Item, type Scorer } from './corpus.ts';

/*
 * npm run engine:doubtful: what `models_for=doubtful` saves with a model that answers the truth: calls, and characters
 * that are asked and answered; and how much of what the model was not asked for is right. READER_SETS names sets,
 * parted by commas.
 */

const SETS = (process.env['READER_SETS'] ?? 'invoice2data,zugferd').split(',');
const FOR = ['all', 'doubtful'] as const;
const DEADLINE_MS = 240_000;

interface Spent {
  calls: number;
  asked: number;
  answered: number;
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What the truth says of what a schema asks for. */
const saidOf = (truth: Json, schema: Json | undefined): Json => {
  const properties = isObject(schema) ? ownMember(schema, 'properties') : undefined;
  if (!isObject(truth) || !isObject(properties)) return truth;
  const said = Object.entries(truth).filter(([name]) => Object.hasOwn(properties, name));
  return Object.fromEntries(said.map(([name, value]) => [name, saidOf(value, ownMember(properties, name))]));
};

/** A model that knows the truth of one document, and counts what it is asked. */
const knowing = (truth: JsonObject, spent: Spent) => (request: ModelRequest) => {
  const { output, system, turns } = request;
  const schema = output.kind === 'json' ? output.schema : {};
  const text = JSON.stringify(saidOf(truth, schema));
  spent.calls += 1;
  spent.asked += [system, JSON.stringify(schema), ...turns.map((turn) => turn.text)].join('').length;
  spent.answered += text.length;
  const usage = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, pages: null };
  return Promise.resolve({ kind: 'answered', text, usage, finish: 'stop' } as const);
};

const LLM = {
  ref: { provider: 'openai_compatible', model: 'truth' },
  apiKey: undefined,
  apiBase: undefined,
  owner: 'platform',
  retries: 0,
} as const;

/** Of the answer and the truth, what the engine alone read. */
const byEngine = (value: JsonObject, paths: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([name]) => paths.includes(`/${name}`)));

const sum = (all: readonly Counts[]): Counts => ({
  tp: all.reduce((to, { tp }) => to + tp, 0),
  fp: all.reduce((to, { fp }) => to + fp, 0),
  fn: all.reduce((to, { fn }) => to + fn, 0),
});
const percent = (part: number, of: number): string => (of === 0 ? '' : `${((100 * part) / of).toFixed(1)} %`);
const f1 = ({ tp, fp, fn }: Counts): string => percent(2 * tp, 2 * tp + fp + fn);

const workers = openDocumentWorkers({ processes: 2 });

const extracted = async (
  item: Item,
  models_for: ExtractionSettings['models_for'],
  spent: Spent,
): Promise<Extraction | undefined> => {
  const localDeadlinesMs = { fast: DEADLINE_MS, standard: DEADLINE_MS, robust: DEADLINE_MS };
  const work = modelWork({
    providers: {
      abilitiesOf: () => ({ pdf: false, images: false, documentTokens: 64_000 }),
      ask: knowing(item.truth, spent),
      readPages: () => Promise.reject(new Error('no pages are read')),
    },
    tools: workers.tools,
    parser: workers.parser,
    schemas: workers.schemaValidator,
    ranged: workers.ranged,
    localDeadlinesMs,
    readFile: () => Promise.reject(new Error('no file is shown')),
  });
  const file = { path: item.file, fileName: basename(item.file), pagesMax: 1000, share: 'evaluation' };
  const request = { ...file, effort: 'standard', deadlineMs: DEADLINE_MS, schema: item.schema } as const;
  const models = { llm: LLM, ocr: null, onCall: () => undefined };
  const result = await work.extract({ ...request, settings: { citations: true, models_for } }, models);
  return result.kind === 'ok' ? result.extraction : undefined;
};

const measured = async (items: readonly Item[], modelsFor: (typeof FOR)[number], score: Scorer) => {
  const spent: Spent = { calls: 0, asked: 0, answered: 0 };
  const counts: Counts[] = [];
  const skipped: Counts[] = [];
  let fields = 0;
  for (const item of items) {
    const extraction = await extracted(item, modelsFor, spent);
    const value = extraction?.value ?? {};
    counts.push(score.compare(item.truth, value, item.schema, item));
    const { engine = [] } = extraction?.readBy ?? {};
    fields += engine.length;
    skipped.push(score.compare(byEngine(item.truth, engine), byEngine(value, engine), item.schema, item));
  }
  const { tp, fp } = sum(skipped);
  return {
    'models for': modelsFor,
    documents: items.length,
    ...spent,
    F1: f1(sum(counts)),
    'fields by the engine': fields,
    'right of their values': percent(tp, tp + fp),
  };
};

const items = corpusItems()?.filter(({ set }) => SETS.includes(set));
if (items === undefined || items.length === 0) console.log(`There are no such documents at ${CORPUS}.`);
else {
  const score = await scorer();
  const rows = [];
  for (const modelsFor of FOR) rows.push(await measured(items, modelsFor, score));
  console.table(rows);
}
await workers.close();
