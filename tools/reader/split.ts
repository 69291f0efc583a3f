// How well stacks of documents are split: npm run engine:split -- [--fit] [--stacks 60] [--seed 1]
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { groupedBy } from '../../engine/kernel/lists.ts';
import { openDocumentWorkers } from '../../engine/isolation/documentWorkers.ts';
import { pageFactsOf } from '../../engine/sorting/pageFacts.ts';
import { seamFeatures } from '../../engine/sorting/seamFeatures.ts';
import { chanceOf, seamsOf, toldBy } from '../../engine/sorting/seams.ts';
import { boosted } from './boosting.ts';
import { remembered } from '../../engine/kernel/once.ts';
import { classRows } from './classes.ts';
import { Random } from './random.ts';
import {
  generatedSheaves,
  JUDGED_SETS,
  KINDS_OF_SETS,
  otherSheaves,
  sheavesOf,
  stacksOf,
  UNSEEN,
  type Sheaf,
  type Stack,
} from './stacks.ts';

const { values: options } = parseArgs({
  options: {
    fit: { type: 'boolean', default: false },
    stacks: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    generated: { type: 'string', default: '12' },
    /** Kinds that are judged, with commas between them; left out: all. */
    only: { type: 'string', default: '' },
    /** Classes alone. */
    classes: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});

const random = (what: string): Random => new Random(`${what} ${options.seed}`);
const workers = openDocumentWorkers({ processes: 1 });

/** Pages come again and again, in other stacks and with other numbers. */
const known = new Map<unknown, ReturnType<typeof pageFactsOf>>();
const factsOf = (page: Stack['pages'][number]) => ({
  ...remembered(known, page.lines, () => pageFactsOf(page)),
  page: page.page,
});

type Facts = ReturnType<typeof factsOf>;

/**
 * The same stack as it may come as well: numbers of pages cut off, pages of other sizes within a document and of one
 * size throughout. So no trait alone decides.
 */
const varied = (stack: Stack, luck: Random): readonly Facts[] => {
  const isUniform = luck.chance(0.4);
  let [isUnnumbered, isVaried] = [false, false];
  return stack.pages.map((page) => {
    if (page.page === 1 || stack.begins.has(page.page)) {
      isUnnumbered = luck.chance(0.35);
      isVaried = luck.chance(0.2);
    }
    const facts = factsOf(page);
    const size = isUniform
      ? { width: 595, height: 842, source: 'ocr' as const }
      : isVaried && luck.chance(0.5)
        ? { width: luck.int(500, 900), height: luck.int(500, 900) }
        : {};
    return { ...facts, ...size, ...(isUnnumbered && { mark: undefined }) };
  });
};

const seamsIn = ({ pages, begins }: Stack, facts: readonly Facts[] = pages.map(factsOf)) =>
  seamsOf(facts).map((seam) => ({
    seam,
    isBegin: [...begins].some((page) => page > seam.before.page && page <= seam.after.page),
  }));

function fitted(real: readonly Stack[], made: readonly Stack[]) {
  const luck = random('varied');
  const rows = [...real, ...made].flatMap((stack) =>
    [...seamsIn(stack), ...seamsIn(stack, varied(stack, luck))].map(({ seam, isBegin }) => ({
      features: seamFeatures(seam),
      isBegin,
      weight: made.includes(stack) ? 0.3 : 1,
    })),
  );
  const names = Object.keys(rows[0]?.features ?? {});
  const values = new Float32Array(rows.length * names.length);
  rows.forEach(({ features }, at) =>
    names.forEach((name, f) => {
      values[at * names.length + f] = features[name] ?? 0;
    }),
  );
  const labels = Uint8Array.from(rows, ({ isBegin }) => (isBegin ? 1 : 0));
  const weights = Float32Array.from(rows, ({ weight }) => weight);
  const begins = labels.reduce((a, b) => a + b, 0);
  console.log(`${String(rows.length)} seams, ${String(begins)} begins, ${String(names.length)} features`);
  const trees = boosted(
    { features: names.length, values, labels, weights },
    { trees: 120, leaves: 8, rate: 0.08, leafMin: 10, ridge: 10, rowShare: 0.6, featureShare: 0.4, seed: 1 },
  );
  return { names, trees };
}

interface JudgedSeam {
  readonly seam: Parameters<typeof chanceOf>[0];
  readonly chance: number;
  /** What the documents are, and what was read. */
  readonly isBegin: boolean;
  readonly isTaken: boolean;
}

const start = (line: { readonly text: string } | undefined, length: number) => line?.text.slice(0, length);

function tellFault(name: string, { seam, chance, isBegin }: JudgedSeam): void {
  const { before, after } = seam;
  console.log(
    name,
    isBegin ? 'missed' : 'wrong',
    chance.toFixed(2),
    toldBy(seam).slice(0, 5).join(' '),
    '|',
    before.page,
    start(before.first, 40),
    '|',
    start(before.last, 30),
    '||',
    start(after.first, 50),
    '|',
    start(after.last, 30),
  );
}

function counts(stacks: readonly Stack[], name: string) {
  const judged = stacks.flatMap((stack) =>
    seamsIn(stack).map(({ seam, isBegin }): JudgedSeam => {
      const chance = chanceOf(seam);
      return { seam, chance, isBegin, isTaken: chance >= 0.5 };
    }),
  );
  if (options.verbose) for (const one of judged) if (one.isTaken !== one.isBegin) tellFault(name, one);
  const tp = judged.filter(({ isTaken, isBegin }) => isTaken && isBegin).length;
  const fp = judged.filter(({ isTaken, isBegin }) => isTaken && !isBegin).length;
  const fn = judged.filter(({ isTaken, isBegin }) => !isTaken && isBegin).length;
  const F1 = (2 * tp) / Math.max(1, 2 * tp + fp + fn);
  return {
    set: name,
    stacks: stacks.length,
    parts: stacks.reduce((a, { sheaves }) => a + sheaves.length, 0),
    pages: stacks.reduce((a, { pages }) => a + pages.length, 0),
    P: (tp / Math.max(1, tp + fp)).toFixed(3),
    R: (tp / Math.max(1, tp + fn)).toFixed(3),
    F1: F1.toFixed(3),
  };
}

const count = Number(options.stacks);
if (options.fit) {
  const taught = [...(await sheavesOf(KINDS_OF_SETS, workers)), ...(await otherSheaves(workers, false))];
  const made = generatedSheaves(Number(options.generated), 900_000);
  console.log(taught.length, made.length);
  const weights = fitted(
    stacksOf(taught, count * 4, random('taught')),
    stacksOf(made, count * 2, random('made')),
  );
  writeFileSync('engine/sorting/seams.json', `${JSON.stringify(weights)}\n`);
} else {
  const only = options.only === '' ? undefined : options.only.split(',');
  const isJudged = (kind: string): boolean => only?.includes(kind) !== false;
  const sets = Object.fromEntries(Object.entries(JUDGED_SETS).filter(([, kind]) => isJudged(kind)));
  const other = isJudged('other') ? await otherSheaves(workers, true) : [];
  const all: readonly Sheaf[] = [...(await sheavesOf(sets, workers)), ...other];
  // A file of results is a stack itself: each page is a print of its own, and says that it is the first.
  const judged = all.filter(({ kind }) => kind !== 'swimming');
  const isScan = ({ pages }: Sheaf): boolean =>
    pages.some(({ source }) => source === 'ocr' || source === 'both');
  const unseen = judged.filter(({ kind }) => UNSEEN.has(kind));
  console.table(classRows(all, (kind) => UNSEEN.has(kind), random('examples')));
  if (!options.classes)
    console.table([
      counts(stacksOf(judged, count, random('judged')), 'all judged'),
      counts(
        stacksOf(
          judged.filter(({ kind }) => !UNSEEN.has(kind)),
          count,
          random('same'),
        ),
        'kinds of the weights, other documents',
      ),
      counts(stacksOf(unseen, count, random('unseen')), 'unseen kinds'),
      counts(stacksOf(unseen.filter(isScan), count, random('scans')), 'unseen kinds, scans'),
      ...[...groupedBy(judged, ({ kind }) => kind)]
        .filter(([, own]) => own.length > 3)
        .map(([kind, own]) =>
          counts(
            Array.from({ length: 8 }, () => own).flatMap((o) => stacksOf(o, 1, random(`only ${kind}`))),
            `only ${kind}`,
          ),
        ),
    ]);
}
await workers.close();
