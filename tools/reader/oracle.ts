// The way through a model, judged with one that makes no fault: what of its answers comes back, and what is cited.
import { readFile } from 'node:fs/promises';
import type { Json, JsonObject } from '@quire/engine/kernel/json';
import type { DocumentWorkers } from '../../engine/isolation/documentWorkers.ts';
import { modelWork } from '../../engine/models/byModel/workByModel.ts';
import { openModelProviders } from '../../engine/models/modelProviders.ts';
import type { Extraction } from '../../engine/ports/extractionEngine.ts';
import { leafCount, lied, told, wordsOf } from '../../engine/test/support/perfectModel.ts';
import { seededRandom } from '../../engine/test/support/random.ts';
import { startScriptedProvider } from '../../engine/test/support/scriptedProvider.ts';
import { answers } from '../../engine/test/support/scriptedProvider/steps.ts';
import type { ScriptedRequest } from '../../engine/test/support/scriptedProvider/steps.ts';
import { readItem, type Counts, type Item } from './corpus.ts';

export interface OracleOptions {
  readonly workers: DocumentWorkers;
  readonly strict: (truth: JsonObject, got: JsonObject) => Counts;
  /** Of the values, 0..1: changed on the way. */
  readonly lies: number;
  readonly seed: number;
  readonly deadlineMs: number;
  readonly tell: (line: string) => void;
}

/** Of the document, not of what the model said of it before. */
const shownIn = ({ body }: ScriptedRequest): string =>
  ((body['messages'] ?? []) as readonly { readonly role: string; readonly content: Json }[])
    .filter(({ role }, at) => role === 'user' && at < 2)
    .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)))
    .join('\n');

/** Answers each document of a kind, and gives the kind's row. */
export async function oracleRows(
  items: readonly Item[],
  options: OracleOptions,
): Promise<readonly Readonly<Record<string, string>>[]> {
  const provider = await startScriptedProvider();
  const providers = openModelProviders({ allowPrivateNetwork: true });
  const kinds = [...new Set(items.map(({ set }) => set))];
  const rows: Readonly<Record<string, string>>[] = [];
  try {
    for (const kind of kinds) {
      let sum = NONE;
      for (const item of items.filter(({ set }) => set === kind)) {
        const figures = await figuresOf(item, { ...options, provider, providers });
        options.tell(`${item.id} ${JSON.stringify(figures)}`);
        sum = added(sum, figures);
      }
      rows.push(rowOf(kind, sum));
    }
  } finally {
    await providers.close();
    await provider.stop();
  }
  return rows;
}

interface Figures {
  /** Values that the model told of what it was shown, and those of them that came back. */
  readonly told: number;
  readonly kept: number;
  /** Values that came back, and those with a place. */
  readonly values: number;
  readonly cited: number;
  /** Changed values that came back, and those that are said to stand nowhere. */
  readonly lies: number;
  readonly seen: number;
  /** The same of those that were not changed. */
  readonly true: number;
  readonly doubted: number;
  readonly documents: number;
  readonly failed: number;
}

const NONE: Figures = {
  told: 0,
  kept: 0,
  values: 0,
  cited: 0,
  lies: 0,
  seen: 0,
  true: 0,
  doubted: 0,
  documents: 0,
  failed: 0,
};

const added = (a: Figures, b: Figures): Figures =>
  Object.fromEntries(
    (Object.keys(NONE) as (keyof Figures)[]).map((key) => [key, a[key] + b[key]]),
  ) as unknown as Figures;

type Asked = OracleOptions & {
  readonly provider: Awaited<ReturnType<typeof startScriptedProvider>>;
  readonly providers: ReturnType<typeof openModelProviders>;
};

