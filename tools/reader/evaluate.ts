// How well the embedded engine reads, set by set: npm run engine:eval -- [--only general,adbuy] [--untaught]
// Documents of one's own, one folder with documents/, schemas/ and truth/: npm run engine:eval -- --folder <folder>
// What examples teach, by their number: npm run engine:eval -- --only sroie --curve 3,10,30 [--plot <file>.svg]
// Schemas in one language over pages in another: npm run engine:eval -- --pairs [--only "en over de"] [--seed 2]
// What proposed schemas are worth: npm run engine:eval -- --proposals [--only general]
// What each way of finding values is worth, set by set: npm run engine:eval -- --ablation [--only general,adbuy]
// The same figures as always without some of them: npm run engine:eval -- --untaught --without tables,lines
// How honest confidence is, by shape of value: npm run engine:eval -- --untaught --calibration
// What comes back through a model without fault, and is cited: npm run engine:eval -- --oracle [--lies 0.03]
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { PackedDocument } from '../../engine/document/document.ts';
import { withAbsence } from '../../engine/extraction/grounding/absence.ts';
import { extract } from '../../engine/extraction/extract.ts';
import { validate } from '../../engine/extraction/schema/validation.ts';
import { GENERATOR_NAMES, type Generator } from '../../engine/ports/why.ts';
import { proposalFor } from '../../engine/extraction/schema/proposal.ts';
import { unpacked } from '../../engine/ports/packing.ts';
import { openDocumentWorkers, type DocumentWorkers } from '../../engine/isolation/documentWorkers.ts';
import type { LocalArtifact } from '../../engine/ports/artifacts.ts';
import { extractTaught } from '../../engine/learning/extractWith.ts';
import {
  CORPUS,
  corpusItems,
  docuShare,
  itemsIn,
  readItem,
  scorer,
  strictCounts,
  type Item,
  type Scorer,
} from './corpus.ts';
import { at, calibrationRows, type Told } from './calibrating.ts';
import { plotOf, type Curve } from './curves.ts';
import {
  proposedOf,
  rowOf,
  scored,
  spread,
  tableOf,
  type Answer,
  type Scored,
  type Scoring,
} from './figures.ts';
import { generated, KINDS, kindsIn, type GeneratedDocument } from './generated.ts';
import { oracleRows } from './oracle.ts';
import { Random } from './random.ts';
import { LANGUAGES, type Language } from './words.ts';

const { values: options } = parseArgs({
  options: {
    /** Parts of the names of sets. */
    only: { type: 'string' },
    /** Folders of documents with their schemas and truth, in place of the corpus. */
    folder: { type: 'string', multiple: true },
    untaught: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '3' },
    /** How many examples teach; without it all there are. */
    curve: { type: 'string', default: '' },
    /** A file for the plot of the curve. */
    plot: { type: 'string' },
    /** Documents of each generated kind. */
    generated: { type: 'string', default: '2' },
    deadline: { type: 'string', default: '120' },
    verbose: { type: 'boolean', default: false },
    /** How honest the confidence of each shape of value is, fitted with the kind left out. */
    calibration: { type: 'boolean', default: false },
    /** What each way of finding values is worth. */
    ablation: { type: 'boolean', default: false },
    /** Ways of finding values that are left out. */
    without: { type: 'string', default: '' },
    oracle: { type: 'boolean', default: false },
    /** Schemas in one language over pages in another. */
    pairs: { type: 'boolean', default: false },
    /** The schemas that documents suggest, and what an extraction by them says. */
    proposals: { type: 'boolean', default: false },
    /** Of the values that the oracle tells, 0 to 1: changed. */
    lies: { type: 'string', default: '0' },
    /** Of the oracle's lies, and of the first document of each generated kind. */
    seed: { type: 'string', default: '1' },
  },
});

/** Their files were in sight when rules were written: what they say of rules is too good. */
const TUNED = new Set(['general', 'sroie', 'zugferd', 'invoice2data', 'kleister-nda']);

/** Of these no document is shown. */
const NOT_LOOKED_AT = '(not looked at)';

