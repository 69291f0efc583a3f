// How well the embedded engine reads, set by set: npm run engine:eval -- [--only general,adbuy] [--untaught]
// What comes back through a model without fault, and is cited: npm run engine:eval -- --oracle [--lies 0.03]
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { JsonObject } from '@quire/engine/kernel/json';
import type { Document, PackedDocument } from '../../engine/document/document.ts';
import { extract } from '../../engine/extraction/extract.ts';
import { unpacked } from '../../engine/isolation/children/packing.ts';
import { openDocumentWorkers, type DocumentWorkers } from '../../engine/isolation/documentWorkers.ts';
import type { LocalArtifact } from '../../engine/learning/artifact.ts';
import { scorerOf, type Scorer, type Weights } from '../../engine/reader/scorer.ts';
import { CORPUS, corpusItems, readItem, scorer, strictCounts, type Item } from './corpus.ts';
import { generated, KINDS } from './generated.ts';
import { oracleRows } from './oracle.ts';
import { rowOf, scored, spread, tableOf, type Answer, type Scored, type Scoring } from './figures.ts';
import { scorersWithout } from './leftOut.ts';
import { Random } from './random.ts';

const { values: options } = parseArgs({
  options: {
    /** Parts of the names of sets. */
    only: { type: 'string' },
    untaught: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '3' },
    /** How many examples teach; default: all there are. */
    curve: { type: 'string', default: '' },
    /** Files of weights that other seeds gave: how far F1 spreads by them. */
    weights: { type: 'string', default: '' },
    /** Documents of each generated kind. */
    generated: { type: 'string', default: '2' },
    deadline: { type: 'string', default: '120' },
    verbose: { type: 'boolean', default: false },
    oracle: { type: 'boolean', default: false },
    /** Of the values that the oracle tells, 0 to 1: changed. */
    lies: { type: 'string', default: '0' },
  },
});

/** Their files were in sight when rules were written: what they say of rules is too good. */
const TUNED = new Set(['general', 'sroie', 'zugferd', 'invoice2data', 'kleister-nda']);

const NOTHING = { value: {}, citations: [], failed: true };
const SHARE = 'evaluation';
const deadlineMs = 1000 * Number(options.deadline);

interface Read {
  readonly item: Item;
  readonly document: PackedDocument;
}

const readAll = async (items: readonly Item[], workers: DocumentWorkers): Promise<readonly Read[]> => {
  const read: Read[] = [];
  for (const item of items) {
    const document = await readItem(item, workers);
    if (document === undefined) console.error(`${item.id} cannot be read.`);
    else read.push({ item, document });
  }
  return read;
};

const answered = async (
  { item, document }: Read,
  workers: DocumentWorkers,
  learned: LocalArtifact | undefined,
): Promise<Answer> => {
  const started = performance.now();
  const work = { document, schema: item.schema, citations: true, learned };
  const answer = await workers.tools.extractFrom(work, { deadlineMs, share: SHARE });
  const ms = performance.now() - started;
  if (answer.kind !== 'ok') return { ...NOTHING, ms };
  return { value: answer.extraction.value, citations: answer.extraction.citations, ms, failed: false };
};

interface Run {
  readonly workers: DocumentWorkers;
  readonly by: Scoring;
}

const scoresOf = async (
  documents: readonly Read[],
  { workers, by }: Run,
  learned?: LocalArtifact,
): Promise<readonly Scored[]> => {
  const scores: Scored[] = [];
  for (const one of documents) {
    const score = scored(one.item, await answered(one, workers, learned), by);
    if (options.verbose) console.error(one.item.id, JSON.stringify(score.all), JSON.stringify(score.singles));
    scores.push(score);
  }
  return scores;
};

const taughtBy = async (
  examples: readonly Read[],
  seed: number,
  { workers }: Run,
): Promise<LocalArtifact | undefined> => {
  const [first] = examples;
  if (first === undefined) return undefined;
  const packed = examples.map(({ document, item: { truth } }) => ({ document, expected: truth }));
  const result = await workers.learner.learn(
    { examples: packed, schema: first.item.schema, options: { seed, validationSplit: 0.2 } },
    { deadlineMs: 1_800_000, share: SHARE, onProgress: () => undefined },
  );
  if (result.kind === 'learned') return result.artifact;
  console.error(`Nothing was learned: ${JSON.stringify(result)}`);
  return undefined;
};

/** The same set read by artifacts of so many examples of its kind, drawn by the seed; one run a seed. */
const taughtRuns = async (
  documents: readonly Read[],
  { examples, count }: { readonly examples: readonly Item[]; readonly count: number },
  run: Run,
): Promise<readonly (readonly Scored[])[]> => {
  const runs: (readonly Scored[])[] = [];
  for (let seed = 1; seed <= Number(options.seeds); seed += 1) {
    const drawn = count < examples.length ? new Random(`examples ${seed}`).some(examples, count) : examples;
    const artifact = await taughtBy(await readAll(drawn, run.workers), seed, run);
    if (artifact !== undefined) runs.push(await scoresOf(documents, run, artifact));
  }
  return runs;
};