async function figuresOf(item: Item, asked: Asked): Promise<Figures> {
  const { provider, strict } = asked;
  const truth = lied(item.truth, asked.lies, seededRandom(asked.seed));
  const shown: string[] = [];
  provider.script('*', (request) => {
    const text = shownIn(request);
    shown.push(text);
    return answers(told(item.truth, wordsOf(text), truth) ?? {});
  });
  const extraction = await extracted(item, asked);
  const best = (told(item.truth, wordsOf(shown.join('\n')), truth) ?? {}) as JsonObject;
  const failed = { ...NONE, told: leafCount(best), documents: 1, failed: 1 };
  if (extraction === undefined) return failed;
  const { value, citations } = extraction;
  const of = leafCount(value);
  return {
    ...failed,
    failed: 0,
    kept: strict(best, value).tp,
    values: of,
    cited: citations.filter(({ page, grounding }) => page !== null || grounding === 'derived').length,
    ...honesty(item.truth, truth, { value, citations }),
  };
}

/** The leaves of a value by their pointers. */
function* leavesOf(value: Json, path = ''): Generator<readonly [string, Json]> {
  if (value === null || value === '') return;
  if (typeof value !== 'object') yield [path, value];
  else
    for (const [key, member] of Object.entries<Json>(value))
      yield* leavesOf(member, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

/** A value as the same member of any item of its lists would have it. */
const anywhere = ([path, value]: readonly [string, Json]): string =>
  `${path.replace(/\/\d+(?=\/|$)/g, '/*')} ${JSON.stringify(value).replaceAll('"', '')}`;

/** Whether what was changed is said to stand nowhere, and what was not to stand somewhere. */
function honesty(
  truth: JsonObject,
  says: JsonObject,
  { value, citations }: Pick<Extraction, 'value' | 'citations'>,
) {
  const right = new Set([...leavesOf(truth)].map(anywhere));
  const wrong = new Set([...leavesOf(says)].map(anywhere).filter((one) => !right.has(one)));
  const doubts = new Set(citations.flatMap(({ path, grounding }) => (grounding === 'none' ? [path] : [])));
  const counts = { lies: 0, seen: 0, true: 0, doubted: 0 };
  for (const leaf of leavesOf(value)) {
    const isLie = wrong.has(anywhere(leaf));
    const isDoubted = doubts.has(leaf[0]);
    if (isLie) counts.lies += 1;
    else counts.true += 1;
    if (isDoubted) counts[isLie ? 'seen' : 'doubted'] += 1;
  }
  return counts;
}

async function extracted(item: Item, { workers, provider, providers, deadlineMs }: Asked) {
  const work = modelWork({
    providers,
    tools: workers.tools,
    parser: {
      ...workers.parser,
      read: async () => {
        const document = await readItem(item, workers);
        if (document === undefined) throw new Error(`${item.id} cannot be read.`);
        return { kind: 'ok', document };
      },
    },
    schemas: workers.schemaValidator,
    ranged: workers.ranged,
    localDeadlinesMs: { fast: deadlineMs, standard: deadlineMs, robust: deadlineMs },
    readFile: (path) => readFile(path),
  });
  const { file, schema } = item;
  const request = { path: file, fileName: null, pagesMax: 1000, deadlineMs, share: 'oracle', schema };
  const llm = {
    ref: { provider: 'openai_compatible', model: 'oracle' } as const,
    apiKey: 'sk-oracle',
    apiBase: provider.url,
    owner: 'caller' as const,
    retries: 0,
  };
  const result = await work.extract(
    { ...request, effort: 'standard', citations: true },
    { llm, ocr: null, onCall: () => undefined },
  );
  if (result.kind === 'ok') return result.extraction;
  console.error(item.id, JSON.stringify(result));
  return undefined;
}

const share = (part: number, all: number): string => (all === 0 ? '' : (part / all).toFixed(3));

const rowOf = (set: string, sum: Figures): Readonly<Record<string, string>> => ({
  set,
  answers: `${sum.documents - sum.failed}/${sum.documents}`,
  told: String(sum.told),
  kept: share(sum.kept, sum.told),
  cited: share(sum.cited, sum.values),
  'lies seen': share(sum.seen, sum.lies),
  'truth doubted': share(sum.doubted, sum.true),
});
