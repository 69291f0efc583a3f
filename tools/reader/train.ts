// Learns the weights of the reader from generated documents: npm run engine:train -- [--documents 980] [--seed 1]
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { FEATURES } from '../../engine/reader/features.ts';
import { opinionsOf } from '../../engine/reader/opinions.ts';
import { scorerOf, type Weights } from '../../engine/reader/scorer.ts';
import { scoring, type Trees } from '../../engine/reader/trees.ts';
import { boosted, logisticFit, type BoostingOptions } from './boosting.ts';
import { generated, KINDS } from './generated.ts';
import { isRight, lessonOf, misledBy, RowStore, type Lesson } from './lessons.ts';
import { foldOf, FOLDS, FOLDS_FILE } from './leftOut.ts';
import { Random } from './random.ts';

const { values: options } = parseArgs({
  options: {
    documents: { type: 'string', default: '980' },
    seed: { type: 'string', default: '1' },
    trees: { type: 'string', default: '120' },
    leaves: { type: 'string', default: '15' },
    out: { type: 'string', default: 'engine/reader/weights.json' },
    folds: { type: 'string', default: FOLDS_FILE },
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

/** One document of so many is kept whole, to tell chances by. */
const KEPT_EVERY = 3;

const started = performance.now();
const seconds = (): string => `${Math.round((performance.now() - started) / 1000)} s`;

interface Learning {
  readonly store: RowStore;
  /** The documents that chances are told by, each with its fold. */
  readonly held: readonly (readonly [Lesson, number])[];
}

function learning(documents: number, seed: number): Learning {
  const store = new RowStore();
  const held: (readonly [Lesson, number])[] = [];
  const each = Math.ceil(documents / KINDS.length);
  for (let n = 0; n < each; n += 1) {
    for (const kind of KINDS) {
      const misled = misledBy(new Random(`misled ${kind} ${seed} ${n}`));
      const lesson = lessonOf(generated(kind, seed * 1_000_003 + n), misled);
      if (lesson === undefined) continue;
      store.add(lesson, foldOf(kind));
      if (n % KEPT_EVERY === 0) held.push([lesson, foldOf(kind)]);
    }
    if (n % 50 === 49) console.error(`${(n + 1) * KINDS.length} documents, ${seconds()}`);
  }
  return { store, held };
}

/** A value that was chosen in a document of a kind that the trees did not see. */
interface Tried {
  readonly kind: string;
  readonly signals: readonly number[];
  /** 1: right. */
  readonly label: number;
}

/** How sure chosen values may be: by documents of kinds that the trees did not see. */
function triedOn(held: Learning['held'], trees: readonly Trees[]): readonly Tried[] {
  const odds = trees.map(scoring);
  return held.flatMap(([lesson, fold]) => {
    const score = odds[fold];
    return score === undefined
      ? []
      : opinionsOf(lesson, score).map((opinion) => ({
          kind: lesson.kind,
          signals: opinion.signals,
          label: Number(isRight(opinion.candidate, lesson.truths[opinion.field])),
        }));
  });
}

const NO_LEVELS: Weights['levels'] = { chances: [0, 1], confidences: [0, 1] };

type Chanced = Omit<Tried, 'signals'> & { readonly chance: number };

function chances(
  tried: readonly Tried[],
  golds: ReadonlyMap<string, number>,
): Pick<Weights, 'chance' | 'levels'> & {
  readonly chanced: readonly Chanced[];
} {
  const chance = logisticFit(
    tried.map(({ signals }) => signals),
    tried.map(({ label }) => label),
    tried.map(() => 1),
  );
  const trees = { base: 0, roots: [], features: [], values: [], lefts: [] };
  const { chanceOf } = scorerOf({ features: FEATURES, trees, chance, levels: NO_LEVELS });
  const chanced = tried.map(({ signals, ...one }) => ({ ...one, chance: chanceOf(signals) }));
  return { chance, chanced, levels: levelsOf(chanced, golds) };
}

const FLOORS = Array.from({ length: 13 }, (_, i) => (20 + 2.5 * i) / 100);

/**
 * Confidences are chances from 0.65 on. What is given where nobody asks for more, so from 0.5 on, begins where the
 * mean F1 of the kinds is best.
 */
function levelsOf(chanced: readonly Chanced[], golds: ReadonlyMap<string, number>): Weights['levels'] {
  const f1From = (floor: number): number =>
    KINDS.reduce((sum, kind) => {
      const given = chanced.filter((one) => one.kind === kind && one.chance >= floor);
      const right = given.filter(({ label }) => label === 1).length;
      return sum + (2 * right) / Math.max(1, given.length + (golds.get(kind) ?? 0));
    }, 0);
  const best = FLOORS.reduce((one, other) => (f1From(other) > f1From(one) ? other : one));
  return { chances: [0, best, 0.65, 1], confidences: [0, 0.5, 0.65, 1] };
}

/** How many fields of each kind have a value. */
function goldsOf(held: Learning['held']): ReadonlyMap<string, number> {
  const golds = new Map<string, number>();
  for (const [{ kind, truths }] of held)
    golds.set(kind, (golds.get(kind) ?? 0) + truths.filter((truth) => truth !== null).length);
  return golds;
}

const LEVELS = [0.9, 0.8, 0.65, 0.5, 0.35, 0] as const;

/** How many chosen values of each chance are right, of kinds that were left out. */
const reliability = (chanced: readonly Chanced[]): readonly string[] =>
  LEVELS.map((from, i) => {
    const within = chanced.filter(({ chance }) => chance >= from && chance < (LEVELS[i - 1] ?? 2));
    return `| ${from} | ${within.filter(({ label }) => label === 1).length} of ${within.length} |`;
  });

/** What the weights are made of, for people. */
const cardOf = (rows: number, floor: number, right: readonly string[]): string =>
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
    'In three of ten documents the rules were misled on purpose: a quarter of their answers left out, a third put ' +
      'for another field of the same type. On kinds that nobody wrote rules for they are as wrong.',
    '',
    `Chosen values of generated kinds that the trees did not see (${FOLDS} folds by kind), by the chance that they ` +
      `were given. A chance of ${floor} is told as a confidence of 0.5: from there on their mean F1 is best. From ` +
      '0.65 on confidences are chances.',
    '',
    '| from | right |',
    '| --- | --- |',
    ...right,
    '',
    'How real documents are read stands in `docs/reference/benchmarks.md`, under `engine:eval`.',
    '',
  ].join('\n');

const rounded = (grown: Trees): Trees => ({
  ...grown,
  base: Number(grown.base.toPrecision(6)),
  values: grown.values.map((value) => Number(value.toPrecision(6))),
});

const { store, held } = learning(Number(options.documents), Number(options.seed));
const trees = [...Array.from({ length: FOLDS }, (_, fold) => fold), undefined].map((fold) => {
  const rows = store.without(fold);
  const grown = boosted(rows, boosting);
  console.error(`${rows.labels.length} rows of ${FEATURES.length} features: trees grown, ${seconds()}`);
  return grown;
});
const [all] = trees.slice(-1);
if (all === undefined) throw new Error('Nothing was learned.');
const tried = chances(triedOn(held, trees), goldsOf(held));
const { chance, levels } = tried;
const weights: Weights = { features: FEATURES, trees: rounded(all), chance, levels };
writeFileSync(options.out, `${JSON.stringify(weights)}\n`);
const right = reliability(tried.chanced);
writeFileSync(options.out.replace(/json$/, 'md'), cardOf(store.count, levels.chances[1] ?? 0, right));
if (options.folds !== '')
  writeFileSync(options.folds, `${JSON.stringify(trees.slice(0, FOLDS).map(rounded))}\n`);
console.error(`${right.join('\n')}\n${options.out} written, ${seconds()}`);
