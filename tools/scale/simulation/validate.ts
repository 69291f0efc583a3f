import type { Coefficients } from './coefficients.ts';
import { runWriter } from '../measure/measureWriter.ts';
import { median, medianRun } from '../../../engine/test/bench/measure.ts';
import { simulate, type ServiceOutcome } from './simService.ts';

/** One closed load, really run and simulated. */
export interface Compared {
  readonly tenants: number;
  readonly inFlight: number;
  readonly measured: Side;
  /** Of the measured run's time, what its first thread waited for a processor. */
  readonly waitedShare: number;
  readonly simulated: Side;
}

interface Side {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const LOADS = [
  { tenants: 1, inFlight: 4 },
  { tenants: 1, inFlight: 16 },
  { tenants: 1, inFlight: 64 },
  { tenants: 1_000, inFlight: 16 },
  { tenants: 1_000, inFlight: 64 },
] as const;

/** The account writer alone on the embedded log, as `runWriter` runs the real ones. */
export const simulateWriter = (
  coefficients: Coefficients,
  { tenants, inFlight }: (typeof LOADS)[number],
): ServiceOutcome =>
  simulate(
    { coefficients, replicas: 1, sticky: true, log: { kind: 'embedded' }, httpMs: 0 },
    {
      arrivals: { inFlight },
      tenancy: { tenants, whaleShare: 0, skew: 0 },
      warmUpMs: 500,
      runMs: 8_000,
      seed: 1,
    },
  );

/**
 * None of these loads was measured for the coefficients, which come from 1 and 256 callers: it is a
 * prediction that is compared. Medians over the rounds.
 */
export const validate = async (
  coefficients: Coefficients,
  { folder, seconds, rounds }: { readonly folder: string; readonly seconds: number; readonly rounds: number },
): Promise<readonly Compared[]> => {
  const compared: Compared[] = [];
  for (const load of LOADS) {
    const runs = [];
    for (let round = 1; round <= rounds; round += 1)
      runs.push(await runWriter(folder, { ...load, seconds }, round));
    const { perSecond, p50Ms, p99Ms } = simulateWriter(coefficients, load);
    const waitedShare = median(runs.map((run) => run.waitedShare));
    compared.push({
      ...load,
      measured: medianRun(runs),
      waitedShare,
      simulated: { perSecond, p50Ms, p99Ms },
    });
  }
  return compared;
};
