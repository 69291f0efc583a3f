import { newAgenda, type Agenda } from './agenda.ts';
import type { Coefficients } from './coefficients.ts';
import { drawsOf, gapMs, tenantPicker, type ArrivalShape, type Draws, type Tenancy } from './draws.ts';
import { newLatencies } from './latencies.ts';
import { newSimLog, type LogSetup } from './simLogs.ts';
import { newSimProjection, shardOf, type ProjectionSetup } from './simProjection.ts';
import { newSimWriter, threadWork, type SimWriter, type SimWriterLimits, type Work } from './simWriter.ts';
import { newStation, type Station, type StationReport } from './station.ts';

/** The service that is simulated. */
export interface ServiceSetup {
  readonly coefficients: Coefficients;
  /** Each is one process, so one processor for requests, with a writer of its own. */
  readonly replicas: number;
  /** True: a tenant's requests go to one replica. False: to any. */
  readonly sticky: boolean;
  readonly log: LogSetup;
  readonly projection?: ProjectionSetup;
  /** Processors that read pages; a document holds, is read, and settles. */
  readonly pages?: { readonly workers: number; readonly share: number; readonly msPerPage: number };
  /** Processor time of a request beside its command; 0: callers are in the process. */
  readonly httpMs: number;
  readonly limits?: Partial<SimWriterLimits>;
}

/** What is asked of it, and for how long. */
export interface ServiceLoad {
  readonly arrivals: ArrivalShape | { readonly inFlight: number };
  readonly tenancy: Tenancy;
  readonly warmUpMs: number;
  readonly runMs: number;
  readonly seed: number;
}

/** What came of it, after the time of warming up. */
export interface ServiceOutcome {
  readonly arrived: number;
  readonly answered: number;
  /** Not answered when time was up, and when counting began. */
  readonly inside: number;
  readonly insideAtStart: number;
  readonly perSecond: number;
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Requests inside, averaged over time. */
  readonly meanInside: number;
  readonly lagP50Ms: number;
  readonly lagP99Ms: number;
  readonly eventsNotProjected: number;
  readonly appends: number;
  readonly commandsPerAppend: number;
  readonly conflictShare: number;
  readonly contended: number;
  readonly coldLoads: number;
  readonly stations: Readonly<Record<string, StationReport>>;
  /** The station that is busiest, and how busy it is. */
  readonly bottleneck: string;
  readonly utilisation: number;
}

/** As `src/writer/streamWriter.ts`; `coldMs` 0: every account fits into memory. */
const LIMITS: SimWriterLimits = {
  batchMax: 256,
  attemptsMax: 12,
  warmMax: 10_000,
  coldMs: 0,
  backOffMs: { base: 2, cap: 250 },
};

/** Pages of a document: most have few, some have many (geometric, 4 on average, 100 at most). */
const PAGES_MEAN = 4;
const PAGES_MAX = 100;
const pagesOf = (draws: Draws): number =>
  Math.min(PAGES_MAX, 1 + Math.floor(Math.log(1 - draws.uniform()) / Math.log(1 - 1 / PAGES_MEAN)));

/** A request has most of its work before its command: reading, checking, deciding what to do. */
const BEFORE = 0.6;

interface Replica {
  readonly core: Station;
  readonly work: Work;
  readonly writer: SimWriter;
}

interface Parts {
  readonly agenda: Agenda;
  readonly draws: Draws;
  readonly replicas: readonly Replica[];
  readonly workers: Station | undefined;
  readonly stations: Readonly<Record<string, Station>>;
  readonly projection: ReturnType<typeof newSimProjection> | undefined;
}

const partsOf = (setup: ServiceSetup, seed: number): Parts => {
  const { coefficients } = setup;
  const agenda = newAgenda();
  const draws = drawsOf(seed);
  const projection = setup.projection && newSimProjection(agenda, setup.projection, coefficients.projector);
  const onCommit = (tenant: number, events: number) => projection?.arrive(tenant, events);
  const onAnswer = (then: () => void) => {
    const { core, work } = replicas[0]!;
    core.visit(work(coefficients.writer.group_ms), then);
  };
  const log = newSimLog({ agenda, draws, commit: coefficients.commit, onCommit, onAnswer }, setup.log);
  const limits = { ...LIMITS, ...setup.limits };
  const replicas: readonly Replica[] = Array.from({ length: setup.replicas }, () => {
    const core = newStation(agenda, 1);
    const work = threadWork(coefficients.writer, draws);
    const writer = newSimWriter({ agenda, draws, log, core, work, costs: coefficients.writer, limits });
    return { core, work, writer };
  });
  const workers = setup.pages && newStation(agenda, setup.pages.workers);
  const stations = {
    ...Object.fromEntries(replicas.map(({ core }, at) => [`replica ${at + 1}`, core])),
    log: log.station,
    ...(workers && { workers }),
    ...projection?.stations,
  };
  return { agenda, draws, replicas, workers, stations, projection };
};

