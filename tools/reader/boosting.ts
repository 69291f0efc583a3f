import type { Trees } from '../../engine/reader/trees.ts';

export interface BoostingOptions {
  readonly trees: number;
  readonly leaves: number;
  readonly rate: number;
  /** Sum of second derivatives that a leaf has at least. */
  readonly leafMin: number;
  /** Added to the second derivatives of a leaf. */
  readonly ridge: number;
  /** Shares, 0..1, of rows and of features that each tree is grown from. */
  readonly rowShare: number;
  readonly featureShare: number;
  readonly seed: number;
}

/** Rows of features one after the other, with what each is and how much it counts. */
export interface Rows {
  readonly features: number;
  readonly values: Float32Array;
  readonly labels: Uint8Array;
  readonly weights: Float32Array;
}

const BINS = 64;

interface Binned {
  /** Of each feature, the bin of each row. */
  readonly bins: readonly Uint8Array[];
  /** Of each feature, the upper bounds of its bins but the last. */
  readonly bounds: readonly Float32Array[];
}

/** Bins of about equal size, by every so many rows. */
function binned({ features, values, labels: { length } }: Rows): Binned {
  const bins: Uint8Array[] = [];
  const bounds: Float32Array[] = [];
  const step = Math.max(1, Math.floor(length / 20_000));
  for (let f = 0; f < features; f += 1) {
    const seen: number[] = [];
    for (let i = 0; i < length; i += step) seen.push(values[i * features + f] ?? 0);
    const own = boundsOf(Float32Array.from(seen).sort());
    bounds.push(own);
    bins.push(Uint8Array.from({ length }, (_, i) => binOf(own, values[i * features + f] ?? 0)));
  }
  return { bins, bounds };
}

function boundsOf(sorted: Float32Array): Float32Array {
  const distinct = [...new Set(sorted)];
  if (distinct.length <= BINS)
    return Float32Array.from(distinct.slice(0, -1), (low, i) => (low + (distinct[i + 1] ?? low)) / 2);
  const cuts = new Set<number>();
  for (let k = 1; k < BINS; k += 1) cuts.add(sorted[Math.floor((k * sorted.length) / BINS)] ?? 0);
  return Float32Array.from([...cuts].sort((a, b) => a - b));
}

