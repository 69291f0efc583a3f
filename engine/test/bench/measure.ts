/** One timed run of one contestant. */
export interface Run {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly done: number;
  /** CPU milliseconds a unit of work, of all processes that did it; missing where it cannot be told. */
  readonly cpuMs?: number;
}

/** How many callers ask at a time, and for how long; with `units`, no more often than that in all. */
export interface ClosedLoop {
  readonly inFlight: number;
  readonly seconds: number;
  readonly units?: number;
}

/** A closed loop: `inFlight` callers, each asking again as soon as it is answered. */
export const closedLoop = async (
  { inFlight, seconds, units = Infinity }: ClosedLoop,
  once: (caller: number, turn: number) => Promise<void>,
): Promise<Run> => {
  const latencies: number[] = [];
  const startedAt = performance.now();
  const stopAt = startedAt + seconds * 1000;
  let asked = 0;
  const caller = async (id: number) => {
    for (let turn = 0; performance.now() < stopAt && asked < units; turn += 1) {
      asked += 1;
      const askedAt = performance.now();
      await once(id, turn);
      latencies.push(performance.now() - askedAt);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_, id) => caller(id)));
  const elapsed = (performance.now() - startedAt) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? 0;
  return {
    perSecond: latencies.length / elapsed,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    done: latencies.length,
  };
};

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
};

/** The median of each figure on its own. */
export const medianRun = (runs: readonly Run[]): Run => {
  const cpu = runs.flatMap(({ cpuMs }) => cpuMs ?? []);
  return {
    ...(cpu.length > 0 && { cpuMs: median(cpu) }),
    perSecond: median(runs.map(({ perSecond }) => perSecond)),
    p50Ms: median(runs.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(runs.map(({ p99Ms }) => p99Ms)),
    done: median(runs.map(({ done }) => done)),
  };
};