const NOTHING = { value: {}, citations: [], failed: true };
const SHARE = 'evaluation';
const deadlineMs = 1000 * Number(options.deadline);

/** Whether `--only` names a set; where it is not given, `otherwise`. */
const isWanted = (set: string, otherwise = true): boolean =>
  options.only?.split(',').some((part) => set.includes(part)) ?? otherwise;

/** Ways that all extractions go without; those in a process of the service have none. */
const without = new Set(
  options.without
    .split(',')
    .filter((name) => name !== '')
    .map((name): Generator => {
      const known = GENERATOR_NAMES.find((one) => one === name);
      if (known === undefined)
        throw new Error(`--without: ${name} is none of ${GENERATOR_NAMES.join(', ')}.`);
      return known;
    }),
);

type Ways = ReadonlySet<Generator>;

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
  if (without.size > 0) return ablated({ item, document }, { learned, without });
  const work = { document, schema: item.schema, settings: { citations: true }, learned };
  const answer = await workers.tools.extractFrom(work, { deadlineMs, share: SHARE });
  const ms = performance.now() - started;
  if (answer.kind !== 'ok') return { ...NOTHING, ms };
  return { value: answer.extraction.value, citations: answer.extraction.citations, ms, failed: false };
};

/** The same in this process, for the service has no way to leave a way out. */
const ablated = (
  { item: { schema }, document: { packed } }: Read,
  { learned, without }: { readonly learned?: LocalArtifact | undefined; readonly without: Ways },
): Answer => {
  const started = performance.now();
  const document = unpacked(packed);
  const found =
    learned === undefined
      ? extract(document, schema, { without })
      : extractTaught({ artifact: learned, without }, document, schema);
  const { value } = validate(schema, withAbsence(schema, found.value));
  return { value, citations: found.citations, ms: performance.now() - started, failed: false };
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
    const answer = await answered(one, workers, learned);
    const score = scored(one.item, answer, by);
    if (options.verbose && !one.item.set.endsWith(NOT_LOOKED_AT))
      console.error(wrongIn(one.item, answer, score));
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

/** Counts of a document, and below them each wrong value beside what is true at its place. */
const wrongIn = ({ id, truth }: Item, { value }: Answer, { all, singles, values }: Scored): string => {
  const wrong = values.filter(({ right }) => !right);
  const lines = wrong.map(({ path, confidence = 0 }) => {
    const [said, is] = [value, truth].map((one) => JSON.stringify(at(one, path)));
    return `  ${path}: ${String(said)} (${confidence.toFixed(2)}) for ${is ?? 'nothing'}`;
  });
  return [`${id} ${JSON.stringify(all)} ${JSON.stringify(singles)}`, ...lines].join('\n');
};

type Row = Readonly<Record<string, string>>;

/** Documents to judge by, and examples that none of them is among. */
interface Lesson {
  readonly name: string;
  readonly documents: readonly Read[];
  readonly examples: readonly Item[];
}

/** A row of runs that differ in their seed alone: it draws the examples, and what is learned goes by it. */
async function taughtRow({ name, documents, examples }: Lesson, count: number, run: Run): Promise<Row> {
  const runs: (readonly Scored[])[] = [];
  for (let seed = 1; seed <= Number(options.seeds); seed += 1) {
    const drawn = new Random(`examples ${String(seed)}`).some(examples, count);
    const artifact = await taughtBy(await readAll(drawn, run.workers), seed, run);
    runs.push(await scoresOf(documents, run, artifact));
  }
  const told = { set: `${name}, taught by ${String(count)}`, ...rowOf(runs.flat()) };
  return { ...told, documents: `${String(documents.length)}, ${options.seeds} times`, seeds: spread(runs) };
}

const counts = options.curve.split(',').map(Number);

/**
 * Of a curve every row is judged by the same documents: those of the set, and the examples that teach in none of
 * the rows. Of a set whose own files were in sight when rules were written these are at least half of its examples.
 */
async function lessonOf(name: string, { dev, all }: Record<'dev' | 'all', readonly Item[]>, run: Run) {
  const most = TUNED.has(name) ? all.length / 2 : all.length;
  const order = new Random('examples').shuffled(all);
  const teaching = options.curve === '' ? all.length : Math.floor(Math.min(most, Math.max(...counts)));
  const documents = await readAll([...dev, ...order.slice(teaching)], run.workers);
  return {
    lesson: {
      name: TUNED.has(name) ? `${name} (tuned)` : name,
      documents,
      examples: order.slice(0, teaching),
    },
    steps: options.curve === '' ? [teaching] : counts.filter((count) => count <= teaching),
  };
}

async function rowsOf(
  set: string,
  items: readonly Item[],
  run: Run,
): Promise<Curve & { readonly rows: Row[]; readonly told: readonly Told[] }> {
  const of = (name: string): readonly Item[] => items.filter((item) => item.set === name);
  const all = options.untaught ? [] : of(`${set} learn`);
  const { lesson, steps } = await lessonOf(set, { dev: of(set), all }, run);
  const scores = await scoresOf(lesson.documents, run);
  const rows: Row[] = [{ set: lesson.name, ...rowOf(scores) }];
  for (const count of all.length === 0 ? [] : steps) rows.push(await taughtRow(lesson, count, run));
  const points = rows.map(({ F1, seeds = '' }, i) => ({ at: i === 0 ? 0 : (steps[i - 1] ?? 0), F1, seeds }));
  return { set, points, rows, told: scores.flatMap((one) => one.told) };
}

/** Far from the seeds that the weights were grown from. */
const GENERATED_FROM = 700_000_000;
const GENERATED = 'generated (kinds of the weights)';

/** Documents of the kinds that the weights saw, made by other seeds; lists are read by rules alone. */
function generatedRow(by: Scoring): Row {
  const scores = KINDS.flatMap((kind) => generatedScores(by, (seed) => generated(kind, seed)));
  return { set: GENERATED, ...rowOf(scores) };
}

const generatedScores = (by: Scoring, make: (seed: number) => GeneratedDocument): readonly Scored[] =>
  Array.from({ length: Number(options.generated) }, (_, n) => {
    const { kind, document, schema, truth } = make(GENERATED_FROM + Number(options.seed) - 1 + n);
    const item = { id: kind, set: GENERATED, file: '', schema, truth, match: {}, ignore: [], strict: false };
    const started = performance.now();
    const { value, citations } = extract(document, schema, { without });
    const answer = { value, citations, ms: performance.now() - started, failed: false };
    const score = scored(item, answer, by);
    if (options.verbose) console.error(JSON.stringify({ kind, truth, value }));
    return score;
  });

/** English schemas over pages in another language, and the reverse: what the languages have to say to each other. */
function pairRows(by: Scoring): readonly Row[] {
  const pairs = LANGUAGES.flatMap((language): (readonly [Language, Language])[] => [
    [language, language],
    ...(language === 'en'
      ? []
      : ([
          ['en', language],
          [language, 'en'],
        ] as const)),
  ]);
  return pairs.flatMap(([schema, page]) => {
    const set = `${schema} over ${page}`;
    if (!isWanted(set)) return [];
    const kinds = KINDS.filter((kind) => [schema, page].every((one) => kindsIn(one).includes(kind)));
    const scores = kinds.flatMap((kind) =>
      generatedScores(by, (seed) => generated(kind, seed, { page, schema })),
    );
    return [{ set, ...rowOf(scores) }];
  });
}

/** What is right and wrong in a set without a way, beside what it is with all of them: `-right -wrong`. */
const lossOf = (scores: readonly Scored[], base: readonly Scored[]): string => {
  const change = (of: (one: Scored) => number): string => {
    const by = scores.reduce((sum, one, at) => sum + of(one) - of(base[at] ?? one), 0);
    return by > 0 ? `+${String(by)}` : String(by);
  };
  const [right, wrong] = [change(({ all }) => all.tp), change(({ all }) => all.fp)];
  return right === '0' && wrong === '0' ? '' : `${right} ${wrong}`;
};

/** Each document is read once, and extracted once for each way that is left out. */
const ablation = async (items: readonly Item[], { workers, by }: Run): Promise<void> => {
  const rows = new Map<Generator, Record<string, string>>();
  for (const set of [...new Set(items.map((item) => item.set))].filter((one) => !one.endsWith(' learn'))) {
    if (!isWanted(set)) continue;
    const documents = await readAll(
      items.filter((item) => item.set === set),
      workers,
    );
    const scores = (ways: Ways): readonly Scored[] =>
      documents.map((one) => scored(one.item, ablated(one, { without: ways }), by));
    const base = scores(new Set());
    for (const way of GENERATOR_NAMES) {
      const row = rows.get(way) ?? { without: way };
      rows.set(way, { ...row, [set]: lossOf(scores(new Set([way])), base) });
    }
    console.error(`${set}: ${String(documents.length)} documents`);
  }
  console.log(tableOf([...rows.values()]));
};

const evaluate = async (items: readonly Item[], run: Run): Promise<void> => {
  const names = [...new Set(items.map(({ set }) => set))].filter((set) => !set.endsWith(' learn'));
  const rows: Row[] = isWanted(GENERATED) && options.folder === undefined ? [generatedRow(run.by)] : [];
  const curves: Curve[] = [];
  const told: Told[] = [];
  for (const set of names.filter((name) => isWanted(name))) {
    const found = await rowsOf(set, items, run);
    console.error(tableOf(found.rows));
    rows.push(...found.rows);
    told.push(...found.told);
    if (found.rows.length > 1) curves.push(found);
  }
  console.log(tableOf(rows));
  if (options.calibration) console.log(tableOf(calibrationRows(told)));
  if (options.plot !== undefined) writeFileSync(options.plot, plotOf(curves));
};

const share = (part: number, whole: number): string => (whole === 0 ? '-' : (part / whole).toFixed(3));

/** What a service proposes for each document, held against the truth. */
const proposals = async (items: readonly Item[], workers: DocumentWorkers, by: Scorer): Promise<void> => {
  const rows: Row[] = [];
  for (const set of [...new Set(items.map((item) => item.set))].filter((one) =>
    isWanted(one, !one.endsWith(' learn')),
  )) {
    const sum = { documents: 0, values: 0, covered: 0, fields: 0, found: 0 };
    for (const {
      item,
      document: { packed },
    } of await readAll(
      items.filter((one) => one.set === set),
      workers,
    )) {
      const until = performance.now() + deadlineMs;
      const document = unpacked(packed);
      const proposal = proposalFor(document, () => performance.now() > until);
      const { value } = extract(document, proposal);
      const one = proposedOf(item, { proposal, value }, by);
      if (options.verbose) console.error(item.id, JSON.stringify(one), JSON.stringify(value));
      sum.documents += 1;
      for (const name of ['values', 'covered', 'fields', 'found'] as const) sum[name] += one[name];
    }
    rows.push({
      set,
      documents: String(sum.documents),
      values: String(sum.values),
      covered: share(sum.covered, sum.values),
      fields: String(sum.fields),
      found: share(sum.found, sum.fields),
    });
    console.error(tableOf(rows.slice(-1)));
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

const scoring = async (): Promise<Scoring> => ({
  scorer: await scorer(),
  strict: await strictCounts(),
  docu: await docuShare(),
});

const items = options.folder?.flatMap(itemsIn) ?? corpusItems();
if (items === undefined) {
  console.log(`There is no corpus at ${CORPUS}: nothing was evaluated.`);
} else if (options.pairs) {
  console.log(tableOf(pairRows(await scoring())));
} else {
  const workers = openDocumentWorkers({ processes: 1 });
  try {
    if (options.oracle) await oracle(items, workers);
    else if (options.ablation) await ablation(items, { workers, by: await scoring() });
    else if (options.proposals) await proposals(items, workers, await scorer());
    else await evaluate(items, { workers, by: await scoring() });
  } finally {
    await workers.close();
  }
}
