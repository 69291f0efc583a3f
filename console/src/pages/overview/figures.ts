import type { Api } from '@quire/client';

export type Day = Awaited<ReturnType<Api['getUsageDays']>>['items'][number];
type Outcomes = Awaited<ReturnType<Api['getOutcomes']>>;

const DAY_MS = 86_400_000;

/** A UTC day so many days from a time, `YYYY-MM-DD`. */
export const dayAt = (now: number, days = 0): string =>
  new Date(now + days * DAY_MS).toISOString().slice(0, 10);

/** Credits that were spent on days. */
export const spentOn = (days: readonly Day[]): number =>
  days.reduce((sum, { used_credits }) => sum + used_credits, 0);

/** The share, in percent, of what ended and gave something; undefined where nothing ended. */
export const successOf = ({ succeeded, partial, failed }: Outcomes): number | undefined => {
  const ended = succeeded + partial + failed;
  return ended === 0 ? undefined : ((succeeded + partial) / ended) * 100;
};

/** 0.8 s, 12 s, 3 min. */
export const timeOf = (ms: number): string => {
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms < 120_000 ? `${String(Math.round(ms / 1_000))} s` : `${String(Math.round(ms / 60_000))} min`;
};

/** A share as people read it; 100 % only where nothing is missing. */
export const percentOf = (share: number): string => {
  const text = share > 99.9 && share < 100 ? '99.9' : share.toFixed(1);
  return `${text.replace(/\.0$/, '')} %`;
};
