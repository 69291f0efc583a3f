import { Counter, type Registry } from 'prom-client';

/** What sweepers settle: expired holds, open claims, unused uploads, results that are no longer kept. */
export type Swept = 'hold' | 'claim' | 'upload' | 'result' | 'hold_or_claim' | 'object';

export type CountSwept = (what: Swept, outcome: 'settled' | 'left', count: number) => void;

const SHOWN: readonly (readonly [Swept, 'settled' | 'left'])[] = [
  ['hold', 'settled'],
  ['claim', 'settled'],
  ['hold_or_claim', 'left'],
  ['upload', 'settled'],
  ['result', 'settled'],
  ['object', 'left'],
];

/** Counts what sweepers did, and what they had to leave for the next sweep. */
export const sweeperMetrics = (register: Registry): CountSwept => {
  const actions = new Counter({
    name: 'quire_sweeper_actions_total',
    help: 'Things that sweepers settled, or left for the next sweep because they could not.',
    labelNames: ['what', 'outcome'] as const,
    registers: [register],
  });
  for (const [what, outcome] of SHOWN) actions.inc({ what, outcome }, 0);
  return (what, outcome, count) => actions.inc({ what, outcome }, count);
};
