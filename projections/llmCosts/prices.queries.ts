import { modelPriceMembers } from '../../domain/providerPricing/events.ts';
import type { PublishedPrice } from '../../domain/providerPricing/pricing.ts';
import { textOf, textOrNull, wholeOf } from '../engine/apply/columns.ts';
import type { SqlRow, SqlTx } from '../engine/ports.ts';

const priceOf = (row: SqlRow): PublishedPrice => ({
  price_id: textOf(row, 'price_id'),
  provider: textOrNull(row, 'provider'),
  model_name: textOf(row, 'model_name'),
  ...modelPriceMembers.parse(row['prices']),
  effective_from: textOf(row, 'effective_from'),
  created_at: textOf(row, 'created_at'),
});

/** All prices that providers' models ever had, newest first. */
export const providerPrices = (sql: SqlTx) => async (): Promise<readonly PublishedPrice[]> =>
  (await sql.query('select * from read.model_prices where provider is not null order by position desc')).map(
    priceOf,
  );

/** A model that was called and whose provider has no price for it. */
export interface MissingPrice {
  readonly provider: string;
  readonly model_name: string;
  readonly calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly first_seen_at: string;
  readonly last_seen_at: string;
}

/** Models with calls since `since` for which no provider's price was ever published, busiest first. */
export const missingPrices =
  (sql: SqlTx) =>
  async (since: string): Promise<readonly MissingPrice[]> => {
    const rows = await sql.query(
      `select c.provider, c.model_name, count(*) as calls, sum(c.input_tokens)::int8 as input_tokens,
         sum(c.output_tokens)::int8 as output_tokens, min(c.occurred_at) as first_seen_at,
         max(c.occurred_at) as last_seen_at
       from read.llm_costs c
       where c.occurred_at >= $1 and not exists (select 1 from read.model_prices p
         where p.provider = c.provider and p.model_name = c.model_name)
       group by c.provider, c.model_name order by calls desc, c.provider, c.model_name`,
      [since],
    );
    return rows.map((row) => ({
      provider: textOf(row, 'provider'),
      model_name: textOf(row, 'model_name'),
      calls: wholeOf(row, 'calls'),
      input_tokens: wholeOf(row, 'input_tokens'),
      output_tokens: wholeOf(row, 'output_tokens'),
      first_seen_at: textOf(row, 'first_seen_at'),
      last_seen_at: textOf(row, 'last_seen_at'),
    }));
  };
