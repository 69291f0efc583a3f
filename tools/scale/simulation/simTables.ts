import { RUNNER_TUNING } from '../../../projections/engine/arrivals.ts';
import type { Coefficients } from './coefficients.ts';
import {
  dayOf,
  documentsAt,
  httpMsOf,
  kneeOf,
  projectAt,
  projectionKnee,
  replicasOn,
  runAt,
  tenancyOf,
} from './scenarios.ts';
import type { ServiceOutcome, ServiceSetup } from './simService.ts';
import { ms, number, percent, table } from '../tables.ts';
import type { Compared } from './validate.ts';

const used = ({ stations }: ServiceOutcome, name: string): string => {
  const all = Object.entries(stations).filter(([station]) => station.startsWith(name));
  return all.length === 0 ? '' : percent(Math.max(...all.map(([, { utilisation }]) => utilisation)));
};

/** One process on the embedded log, its projector beside it on PostgreSQL: what happens as the rate rises. */
export const oneMachineTable = (coefficients: Coefficients): string => {
  const setup: ServiceSetup = {
    ...{ coefficients, replicas: 1, sticky: true, log: { kind: 'embedded' }, httpMs: httpMsOf(coefficients) },
    projection: { shards: 1, databaseCores: 1, ...RUNNER_TUNING, syncMs: 1 },
  };
  const tenancy = tenancyOf(1_000, 0.2);
  const knee = kneeOf(setup, tenancy).perSecond;
  return table(
    ['burns/s', 'p50', 'p99', 'replica', 'log', 'projector', 'database', 'lag p50', 'lag p99'],
    [0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.1].map((share) => {
      const outcome = runAt(setup, tenancy, knee * share);
      const { p50Ms, p99Ms, lagP50Ms, lagP99Ms } = outcome;
      return [
        `${number(knee * share)} (${percent(share)} of the knee)`,
        ...[ms(p50Ms), ms(p99Ms), used(outcome, 'replica'), used(outcome, 'log')],
        ...[used(outcome, 'projector'), used(outcome, 'database'), ms(lagP50Ms), ms(lagP99Ms)],
      ];
    }),
  );
};

/** The knee by replicas and by the share of the biggest tenant, who sticks to one of them. */
export const kneeTable = (coefficients: Coefficients): string => {
  const shares = [0, 0.2, 0.5, 0.9];
  return table(
    ['replicas', ...shares.map((share) => `biggest tenant ${percent(share)}`), 'first full'],
    [1, 2, 4, 8, 16].map((replicas) => {
      const setup = replicasOn(coefficients, { replicas, sticky: true });
      const knees = shares.map((share) => kneeOf(setup, tenancyOf(10_000, share)));
      const names = new Set(knees.map(({ bottleneck }) => bottleneck.replace(/ \d+/, '')));
      return [
        String(replicas),
        ...knees.map(({ perSecond, p99Ms }) => `${number(perSecond)}/s, p99 ${ms(p99Ms)}`),
        [...names].join(', '),
      ];
    }),
  );
};

/** The same load on four replicas, with tenants that stick and with requests that go anywhere. */
export const stickyTable = (coefficients: Coefficients): string => {
  const knee = kneeOf(
    replicasOn(coefficients, { replicas: 4, sticky: true }),
    tenancyOf(10_000, 0),
  ).perSecond;
  const cell = ({ p50Ms, p99Ms, conflictShare, contended, arrived }: ServiceOutcome) => [
    ms(p50Ms),
    ms(p99Ms),
    percent(conflictShare),
    number((contended / Math.max(1, arrived)) * 1e6),
  ];
  const rows = (
    [
      [10_000, 0],
      [10_000, 0.05],
      [10_000, 0.2],
      [10, 0],
      [1, 0],
    ] as const
  ).flatMap(([tenants, share]) =>
    [0.05, 0.3].map((part) => {
      const tenancy = tenancyOf(tenants, share);
      const at = (sticky: boolean) =>
        runAt(replicasOn(coefficients, { replicas: 4, sticky }), tenancy, knee * part);
      const [sticky, loose] = [at(true), at(false)];
      return [
        number(tenants),
        percent(share),
        number(knee * part),
        ms(sticky.p50Ms),
        ms(sticky.p99Ms),
        ...cell(loose),
      ];
    }),
  );
  return table(
    [
      'tenants',
      'biggest',
      'burns/s',
      'sticky p50',
      'sticky p99',
      'loose p50',
      'loose p99',
      'appends that conflict',
      '`contended` of a million',
    ],
    rows,
  );
};

