import { Counter, type Registry } from 'prom-client';

/**
 * What sweepers settle: expired holds, open claims, unused uploads, uploads whose retention is over, results
 * that are no longer kept, model calls and usage events that an outage or a crash kept out of the log.
 */
export type Swept = (typeof SHOWN)[number][0];

export type CountSwept = (what: Swept, outcome: 'settled' | 'left', count: number) => void;

const SHOWN = [
  ['hold', 'settled'],
  ['claim', 'settled'],
  ['hold_or_claim', 'left'],
  ['upload', 'settled'],
  ['expired_upload', 'settled'],
  ['result', 'settled'],
  ['object', 'left'],
  ['model_call', 'settled'],
  ['usage_event', 'settled'],
  ['model_call_or_usage_event', 'left'],
] as const;

/** Counts what sweepers did, and what they had to leave for the next sweep. */
export const sweeperMetrics = (register: Registry): CountSwept => {
  const actions = new Counter({
    name: 'quire_sweeper_actions_total',
    help: 'Items that sweepers settled, or left for the next sweep because they failed.',
    labelNames: ['what', 'outcome'] as const,
    registers: [register],
  });
  for (const [what, outcome] of SHOWN) actions.inc({ what, outcome }, 0);
  return (what, outcome, count) => actions.inc({ what, outcome }, count);
};