/** The first bin whose bound is not below the value. */
function binOf(bounds: Float32Array, value: number): number {
  let [low, high] = [0, bounds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value <= (bounds[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return low;
}

interface Leaf {
  readonly node: number;
  readonly rows: Int32Array;
  readonly sums: Float64Array;
  readonly best: Split | undefined;
}

interface Split {
  readonly gain: number;
  readonly feature: number;
  readonly bin: number;
}

interface Growing {
  readonly binned: Binned;
  readonly slopes: Float32Array;
  readonly bends: Float32Array;
  readonly options: BoostingOptions;
  /** The features that this tree may ask for. */
  readonly asked: readonly number[];
}

/** First and second derivatives of a leaf's rows, by feature and bin. */
function sumsOf(rows: Int32Array, { binned: { bins }, asked, slopes, bends }: Growing): Float64Array {
  const sums = new Float64Array(bins.length * BINS * 2);
  for (const feature of asked) {
    const own = bins[feature];
    if (own !== undefined)
      addUp(sums.subarray(feature * BINS * 2, (feature + 1) * BINS * 2), own, { rows, slopes, bends });
  }
  return sums;
}

function addUp(
  sums: Float64Array,
  bins: Uint8Array,
  { rows, slopes, bends }: Pick<Growing, 'slopes' | 'bends'> & { readonly rows: Int32Array },
): void {
  for (const row of rows) {
    const at = (bins[row] as number) * 2;
    sums[at] = (sums[at] as number) + (slopes[row] as number);
    sums[at + 1] = (sums[at + 1] as number) + (bends[row] as number);
  }
}

const scoreOf = (slope: number, bend: number, ridge: number): number => (slope * slope) / (bend + ridge);

type Totals = readonly [slope: number, bend: number];

function totalsOf(rows: Int32Array, { slopes, bends }: Growing): Totals {
  let [slope, bend] = [0, 0];
  for (const row of rows) {
    slope += slopes[row] ?? 0;
    bend += bends[row] ?? 0;
  }
  return [slope, bend];
}

function bestSplit(sums: Float64Array, totals: Totals, growing: Growing): Split | undefined {
  const {
    binned: { bounds },
    asked,
    options,
  } = growing;
  let best: Split | undefined;
  for (const feature of asked) {
    const bins = bounds[feature]?.length ?? 0;
    const split = splitOf(sums.subarray(feature * BINS * 2), { feature, bins, totals, options });
    if (split !== undefined && split.gain > (best?.gain ?? 1e-6)) best = split;
  }
  return best;
}

interface Feature {
  readonly feature: number;
  readonly bins: number;
  readonly totals: Totals;
  readonly options: BoostingOptions;
}

function splitOf(
  sums: Float64Array,
  { feature, bins, totals: [allSlope, allBend], options: { leafMin, ridge } }: Feature,
): Split | undefined {
  const whole = scoreOf(allSlope, allBend, ridge);
  let [slope, bend] = [0, 0];
  let best: Split | undefined;
  for (let bin = 0; bin < bins; bin += 1) {
    slope += sums[bin * 2] ?? 0;
    bend += sums[bin * 2 + 1] ?? 0;
    if (bend < leafMin || allBend - bend < leafMin) continue;
    const parts = scoreOf(slope, bend, ridge) + scoreOf(allSlope - slope, allBend - bend, ridge);
    if (parts - whole > (best?.gain ?? 0)) best = { gain: parts - whole, feature, bin };
  }
  return best;
}

interface Nodes {
  readonly roots: number[];
  readonly features: number[];
  readonly values: number[];
  readonly lefts: number[];
}

/** Grows one tree from some rows, leaf by leaf, the one that gains most first. */
function grow(growing: Growing, rows: Int32Array, nodes: Nodes): void {
  const { options, binned: all } = growing;
  const leafOf = (own: Int32Array, sums: Float64Array): Leaf => {
    const totals = totalsOf(own, growing);
    const value = (-options.rate * totals[0]) / (totals[1] + options.ridge);
    nodes.features.push(-1);
    nodes.values.push(Number(value.toPrecision(5)));
    return { node: nodes.lefts.push(0) - 1, rows: own, sums, best: bestSplit(sums, totals, growing) };
  };
  nodes.roots.push(nodes.features.length);
  const leaves = [leafOf(rows, sumsOf(rows, growing))];
  while (leaves.length < options.leaves) {
    const most = leaves.reduce((one, other) => (gainOf(other) > gainOf(one) ? other : one));
    if (most.best === undefined) break;
    const { feature, bin } = most.best;
    const bins = all.bins[feature] ?? new Uint8Array(0);
    const low = most.rows.filter((i) => (bins[i] ?? 0) <= bin);
    const high = most.rows.filter((i) => (bins[i] ?? 0) > bin);
    const small = sumsOf(low.length <= high.length ? low : high, growing);
    const large = most.sums.map((sum, i) => sum - (small[i] ?? 0));
    nodes.features[most.node] = feature;
    nodes.values[most.node] = all.bounds[feature]?.[bin] ?? 0;
    nodes.lefts[most.node] = nodes.features.length;
    const sums = low.length <= high.length ? [small, large] : [large, small];
    const [left = small, right = large] = sums;
    leaves.splice(leaves.indexOf(most), 1, leafOf(low, left), leafOf(high, right));
  }
}

const gainOf = ({ best }: Leaf): number => best?.gain ?? 0;

/** Adds what the last tree says of every row to its odds. */
function settle(
  { bins, bounds }: Binned,
  { roots, features, values, lefts }: Nodes,
  odds: Float32Array,
): void {
  const root = roots.at(-1) ?? 0;
  const cuts = features.map((feature, node) =>
    feature < 0 ? 0 : (bounds[feature]?.indexOf(Math.fround(values[node] ?? 0)) ?? 0),
  );
  const isLow = (row: number, node: number): boolean =>
    (bins[features[node] ?? 0]?.[row] ?? 0) <= (cuts[node] ?? 0);
  for (let row = 0; row < odds.length; row += 1) {
    let node = root;
    while ((features[node] ?? -1) >= 0) node = (lefts[node] ?? 0) + (isLow(row, node) ? 0 : 1);
    odds[row] = (odds[row] ?? 0) + (values[node] ?? 0);
  }
}

/** Numbers in 0..1 from a seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const some = (count: number, share: number, random: () => number): Int32Array =>
  Int32Array.from({ length: count }, (_, i) => i).filter(() => random() < share);

/**
 * Gradient boosting for yes or no, by histograms, each tree from some rows and features. Friedman, "Stochastic gradient
 * boosting" (2002); leaves are grown by their gain as LightGBM does. The same rows and seed give the same trees.
 */
export function boosted(rows: Rows, options: BoostingOptions): Trees {
  const { labels, weights, features } = rows;
  const all = binned(rows);
  const random = randomFrom(options.seed);
  const yes = labels.reduce((sum, label, i) => sum + label * (weights[i] ?? 0), 0);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const base = Math.log(yes / (total - yes));
  const odds = new Float32Array(labels.length).fill(base);
  const nodes: Nodes = { roots: [], features: [], values: [], lefts: [] };
  const [slopes, bends] = [new Float32Array(labels.length), new Float32Array(labels.length)];
  for (let tree = 0; tree < options.trees; tree += 1) {
    for (let i = 0; i < labels.length; i += 1) {
      const chance = 1 / (1 + Math.exp(-(odds[i] ?? 0)));
      slopes[i] = (weights[i] ?? 0) * (chance - (labels[i] ?? 0));
      bends[i] = (weights[i] ?? 0) * chance * (1 - chance);
    }
    const asked = [...some(features, options.featureShare, random)];
    const growing = { binned: all, slopes, bends, options, asked };
    grow(growing, some(labels.length, options.rowShare, random), nodes);
    settle(all, nodes, odds);
  }
  return { base, ...nodes };
}

const STEPS = 1500;
const RIDGE = 0.002;

interface Fit {
  readonly bias: number;
  readonly slopes: Float64Array;
}

/** One step down the slope of the mean loss. */
function stepped(
  { bias, slopes }: Fit,
  rows: readonly (readonly number[])[],
  { labels, shares }: { readonly labels: readonly number[]; readonly shares: readonly number[] },
): Fit {
  const next = slopes.map((slope) => slope * (1 - RIDGE));
  let moved = bias;
  for (const [i, row] of rows.entries()) {
    const sum = row.reduce((all, value, k) => all + (slopes[k] ?? 0) * value, bias);
    const off = (shares[i] ?? 0) * (1 / (1 + Math.exp(-sum)) - (labels[i] ?? 0));
    moved -= off;
    for (const [k, value] of row.entries()) next[k] = (next[k] ?? 0) - off * value;
  }
  return { bias: moved, slopes: next };
}

/** Weights of a logistic sum, on signals less their means; ridge keeps them small. */
export function logisticFit(
  signals: readonly (readonly number[])[],
  labels: readonly number[],
  weights: readonly number[],
): { readonly bias: number; readonly means: readonly number[]; readonly weights: readonly number[] } {
  const size = signals[0]?.length ?? 0;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const mean = (of: (row: readonly number[]) => number): number =>
    signals.reduce((sum, row, i) => sum + (weights[i] ?? 0) * of(row), 0) / total;
  const means = Array.from({ length: size }, (_, k) => mean((row) => row[k] ?? 0));
  const spreads = means.map((middle, k) => Math.sqrt(mean((row) => ((row[k] ?? 0) - middle) ** 2)) + 1e-6);
  const scaled = signals.map((row) => row.map((value, k) => (value - (means[k] ?? 0)) / (spreads[k] ?? 1)));
  const shares = weights.map((weight) => weight / total);
  let fit: Fit = { bias: 0, slopes: new Float64Array(size) };
  for (let step = 0; step < STEPS; step += 1) fit = stepped(fit, scaled, { labels, shares });
  const rounded = (value: number): number => Number(value.toPrecision(6));
  return {
    bias: rounded(fit.bias),
    means: means.map(rounded),
    weights: [...fit.slopes].map((weight, k) => rounded(weight / (spreads[k] ?? 1))),
  };
}
