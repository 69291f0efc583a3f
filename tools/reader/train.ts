// Learns the weights of the reader from generated documents: npm run engine:train -- [--documents 980] [--seed 1]
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { FEATURES } from '../../engine/reader/features.ts';
import { opinionsOf } from '../../engine/reader/opinions.ts';
import { scorerOf, type Weights } from '../../engine/reader/scorer.ts';
import { scoring, type Trees } from '../../engine/reader/trees.ts';
import { boosted, logisticFit, type BoostingOptions } from './boosting.ts';
import { generated, KINDS } from './generated.ts';
import { isRight, lessonOf, RowStore, type Lesson } from './lessons.ts';

const { values: options } = parseArgs({
  options: {
    documents: { type: 'string', default: '980' },
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
function chances(
  held: Learning['held'],
  trees: readonly Trees[],
): { readonly chance: Weights['chance']; readonly levels: readonly string[] } {
  const signals: (readonly number[])[] = [];
  const labels: number[] = [];
  const odds = trees.map(scoring);
  for (const [lesson, fold] of held) {
    const score = odds[fold];
    if (score === undefined) continue;
    for (const opinion of opinionsOf(lesson.asked, lesson.candidates, score).opinions) {
      signals.push(opinion.signals);
      labels.push(Number(isRight(opinion.candidate, lesson.truths[opinion.field])));
    }
  }
  const chance = logisticFit(
    signals,
    labels,
    signals.map(() => 1),
  );
  return { chance, levels: reliability(signals, labels, chance) };
}

const LEVELS = [0.9, 0.8, 0.65, 0.5, 0.35, 0] as const;

/** How many chosen values of each chance are right, of kinds that were left out. */
function reliability(
  signals: readonly (readonly number[])[],
  labels: readonly number[],
  chance: Weights['chance'],
): readonly string[] {
  const trees = { base: 0, roots: [], features: [], values: [], lefts: [] };
  const { chanceOf } = scorerOf({ features: FEATURES, trees, chance });
  const chanced = signals.map((row, i) => [chanceOf(row), labels[i] ?? 0] as const);
  return LEVELS.map((from, i) => {
    const within = chanced.filter(([one]) => one >= from && one < (LEVELS[i - 1] ?? 2));
    return `| ${from} | ${within.filter(([, label]) => label === 1).length} of ${within.length} |`;
  });
}

/** What the weights are made of, for people. */
const cardOf = (rows: number, levels: readonly string[]): string =>
  [
    '# The weights of the reader',
    '',
    `Made by \`npm run engine:train -- --documents ${options.documents} --seed ${options.seed}\`, ` +
      `${new Date().toISOString().slice(0, 10)}: the same command and code give the same bytes of \`weights.json\`.`,
    '',
    `Data: ${options.documents} generated documents of ${KINDS.length} kinds ` +
      `(\`tools/reader/generated.ts\`), no real one. ` +
      `${rows} rows of ${FEATURES.length} features; ${options.trees} trees of ${options.leaves} leaves.`,
    '',
    'Chosen values of generated kinds that the trees did not see, by the chance that they were given:',
    '',
    '| from | right |',
    '| --- | --- |',
    ...levels,
    '',
    'How real documents are read stands in `docs/reference/benchmarks.md`, under `engine:eval`.',
    '',
  ].join('\n');

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
const { chance, levels } = chances(held, trees);
const weights: Weights = { features: FEATURES, trees: rounded, chance };
writeFileSync(options.out, `${JSON.stringify(weights)}\n`);
writeFileSync(options.out.replace(/json$/, 'md'), cardOf(store.count, levels));
console.error(`${levels.join('\n')}\n${options.out} written, ${seconds()}`);
