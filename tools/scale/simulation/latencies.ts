/** Times that something took, ms. */
export interface Latencies {
  readonly add: (ms: number, count?: number) => void;
  readonly count: () => number;
  readonly mean: () => number;
  /** `share` 0 to 1; to 1 % of the value. 0 when nothing was added. */
  readonly at: (share: number) => number;
  readonly reset: () => void;
}

/** Buckets grow by 1 %, from a microsecond on. */
const GROWTH = Math.log(1.01);
const LEAST_MS = 0.001;

/** A histogram: its size does not grow with what is added. */
export const newLatencies = (): Latencies => {
  const buckets = new Map<number, number>();
  let [count, sum] = [0, 0];
  return {
    add: (ms, times = 1) => {
      const bucket = Math.max(0, Math.round(Math.log(Math.max(ms, LEAST_MS) / LEAST_MS) / GROWTH));
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + times);
      count += times;
      sum += ms * times;
    },
    count: () => count,
    mean: () => (count === 0 ? 0 : sum / count),
    at: (share) => {
      let left = share * count;
      for (const bucket of [...buckets.keys()].sort((a, b) => a - b)) {
        left -= buckets.get(bucket) ?? 0;
        if (left <= 0) return LEAST_MS * Math.exp(bucket * GROWTH);
      }
      return 0;
    },
    reset: () => {
      buckets.clear();
      [count, sum] = [0, 0];
    },
  };
};
