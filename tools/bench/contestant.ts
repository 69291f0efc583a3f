import type { Run } from '../../engine/test/bench/measure.ts';

/** What one run does: so many tenants, so many callers at a time. */
export interface Load {
  readonly tenants: number;
  readonly inFlight: number;
  readonly seconds: number;
  readonly seed: number;
}

/** Credits that every tenant starts with. */
export const START_CREDITS = 1_000_000_000;

/** One way to burn credits durably. A run throws when its books do not balance afterwards. */
export interface Contestant {
  readonly name: string;
  readonly run: (load: Load) => Promise<Run & { readonly note?: string }>;
}
