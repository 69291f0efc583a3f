import type { BillingRate, BillingTerms } from '../../domain/billingConfig/events.ts';
import { billingRate, billingTerms } from '../../domain/billingConfig/events.ts';
import { textOf, textOrNull, wholeOf } from '../engine/apply/columns.ts';
import type { SqlRow, SqlTx } from '../engine/ports.ts';

/** A rate in force, as `BillingRateItem`. */
interface BillingRateRow extends BillingRate {
  readonly billing_config_version: number;
  readonly effective_at: string;
}

/** One version with everything in force under it, as `BillingConfigResponse`. */
interface BillingConfigRow extends BillingTerms {
  readonly version: number;
  readonly note: string | null;
  readonly rates: readonly BillingRateRow[];
  readonly created_at: string;
  readonly created_by: string;
}

const rateOf = (row: SqlRow): BillingRateRow => ({
  ...billingRate.parse({
    operation: row['operation'],
    extraction_mode: row['extraction_mode'],
    billing_type: row['billing_type'],
    credits_per_page: wholeOf(row, 'credits_per_page'),
  }),
  billing_config_version: wholeOf(row, 'version'),
  effective_at: textOf(row, 'effective_at'),
});

const keyOf = ({ operation, extraction_mode, billing_type }: BillingRate): string =>
  `${operation} ${extraction_mode} ${billing_type}`;

interface Carried {
  readonly terms: BillingTerms | undefined;
  readonly rates: ReadonlyMap<string, BillingRateRow>;
  readonly configs: readonly BillingConfigRow[];
}

/** A version carries over what it does not set. */
const carry = (before: Carried, row: SqlRow, set: readonly BillingRateRow[]): Carried => {
  const terms = row['terms'] === null ? before.terms : billingTerms.parse(row['terms']);
  if (terms === undefined) throw new Error('the first billing config has no terms');
  const kept = row['all_rates'] === true ? [] : [...before.rates];
  const rates = new Map([...kept, ...set.map((rate) => [keyOf(rate), rate] as const)]);
  const config: BillingConfigRow = {
    ...terms,
    version: wholeOf(row, 'version'),
    note: textOrNull(row, 'note'),
    rates: [...rates.values()],
    created_at: textOf(row, 'created_at'),
    created_by: textOf(row, 'created_by'),
  };
  return { terms, rates, configs: [config, ...before.configs] };
};

/** All versions, newest first; the first of them is the active one. */
export const billingConfigHistory = (sql: SqlTx) => async (): Promise<readonly BillingConfigRow[]> => {
  const [configs, rates] = await Promise.all([
    sql.query('select * from read.billing_configs order by version'),
    sql.query('select * from read.billing_rates order by version, operation, extraction_mode, billing_type'),
  ]);
  const byVersion = new Map<number, BillingRateRow[]>();
  for (const rate of rates.map(rateOf)) {
    const { billing_config_version: version } = rate;
    byVersion.set(version, [...(byVersion.get(version) ?? []), rate]);
  }
  const start: Carried = { terms: undefined, rates: new Map(), configs: [] };
  const rows = configs.map((row) => [row, byVersion.get(wholeOf(row, 'version')) ?? []] as const);
  return rows.reduce((carried, [row, set]) => carry(carried, row, set), start).configs;
};

/** The active billing config with its rates; undefined before the first is published. */
export const activeBillingConfig = (sql: SqlTx) => async (): Promise<BillingConfigRow | undefined> =>
  (await billingConfigHistory(sql)())[0];
