import { omit, onlyRow, pick, type Projector, rowReader, table, wholeOf } from './engine/table.ts';
import { negated } from '../domain/kernel/amounts.ts';
import { bulk, inserting } from './engine/bulk.ts';
import { only, type ProjectedEventOf, type SqlRow, type SqlTx, tenantOf } from './engine/ports.ts';
import { behindKey, keyColumns, NEWEST_FIRST } from './engine/cursor.ts';
import { finding, walked, type Page, type RowPage } from './engine/query.ts';

/**
 * Sales, refunds as negative rows linked to their sale, and reversals of refunds as positive ones. A sale knows what of
 * it is refunded.
 */
export const grants = table({
  name: 'grants',
  key: ['tenant_id', 'position'],
  columns: {
    tenant_id: 'sorted',
    position: 'position',
    grant_id: 'sorted',
    kind: 'text',
    credits: 'int8',
    original_grant_id: 'text?',
    refund_id: 'text?',
    refunded_credits: 'int8',
    refunded_amount_minor: 'int8',
    currency: 'text',
    gross_amount_minor: 'int8?',
    vat_amount_minor: 'int8',
    provider_fee_minor: 'int8',
    net_amount_minor: 'int8?',
    price_list_version: 'int4?',
    fx_rate_to_usd: 'text?',
    provider: 'text',
    provider_txn_id: 'text',
    invoice_ref: 'text?',
    occurred_at: 'text',
    created_at: 'text',
  },
  indexes: ['unique (tenant_id, grant_id)', '(grant_id)', '(position)', '(created_at collate "C")'],
  fillfactor: 80,
});

const issue = inserting(grants);
const refunded = bulk({ tenant_id: 'text', grant_id: 'text', credits: 'int8', amount_minor: 'int8' });

const UNREFUNDED = { refunded_credits: 0, refunded_amount_minor: 0 };

const saleRow = (event: ProjectedEventOf<'CreditsGranted'>) => {
  const { data, position } = event;
  const gross = data.gross_amount_minor;
  return {
    ...data,
    ...UNREFUNDED,
    tenant_id: tenantOf(event),
    position,
    kind: 'sale',
    original_grant_id: null,
    refund_id: null,
    net_amount_minor: gross === null ? null : gross - data.vat_amount_minor,
  };
};

/** A refund takes price list and rate from its sale, in the statement. */
const refundRow = (event: ProjectedEventOf<'CreditsRefunded'>) => {
  const { data, position } = event;
  return {
    ...data,
    ...UNREFUNDED,
    tenant_id: tenantOf(event),
    position,
    grant_id: data.refund_id,
    kind: 'refund',
    credits: negated(data.credits),
    original_grant_id: data.grant_id,
    refund_id: null,
    net_amount_minor: data.gross_amount_minor - data.vat_amount_minor,
    price_list_version: null,
    fx_rate_to_usd: null,
    invoice_ref: null,
  };
};

/** As that of a refund, the other way round; it names the refund too. */
const reversalRow = (event: ProjectedEventOf<'RefundReversed'>) => {
  const { data, position } = event;
  return {
    ...data,
    ...UNREFUNDED,
    tenant_id: tenantOf(event),
    position,
    grant_id: data.reversal_id,
    kind: 'reversal',
    original_grant_id: data.grant_id,
    net_amount_minor: data.gross_amount_minor - data.vat_amount_minor,
    price_list_version: null,
    fx_rate_to_usd: null,
    invoice_ref: null,
  };
};

