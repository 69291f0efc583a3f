import type { Api } from '@quire/client';
import { budgets as texts } from '../texts/budgets.ts';

export type Budget = Awaited<ReturnType<Api['listBudgets']>>['budgets'][number];

/** Credits of a budget and what counts against them. */
type Counted = Pick<Budget, 'limit_credits' | 'used_credits' | 'held_credits'>;

/** The part of the limit that is used and held; a limit of 0 is used up. */
export const shareOf = ({ limit_credits, used_credits, held_credits }: Counted): number =>
  limit_credits === 0 ? 1 : (used_credits + held_credits) / limit_credits;

/** From this part of the limit on a budget is nearly used up. */
const NEAR = 0.8;

export type Nearness = keyof typeof texts.states;

/** How near to its limit a budget is. */
export const nearnessOf = (budget: Counted): Nearness => {
  const share = shareOf(budget);
  if (share >= 1) return 'full';
  return share >= NEAR ? 'near' : 'within';
};

/** Budgets in the order of the parts that are used and held, the largest first; equal ones by name. */
export const nearestFirst = (budgets: readonly Budget[]): readonly Budget[] =>
  budgets.toSorted((a, b) => shareOf(b) - shareOf(a) || (a.name ?? '').localeCompare(b.name ?? '', 'en'));

/** The part of the limit in whole percent, rounded down: 100 % is said of a limit that is reached, and of no other. */
export const wholePercent = ({ limit_credits, used_credits, held_credits }: Counted): string => {
  if (limit_credits === 0) return '100 %';
  const percent = (BigInt(used_credits + held_credits) * 100n) / BigInt(limit_credits);
  return `${percent.toLocaleString('en')} %`;
};

/** The names of keys by their IDs, as far as they are known. */
export type KeyNames = ReadonlyMap<string, string>;

/** What a budget limits, in words. */
export const scopeWords = ({ scope }: Pick<Budget, 'scope'>, keys: KeyNames): string => {
  const { key_id, project_id, task_id, tag } = scope;
  const { scopes } = texts;
  if (key_id !== undefined) return scopes.key(keys.get(key_id) ?? key_id);
  if (project_id !== undefined) return scopes.project(project_id);
  if (task_id !== undefined) return scopes.task(task_id);
  return tag === undefined ? scopes.whole : scopes.tag(tag.name, tag.value);
};

const LEVELS_MAX = 20;
const LEVEL = /^\d{1,4}(?:\.\d)?$/;

/** "50, 80, 100" percent as parts of a limit; undefined: it is no list that a budget may have. */
export const levelsIn = (text: string): readonly number[] | undefined => {
  const parts = text.split(/[\s,;%]+/).filter((part) => part !== '');
  const tenths = parts.map((part) => (LEVEL.test(part) ? Math.round(Number(part) * 10) : 0));
  const isRight = tenths.every((one) => one >= 1 && one <= 10_000) && tenths.length <= LEVELS_MAX;
  return isRight ? [...new Set(tenths)].sort((a, b) => a - b).map((one) => one / 1_000) : undefined;
};

/** Parts of a limit as percent to type over. */
export const levelsText = (levels: readonly number[]): string =>
  levels.map((level) => String(Math.round(level * 1_000) / 10)).join(', ');
