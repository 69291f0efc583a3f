import { bulk, inserting, onConflict } from '../engine/apply/bulk.ts';
import type { Projector } from '../engine/projector.ts';
import { omit, pick } from '../engine/table.ts';
import { balances, openHolds } from './balances.schema.ts';
import { BALANCE_EVENTS, balanceChanges } from './tenantDeltas.ts';

const deltaColumns = omit(balances.columns, 'balance_credits');
const deltas = bulk(deltaColumns);
const closedHolds = bulk(pick(openHolds.columns, 'tenant_id', 'hold_id'));
const hold = inserting(openHolds);

/** Adds a batch's sums to the rows of its tenants, and frees what its closed holds had set aside. */
const POST = (schema: string) => `
  with closed as (
    delete from ${schema}.open_holds h using ${closedHolds.source(Object.keys(deltaColumns).length + 1)}
    where h.tenant_id = u.tenant_id and h.hold_id = u.hold_id
    returning h.tenant_id, h.credits, h.free_pages
  ), freed as (
    select tenant_id, sum(credits)::int8 as credits, sum(free_pages)::int8 as free_pages
    from closed group by tenant_id
  ), changed as (
    select u.*, coalesce(f.credits, 0) as freed_credits, coalesce(f.free_pages, 0) as freed_pages
    from ${deltas.source()} left join freed f on f.tenant_id = u.tenant_id
  )
  insert into ${schema}.balances as there (${Object.keys(balances.columns).join(', ')})
  select tenant_id, plan, purchased_credits + adjusted_credits - used_credits, held_credits - freed_credits,
    purchased_credits, used_credits, adjusted_credits, free_pages_used, free_pages_held - freed_pages,
    grants_count, created_at, last_activity_at
  from changed ${onConflict(balances)}`;

/** Balances of all tenants, and their open holds. */
export const balancesProjector: Projector = {
  name: 'balances',
  version: 2,
  eventTypes: BALANCE_EVENTS,
  tables: [balances, openHolds],
  apply: async (tx, { schema, events }) => {
    const { tenants, opened, closed } = balanceChanges(events);
    if (tenants.length === 0) return;
    await tx.query(POST(schema), [...deltas.values(tenants), ...closedHolds.values(closed)]);
    await hold(tx, schema, opened);
  },
};