/** The sale is there already, though perhaps since a statement ago. */
const REFUND = (schema: string) => `
  with sums as (
    select tenant_id, grant_id, sum(credits)::int8 as credits, sum(amount_minor)::int8 as amount_minor
    from ${refunded.source()} group by tenant_id, grant_id
  ), sales as (
    update ${schema}.grants g
    set refunded_credits = g.refunded_credits + s.credits,
        refunded_amount_minor = g.refunded_amount_minor + s.amount_minor
    from sums s where g.tenant_id = s.tenant_id and g.grant_id = s.grant_id
    returning g.tenant_id, g.grant_id, g.price_list_version, g.fx_rate_to_usd
  )
  update ${schema}.grants g
  set price_list_version = s.price_list_version, fx_rate_to_usd = s.fx_rate_to_usd
  from sales s
  where g.tenant_id = s.tenant_id and g.original_grant_id = s.grant_id and g.price_list_version is null`;

/** What an event adds to what of its sale is refunded. */
const takenBy = (event: ProjectedEventOf<'CreditsRefunded' | 'RefundReversed'>, sign: 1 | -1) => ({
  tenant_id: tenantOf(event),
  grant_id: event.data.grant_id,
  credits: sign * event.data.credits,
  amount_minor: sign * event.data.gross_amount_minor,
});

/** What was sold, refunded and reversed, one row each. */
export const grantsProjector: Projector = {
  name: 'grants',
  version: 3,
  eventTypes: ['CreditsGranted', 'CreditsRefunded', 'RefundReversed'],
  tables: [grants],
  apply: async (tx, { schema, events }) => {
    const sales = only(events, 'CreditsGranted');
    const refunds = only(events, 'CreditsRefunded');
    const reversals = only(events, 'RefundReversed');
    await issue(tx, schema, [
      ...sales.map(saleRow),
      ...refunds.map(refundRow),
      ...reversals.map(reversalRow),
    ]);
    if (refunds.length + reversals.length === 0) return;
    const taken = [
      ...refunds.map((event) => takenBy(event, 1)),
      ...reversals.map((event) => takenBy(event, -1)),
    ];
    await tx.query(REFUND(schema), refunded.values(taken));
  },
};

const readGrant = rowReader(omit(grants.columns, 'tenant_id', 'position'));

const KINDS = ['sale', 'refund', 'reversal'] as const;

/** A sale, refund or reversal, as an item of `GrantHistoryResponse`; a refund has negative credits. */
type GrantRow = Omit<ReturnType<typeof readGrant>, 'kind'> & { readonly kind: (typeof KINDS)[number] };

const rowOf = (row: SqlRow): GrantRow => {
  const grant = readGrant(row);
  return { ...grant, kind: KINDS.find((kind) => kind === grant.kind) ?? 'sale' };
};

/** Whose a grant is, what it is, and its payment. */
export const grantById = finding(
  'select tenant_id, kind, provider, provider_txn_id from read.grants where grant_id = $1',
  (grantId: string) => [grantId],
  rowReader(pick(grants.columns, 'tenant_id', 'kind', 'provider', 'provider_txn_id')),
);

interface GrantsQuery extends Page {
  readonly tenant_id: string;
}

const OF_TENANT = { name: 'grants', order: NEWEST_FIRST };

/** A tenant's sales, refunds and reversals, newest first. The account counts them, so that no page has to. */
export const grantsOfTenant =
  (sql: SqlTx) =>
  (asked: GrantsQuery): Promise<RowPage<GrantRow>> =>
    walked(OF_TENANT, asked, {
      find: async ({ limit, place }) => {
        const { tenant_id, offset } = asked;
        const behind = place === undefined ? '' : `and ${behindKey(OF_TENANT, 4)}`;
        const rows = await sql.query(
          `select *, ${keyColumns(OF_TENANT)} from read.grants where tenant_id = $1 ${behind}
           order by position desc limit $2 offset $3`,
          [tenant_id, limit, place === undefined ? offset : 0, ...(place?.key ?? [])],
        );
        if (place !== undefined) return { rows, total: place.total };
        const total = onlyRow(
          await sql.query(
            'select coalesce((select grants_count from read.balances where tenant_id = $1), 0) as n',
            [tenant_id],
          ),
        );
        return { rows, total: wholeOf(total, 'n') };
      },
      read: rowOf,
    });
