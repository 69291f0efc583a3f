// Learns the weights of the reader from generated documents: npm run engine:train -- [--documents 2400] [--seed 1]
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { FEATURES } from '../../engine/reader/features.ts';
import { opinionsOf } from '../../engine/reader/opinions.ts';
import { scorerOf, type Weights } from '../../engine/reader/scorer.ts';
import { scoring, type Trees } from '../../engine/reader/trees.ts';
import { boosted, logisticFit, type BoostingOptions } from './boosting.ts';
import { generated, KINDS } from './scratch/synth.ts';
import { isRight, lessonOf, RowStore, type Lesson } from './lessons.ts';

const { values: options } = parseArgs({
  options: {
    documents: { type: 'string', default: '2400' },
    seed: { type: 'string', default: '1' },
    trees: { type: 'string', default: '120' },
    leaves: { type: 'string', default: '15' },
    out: { type: 'string', default: 'engine/reader/weights.json' },
  },
});
const boosting: BoostingOptions = {
  trees: Number(options.trees),
  leaves: Number(options.leaves),
  rate: 0.1,
  leafMin: 3,
  ridge: 2,
  rowShare: 0.5,
  featureShare: 0.5,
  seed: Number(options.seed),
};

/** Kinds are left out by turns. */
const FOLDS = 2;
/** One document of so many is kept whole, to tell chances by. */
const KEPT_EVERY = 4;

const started = performance.now();
const seconds = (): string => `${Math.round((performance.now() - started) / 1000)} s`;

interface Learning {
  readonly store: RowStore;
  /** The documents that chances are told by, each with its fold. */
  readonly held: readonly (readonly [Lesson, number])[];
}

const foldOf = (kind: string): number => KINDS.indexOf(kind) % FOLDS;

function learning(documents: number, seed: number): Learning {
  const store = new RowStore();
  const held: (readonly [Lesson, number])[] = [];
  const each = Math.ceil(documents / KINDS.length);
  for (let n = 0; n < each; n += 1) {
    for (const kind of KINDS) {
      const lesson = lessonOf(generated(kind, seed * 1_000_003 + n));
      if (lesson === undefined) continue;
      store.add(lesson, foldOf(kind));
      if (n % KEPT_EVERY === 0) held.push([lesson, foldOf(kind)]);
    }
    if (n % 50 === 49) console.error(`${(n + 1) * KINDS.length} documents, ${seconds()}`);
  }
  return { store, held };
}

/** How sure chosen values may be: by documents of kinds that the trees did not see. */
function chances(held: Learning['held'], trees: readonly Trees[]): Weights['chance'] {
  const signals: (readonly number[])[] = [];
  const labels: number[] = [];
  const odds = trees.map(scoring);
  for (const [lesson, fold] of held) {
    const score = odds[fold];
    if (score === undefined) continue;
    for (const opinion of opinionsOf(lesson.asked, lesson.candidates, score)) {
      signals.push(opinion.signals);
      labels.push(Number(isRight(opinion.candidate, lesson.truths[opinion.field])));
    }
  }
  const chance = logisticFit(
    signals,
    labels,
    signals.map(() => 1),
  );
  tell(signals, labels, chance);
  return chance;
}

/** Prints how many chosen values of a chance are right, of kinds that were left out. */
function tell(
  signals: readonly (readonly number[])[],
  labels: readonly number[],
  chance: Weights['chance'],
): void {
  const { chanceOf } = scorerOf({
    features: FEATURES,
    trees: { base: 0, roots: [], features: [], values: [], lefts: [] },
    chance,
  });
  const chanced = signals.map((row, i) => [chanceOf(row), labels[i] ?? 0] as const);
  for (const [from, to] of [
    [0.9, 1.01],
    [0.8, 0.9],
    [0.65, 0.8],
    [0.5, 0.65],
    [0.35, 0.5],
    [0, 0.35],
  ] as const) {
    const within = chanced.filter(([one]) => one >= from && one < to);
    console.error(
      `${from}-${to}: ${within.filter(([, label]) => label === 1).length} of ${within.length} right`,
    );
  }
}

const { store, held } = learning(Number(options.documents), Number(options.seed));
const trees = [...Array.from({ length: FOLDS }, (_, fold) => fold), undefined].map((fold) => {
  const rows = store.without(fold);
  const grown = boosted(rows, boosting);
  console.error(`${rows.labels.length} rows of ${FEATURES.length} features: trees grown, ${seconds()}`);
  return grown;
});
const [all] = trees.slice(-1);
if (all === undefined) throw new Error('Nothing was learned.');
const rounded = { ...all, values: all.values.map((value) => Number(value.toPrecision(6))) };
const weights: Weights = { features: FEATURES, trees: rounded, chance: chances(held, trees) };
writeFileSync(options.out, `${JSON.stringify(weights)}\n`);
console.error(`${options.out} written, ${seconds()}`);
