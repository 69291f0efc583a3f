import { seededRandom } from '../../../engine/test/support/random.ts';

/** Random quantities of a simulation, all from one seed. */
export interface Draws {
  /** 0 ≤ x < 1. */
  readonly uniform: () => number;
  readonly exponential: (mean: number) => number;
  /** `sigma` 0 gives the median always. */
  readonly lognormal: (median: number, sigma: number) => number;
  /** One of the values that were measured, all alike likely. */
  readonly sample: (values: readonly number[]) => number;
}

export const drawsOf = (seed: number): Draws => {
  const { next } = seededRandom(seed);
  const positive = () => 1 - next();
  const normal = () => Math.sqrt(-2 * Math.log(positive())) * Math.cos(2 * Math.PI * next());
  return {
    uniform: next,
    exponential: (mean) => -mean * Math.log(positive()),
    lognormal: (median, sigma) => (sigma === 0 ? median : median * Math.exp(sigma * normal())),
    sample: (values) => values[Math.floor(next() * values.length)] ?? 0,
  };
};

/** How the load is spread over tenants. */
export interface Tenancy {
  readonly tenants: number;
  /** Share of all requests that tenant 0 makes; the others share the rest. */
  readonly whaleShare: number;
  /** The n-th of the others asks n^-skew as often as the first: 0 is even, 1 is a heavy tail. */
  readonly skew: number;
}

/** Picks the tenant of a request. */
export const tenantPicker = ({ tenants, whaleShare, skew }: Tenancy, { uniform }: Draws): (() => number) => {
  const sums = new Float64Array(Math.max(0, tenants - 1));
  let total = 0;
  for (let n = 0; n < sums.length; n += 1) {
    total += (n + 1) ** -skew;
    sums[n] = total;
  }
  if (sums.length === 0) return () => 0;
  return () => {
    if (uniform() < whaleShare) return 0;
    const wanted = uniform() * total;
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle]! > wanted) high = middle;
      else low = middle + 1;
    }
    return low + 1;
  };
};

/** Load at an hour of the day ÷ the day's average: quietest at 3, busiest at 15, `swing` 0 to 1. */
export const dayShape = (hour: number, swing: number): number =>
  1 - swing * Math.cos(((hour - 3) / 12) * Math.PI);

/** What a Poisson stream of requests needs to know. */
export interface ArrivalShape {
  readonly perSecond: number;
  /** Of `dayShape`; 0: the same rate all the time. */
  readonly swing: number;
  /** Simulated milliseconds that stand for one day. */
  readonly dayMs: number;
}

/** Milliseconds to the next arrival: a Poisson stream whose rate follows the day, by thinning. */
export const gapMs = ({ perSecond, swing, dayMs }: ArrivalShape, now: number, draws: Draws): number => {
  const peak = perSecond * (1 + swing);
  for (let at = now; ;) {
    at += draws.exponential(1000 / peak);
    const hour = ((at / dayMs) * 24) % 24;
    if (swing === 0 || draws.uniform() * peak <= perSecond * dayShape(hour, swing)) return at - now;
  }
};
