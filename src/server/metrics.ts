import { Counter, Histogram, type Registry } from 'prom-client';

interface Observation {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

export interface HttpMetrics {
  readonly observe: (observation: Observation) => void;
}

/** Forming labels costs more than counting: formed labels are kept, because there are few. */
const remembered = <Part>(parts: Map<string, Part>, name: string, make: () => Part): Part => {
  const known = parts.get(name);
  if (known !== undefined) return known;
  const made = make();
  parts.set(name, made);
  return made;
};

/** Counts and times requests by route. One call per registry. */
export const httpMetrics = (register: Registry): HttpMetrics => {
  const labelNames = ['method', 'route', 'status'] as const;
  const registers = [register];
  const count = new Counter({
    name: 'quire_http_requests_total',
    help: 'Requests answered, by route.',
    labelNames,
    registers,
  });
  const duration = new Histogram({
    name: 'quire_http_request_seconds',
    help: 'Time from the first byte of a request to the end of its answer.',
    labelNames: ['route'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  });
  const counts = new Map<string, Counter.Internal>();
  const durations = new Map<string, Histogram.Internal<'route'>>();
  return {
    observe: ({ method, route, status, seconds }) => {
      const name = `${method} ${route} ${String(status)}`;
      remembered(counts, name, () => count.labels({ method, route, status })).inc();
      remembered(durations, route, () => duration.labels({ route })).observe(seconds);
    },
  };
};

/** Requests that began before the shutdown, while they run. */
export interface RunningRequests {
  /** Called when a request begins; gives what to call when it has ended. */
  readonly begin: () => () => void;
  /** Resolves when those have ended that had begun; later ones are refused or probes, and not waited for. */
  readonly ended: () => Promise<void>;
}

const nothing = (): void => undefined;

export const runningRequests = (isDraining: () => boolean): RunningRequests => {
  let running = 0;
  let onIdle: (() => void) | undefined;
  const end = (): void => {
    running -= 1;
    if (running === 0) onIdle?.();
  };
  return {
    begin: () => {
      if (isDraining()) return nothing;
      running += 1;
      return end;
    },
    ended: () =>
      running === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            onIdle = resolve;
          }),
  };
};
