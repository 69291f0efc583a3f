// How well the embedded engine reads, set by set: npm run engine:eval -- [--only general,adbuy] [--untaught]
// What comes back through a model without fault, and is cited: npm run engine:eval -- --oracle [--lies 0.03]
import { parseArgs } from 'node:util';
import type { PackedDocument } from '../../engine/document/document.ts';
import { openDocumentWorkers, type DocumentWorkers } from '../../engine/isolation/documentWorkers.ts';
import type { LocalArtifact } from '../../engine/learning/artifact.ts';
import { CORPUS, corpusItems, readItem, scorer, strictCounts, type Item } from './corpus.ts';
import { oracleRows } from './oracle.ts';
import { rowOf, scored, spread, tableOf, type Answer, type Scored, type Scoring } from './figures.ts';

const { values: options } = parseArgs({
  options: {
    /** Parts of the names of sets. */
    only: { type: 'string' },
    untaught: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '3' },
    deadline: { type: 'string', default: '120' },
    verbose: { type: 'boolean', default: false },
    oracle: { type: 'boolean', default: false },
    /** Of the values that the oracle tells, 0 to 1: changed. */
    lies: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
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

/** The same set read by artifacts of examples of its kind; one run a seed. */
const taughtRuns = async (
  documents: readonly Read[],
  examples: readonly Read[],
  run: Run,
): Promise<readonly (readonly Scored[])[]> => {
  const runs: (readonly Scored[])[] = [];
  for (let seed = 1; seed <= Number(options.seeds); seed += 1) {
    const artifact = await taughtBy(examples, seed, run);
    if (artifact !== undefined) runs.push(await scoresOf(documents, run, artifact));
  }
  return runs;
};

const evaluate = async (items: readonly Item[], run: Run): Promise<void> => {
  const rows: Readonly<Record<string, string>>[] = [];
  const wanted = options.only?.split(',');
  const names = [...new Set(items.map(({ set }) => set))].filter((set) => !set.endsWith(' learn'));
  for (const set of names) {
    if (wanted?.every((part) => !set.includes(part)) === true) continue;
    const of = async (name: string): Promise<readonly Read[]> =>
      readAll(
        items.filter((item) => item.set === name),
        run.workers,
      );
    const documents = await of(set);
    const name = TUNED.has(set) ? `${set} (tuned)` : set;
    rows.push({ set: name, ...rowOf(await scoresOf(documents, run)) });
    const taught = options.untaught ? [] : await taughtRuns(documents, await of(`${set} learn`), run);
    const [first] = taught;
    if (first !== undefined) rows.push({ set: `${name}, taught`, ...rowOf(first), seeds: spread(taught) });
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
      seed: Number(options.seed),
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