/** One request, from its arrival to its answer. */
const requester = (setup: ServiceSetup, { draws, replicas, workers }: Parts) => {
  const { httpMs, pages, sticky } = setup;
  return (tenant: number, done: () => void) => {
    const at = sticky ? shardOf(tenant, replicas.length) : Math.floor(draws.uniform() * replicas.length);
    const { core, work, writer } = replicas[at]!;
    const spend = (ms: number, then: () => void) => (httpMs === 0 ? then() : core.visit(work(ms), then));
    const answer = () => spend(httpMs * (1 - BEFORE), done);
    const isDocument = pages !== undefined && draws.uniform() < pages.share;
    spend(httpMs * BEFORE, () =>
      writer.execute(tenant, () => {
        if (!isDocument) answer();
        else workers!.visit(pages.msPerPage * pagesOf(draws), () => writer.execute(tenant, answer));
      }),
    );
  };
};

/** Sum of requests inside × time, for the average. */
const population = ({ now }: Agenda) => {
  let [inside, sum, changedAt, since, atStart] = [0, 0, 0, 0, 0];
  const account = () => {
    sum += inside * (now() - changedAt);
    changedAt = now();
  };
  return {
    change: (by: number) => {
      account();
      inside += by;
    },
    reset: () => {
      account();
      [sum, since, atStart] = [0, now(), inside];
    },
    report: () => {
      account();
      return { inside, insideAtStart: atStart, meanInside: sum / (now() - since) };
    },
  };
};

/** Runs the service under the load. The same seed gives the same outcome. */
export const simulate = (setup: ServiceSetup, load: ServiceLoad): ServiceOutcome => {
  const parts = partsOf(setup, load.seed);
  const { agenda, draws, replicas, stations, projection } = parts;
  const request = requester(setup, parts);
  const tenant = tenantPicker(load.tenancy, draws);
  const latencies = newLatencies();
  const inside = population(agenda);
  const counts = { arrived: 0, answered: 0 };

  const ask = (then: () => void) => {
    const askedAt = agenda.now();
    counts.arrived += 1;
    inside.change(1);
    request(tenant(), () => {
      counts.answered += 1;
      inside.change(-1);
      latencies.add(agenda.now() - askedAt);
      then();
    });
  };
  const again = () => ask(() => agenda.after(0, again));
  const { arrivals } = load;
  const arrive = () => {
    if ('inFlight' in arrivals) return;
    ask(() => undefined);
    agenda.after(gapMs(arrivals, agenda.now(), draws), arrive);
  };
  if ('inFlight' in arrivals) for (let n = 0; n < arrivals.inFlight; n += 1) agenda.after(0, again);
  else agenda.after(gapMs(arrivals, 0, draws), arrive);

  agenda.runUntil(load.warmUpMs);
  for (const station of Object.values(stations)) station.reset();
  for (const { writer } of replicas) writer.reset();
  latencies.reset();
  projection?.lag.reset();
  inside.reset();
  [counts.arrived, counts.answered] = [0, 0];
  agenda.runUntil(load.warmUpMs + load.runMs);

  return {
    ...counts,
    ...inside.report(),
    perSecond: (counts.answered / load.runMs) * 1000,
    meanMs: latencies.mean(),
    p50Ms: latencies.at(0.5),
    p99Ms: latencies.at(0.99),
    ...written(replicas),
    ...projected(projection),
    ...busiest(stations),
  };
};

const written = (replicas: readonly Replica[]) => {
  const reports = replicas.map(({ writer }) => writer.report());
  const sum = (of: (report: ReturnType<SimWriter['report']>) => number) =>
    reports.reduce((total, report) => total + of(report), 0);
  const appends = sum((report) => report.appends);
  const conflicts = sum((report) => report.conflicts);
  return {
    appends,
    commandsPerAppend: appends === conflicts ? 0 : sum(({ commands }) => commands) / (appends - conflicts),
    conflictShare: appends === 0 ? 0 : conflicts / appends,
    contended: sum(({ contended }) => contended),
    coldLoads: sum(({ coldLoads }) => coldLoads),
  };
};

const projected = (projection: Parts['projection']) => ({
  lagP50Ms: projection?.lag.at(0.5) ?? 0,
  lagP99Ms: projection?.lag.at(0.99) ?? 0,
  eventsNotProjected: projection?.waiting() ?? 0,
});

const busiest = (parts: Parts['stations']) => {
  const stations = Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, part.report()]));
  let [bottleneck, utilisation] = ['', -1];
  for (const [name, report] of Object.entries(stations))
    if (report.utilisation > utilisation) [bottleneck, utilisation] = [name, report.utilisation];
  return { stations, bottleneck, utilisation };
};