/** More active tenants than a replica keeps: how often an account must be brought in. */
export const coldShareTable = (coefficients: Coefficients): string => {
  const limits = { coldMs: coefficients.cold_load[0]?.from_snapshot_ms ?? 1, warmMax: 1_000 };
  const at = (tenants: number, sticky: boolean) => {
    const setup = replicasOn(coefficients, { replicas: 4, sticky, limits });
    const outcome = runAt(setup, { tenants, whaleShare: 0, skew: 0.8 }, 200);
    return [percent(outcome.coldLoads / outcome.arrived), ms(outcome.p99Ms)];
  };
  return table(
    [
      'active tenants ÷ accounts kept by a replica',
      'sticky: loads a request',
      'p99',
      'loose: loads a request',
      'p99',
    ],
    [1_000, 4_000, 10_000].map((tenants) => [
      number(tenants / 1_000),
      ...at(tenants, true),
      ...at(tenants, false),
    ]),
  );
};

/** Lag of the read models as one projector fills up. */
export const lagTable = (coefficients: Coefficients): string => {
  const load = { shards: 1, databaseCores: 2, tenancy: tenancyOf(10_000, 0.2) };
  const knee = projectionKnee(coefficients, load).perSecond;
  return table(
    ['events/s', 'lag p50', 'lag p99', 'projector', 'database'],
    [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.1].map((share) => {
      const { perSecond, lagP50Ms, lagP99Ms, projector, database } = projectAt(
        coefficients,
        load,
        knee * share,
      );
      return [number(perSecond), ms(lagP50Ms), ms(lagP99Ms), percent(projector), percent(database)];
    }),
  );
};

/** What shards by tenant would carry, if the code had them. */
export const shardTable = (coefficients: Coefficients): string =>
  table(
    ['shards', '2 database cores', '8 database cores', '8, biggest tenant 20 %', '8, biggest tenant 50 %'],
    [1, 2, 4, 8].map((shards) => {
      const cell = (databaseCores: number, whaleShare: number) => {
        const tenancy = tenancyOf(10_000, whaleShare);
        const { perSecond, lagP99Ms } = projectionKnee(coefficients, { shards, databaseCores, tenancy });
        return `${number(perSecond)}/s, p99 ${ms(lagP99Ms)}`;
      };
      return [String(shards), cell(2, 0), cell(8, 0), cell(8, 0.2), cell(8, 0.5)];
    }),
  );

/** Time of a document by how full the workers are. */
export const documentTable = (coefficients: Coefficients): string => {
  const { text_ms, scan_ms } = coefficients.pages;
  return table(
    ['workers (cores)', 'pages', 'at most', '50 % full: p50, p99', '80 %', '95 %'],
    (
      [
        [2, 'text', text_ms],
        [8, 'text', text_ms],
        [2, 'scan', scan_ms],
        [8, 'scan', scan_ms],
        [32, 'scan', scan_ms],
      ] as const
    ).map(([workers, kind, msPerPage]) => [
      String(workers),
      kind,
      `${number((workers * 1000) / msPerPage, kind === 'text' ? 0 : 1)} pages/s`,
      ...[0.5, 0.8, 0.95].map((share) => {
        const { p50Ms, p99Ms } = documentsAt(coefficients, { workers, msPerPage, share });
        return `${number(p50Ms / 1000, 2)}, ${number(p99Ms / 1000, 2)} s`;
      }),
    ]),
  );
};

/** A steady rate beside a day that has a busiest hour. */
export const dayTable = (coefficients: Coefficients): string => {
  const setup = replicasOn(coefficients, { replicas: 4, sticky: true });
  const tenancy = tenancyOf(10_000, 0.1);
  const knee = kneeOf(setup, tenancy).perSecond;
  return table(
    ['average rate ÷ knee', 'steady: p99', 'over the day: p99', 'not answered at its end'],
    [0.3, 0.5, 0.6, 0.7].map((share) => {
      const day = dayOf(setup, tenancy, knee * share);
      return [
        percent(share),
        ms(runAt(setup, tenancy, knee * share).p99Ms),
        ms(day.p99Ms),
        number(day.inside),
      ];
    }),
  );
};

export const validationTable = (compared: readonly Compared[]): string =>
  table(
    [
      'tenants',
      'in flight',
      'measured burns/s',
      'simulated',
      'ratio',
      'of the measured run, waiting for a processor',
      'measured p50, p99',
      'simulated p50, p99',
      'ratio of p99',
    ],
    compared.map(({ tenants, inFlight, measured, simulated, waitedShare }) => [
      number(tenants),
      String(inFlight),
      number(measured.perSecond),
      number(simulated.perSecond),
      (simulated.perSecond / measured.perSecond).toFixed(2),
      percent(waitedShare),
      `${ms(measured.p50Ms)}, ${ms(measured.p99Ms)}`,
      `${ms(simulated.p50Ms)}, ${ms(simulated.p99Ms)}`,
      (simulated.p99Ms / measured.p99Ms).toFixed(2),
    ]),
  );