type Row = Readonly<Record<string, string>>;

const taughtRows = async (
  name: string,
  { documents, examples }: { readonly documents: readonly Read[]; readonly examples: readonly Item[] },
  run: Run,
): Promise<readonly Row[]> => {
  const rows: Row[] = [];
  const counts = options.curve === '' ? [examples.length] : options.curve.split(',').map(Number);
  for (const count of counts.filter((one) => one <= examples.length)) {
    const taught = await taughtRuns(documents, { examples, count }, run);
    const [first] = taught;
    if (first !== undefined)
      rows.push({ set: `${name}, taught by ${count}`, ...rowOf(first), seeds: spread(taught) });
  }
  return rows;
};

/** What is read in this process by a scorer that does not ship. */
function answeredBy(scorer: Scorer, document: Document, schema: JsonObject): Answer {
  const started = performance.now();
  const { value, citations } = extract(document, schema, { scorer });
  return { value, citations, ms: performance.now() - started, failed: false };
}

const otherSeeds = options.weights
  .split(',')
  .filter((path) => path !== '')
  .map((path) => scorerOf(JSON.parse(readFileSync(path, 'utf8')) as Weights));

/** A set by the shipped weights, and how far F1 spreads by those of other seeds. */
const untaughtRow = async (documents: readonly Read[], run: Run): Promise<Row> => {
  const shipped = await scoresOf(documents, run);
  const others = otherSeeds.map((scorer) =>
    documents.map(({ item, document }) =>
      scored(item, answeredBy(scorer, unpacked(document.packed), item.schema), run.by),
    ),
  );
  return { ...rowOf(shipped), seeds: spread([shipped, ...others]) };
};

/** Far from the seeds that the trees were grown from. */
const GENERATED_FROM = 700_000_000;

/** Generated documents, each read by trees that saw none of its kind; lists are read by rules and never learned. */
const generatedRow = (by: Scoring): readonly Row[] => {
  const without = scorersWithout();
  const wanted = options.only?.split(',').some((part) => GENERATED.includes(part)) ?? true;
  if (without === undefined || !wanted) return [];
  const scores = KINDS.flatMap((kind) =>
    Array.from({ length: Number(options.generated) }, (_, n) => {
      const { document, schema, truth } = generated(kind, GENERATED_FROM + n);
      const item = { id: `${kind} ${n}`, set: GENERATED, file: '', schema, truth, ...LENIENT };
      return scored(item, answeredBy(without(kind), document, schema), by);
    }),
  );
  return [{ set: GENERATED, ...rowOf(scores) }];
};
const GENERATED = 'generated (left out)';
const LENIENT = { match: {}, ignore: [], strict: false };

const evaluate = async (items: readonly Item[], run: Run): Promise<void> => {
  const rows: Row[] = [...generatedRow(run.by)];
  const wanted = options.only?.split(',');
  const names = [...new Set(items.map(({ set }) => set))].filter((set) => !set.endsWith(' learn'));
  for (const set of names) {
    if (wanted?.every((part) => !set.includes(part)) === true) continue;
    const of = (name: string): readonly Item[] => items.filter((item) => item.set === name);
    const documents = await readAll(of(set), run.workers);
    const name = TUNED.has(set) ? `${set} (tuned)` : set;
    rows.push({ set: name, ...(await untaughtRow(documents, run)) });
    const examples = options.untaught ? [] : of(`${set} learn`);
    rows.push(...(await taughtRows(name, { documents, examples }, run)));
    console.error(tableOf(rows.slice(-2)));
  }
  console.log(tableOf(rows));
};

/** Sets whose truth has all that the document says. */
const oracle = async (items: readonly Item[], workers: DocumentWorkers): Promise<void> => {
  const wanted = options.only?.split(',') ?? [''];
  const rows = await oracleRows(
    items.filter(({ set, strict }) => strict && wanted.some((part) => set.includes(part))),
    {
      workers,
      strict: await strictCounts(),
      lies: Number(options.lies),
      deadlineMs,
      tell: (line) => options.verbose && console.error(line),
    },
  );
  console.log(tableOf(rows));
};

const items = corpusItems();
if (items === undefined) {
  console.log(`There is no corpus at ${CORPUS}: nothing was evaluated.`);
} else {
  const workers = openDocumentWorkers({ processes: 1 });
  try {
    if (options.oracle) await oracle(items, workers);
    else await evaluate(items, { workers, by: { scorer: await scorer(), strict: await strictCounts() } });
  } finally {
    await workers.close();
  }
}
