import { chance, fraction } from './chance.ts';

/** How a document is read, as its price tells apart. */
export type Mode = 'standard' | 'fast';
/** Whose key models are asked with. */
export type Billing = 'full_service' | 'byok';
export type PlanName = 'free' | 'paid' | 'enterprise';

/** Credits a page. */
interface ModePrices {
  readonly full_service: number;
  readonly byok: number;
}

/** What is published before anybody asks for anything. */
export interface Terms {
  /** Pages that each tenant has for nothing. */
  readonly freePages: number;
  readonly standard: ModePrices;
  readonly fast: ModePrices;
}

/** An account as it is before anybody asks for anything. */
export interface Tenant {
  readonly id: string;
  readonly plan: PlanName;
  /** Credits. */
  readonly balance: number;
}

/** What an operator changes. */
export type Change =
  | {
      readonly kind: 'rate';
      readonly mode: Mode;
      readonly billing: Billing;
      readonly credits: number;
      /** Of work that may wait. */
      readonly waits?: boolean;
    }
  | { readonly kind: 'free pages'; readonly pages: number }
  | { readonly kind: 'training'; readonly base: number; readonly example: number; readonly call: number }
  | { readonly kind: 'plan'; readonly tenant: string; readonly plan: PlanName }
  /** The most of a tenant, or of all its work but none of another project, from now on. */
  | {
      readonly kind: 'budget';
      readonly id: string;
      readonly tenant: string;
      readonly period: 'day' | 'week' | 'total';
      readonly zone: string;
      readonly project: 'p' | undefined;
      readonly credits: number;
    }
  | { readonly kind: 'budget gone'; readonly id: string; readonly tenant: string }
  /** USD for 1,000 credits. */
  | { readonly kind: 'price list'; readonly usd: string };

export const PLAIN_TERMS: Terms = {
  freePages: 0,
  standard: { full_service: 40, byok: 5 },
  fast: { full_service: 10, byok: 2 },
};

const ODD: readonly Terms[] = [
  PLAIN_TERMS,
  { freePages: 0, standard: { full_service: 37, byok: 3 }, fast: { full_service: 11, byok: 1 } },
  { freePages: 0, standard: { full_service: 101, byok: 13 }, fast: { full_service: 7, byok: 5 } },
  // Own keys may be dearer than no key at all, and some work may cost nothing.
  { freePages: 0, standard: { full_service: 19, byok: 23 }, fast: { full_service: 0, byok: 2 } },
];

/** Prices of a world by its seed: 0 to 3 free pages, odd rates. */
export const termsOf = (seed: number): Terms => ({
  ...ODD[chance(seed, 'rates') % ODD.length]!,
  freePages: chance(seed, 'free pages') % 4,
});

export const MODES: readonly Mode[] = ['standard', 'fast'];
export const BILLINGS: readonly Billing[] = ['full_service', 'byok'];
const PLANS: readonly PlanName[] = ['free', 'paid', 'enterprise'];

const ZONES = ['UTC', 'America/New_York', 'Asia/Kolkata'] as const;

/** Two budgets of each tenant come and go: small ones, so that much does not fit. */
export const budgetOf = (seed: number, key: string): Change => {
  const n = chance(seed, 'budget to', key);
  const [id, tenant] = [`b${String(n % 2)}`, (n >>> 1) % 3 === 0 ? 'u' : 't'];
  if (fraction(seed, 'budget goes', key) < 0.2) return { kind: 'budget gone', id, tenant };
  const period = (['day', 'week', 'total'] as const)[(n >>> 3) % 3]!;
  const project = (n >>> 5) % 2 === 0 ? undefined : 'p';
  return {
    kind: 'budget',
    id,
    tenant,
    period,
    project,
    zone: ZONES[(n >>> 6) % 3]!,
    credits: (n >>> 8) % 400,
  };
};

/** What an operator changes at some moment, by a seed. */
export const changeOf = (seed: number, key: string): Change => {
  if (fraction(seed, 'budgets', key) < 0.35) return budgetOf(seed, key);
  const [r, n] = [fraction(seed, 'change', key), chance(seed, 'change to', key)];
  if (r < 0.5) {
    const rate = { mode: MODES[n % 2]!, billing: BILLINGS[(n >>> 1) % 2]!, credits: (n >>> 2) % 90 };
    return { kind: 'rate', ...rate, waits: fraction(seed, 'rate of what waits', key) < 0.4 };
  }
  if (r < 0.7) return { kind: 'free pages', pages: n % 5 };
  if (r < 0.8) return { kind: 'training', base: 1_000 + (n % 999), example: n % 31, call: n % 13 };
  if (r < 0.9) return { kind: 'plan', tenant: n % 2 === 0 ? 't' : 'u', plan: PLANS[(n >>> 1) % 3]! };
  return { kind: 'price list', usd: `0.${String(50 + (n % 49))}` };
};
