import { bulk } from '../engine/apply/bulk.ts';
import type { Projector } from '../engine/projector.ts';
import { balancesDdl, balancesTables } from './balances.schema.ts';
import { BALANCE_EVENTS, balanceChanges } from './tenantDeltas.ts';

const deltas = bulk({
  tenant_id: 'text',
  plan: 'text',
  held_credits: 'int8',
  purchased_credits: 'int8',
  used_credits: 'int8',
  adjusted_credits: 'int8',
  free_pages_used: 'int8',
  free_pages_held: 'int8',
  grants_count: 'int8',
  created_at: 'text',
  last_activity_at: 'text',
});
const closedHolds = bulk({ tenant_id: 'text', hold_id: 'text' });
const openHolds = bulk({
  tenant_id: 'text',
  hold_id: 'text',
  operation: 'text',
  credits: 'int8',
  free_pages: 'int8',
  created_at: 'text',
  expires_at: 'text',
});

/** Adds a batch's sums to the rows of its tenants, and frees what its closed holds had set aside. */
const POST = (schema: string) => `
  with closed as (
    delete from ${schema}.open_holds h using ${closedHolds.source(12)}
    where h.tenant_id = u.tenant_id and h.hold_id = u.hold_id
    returning h.tenant_id, h.credits, h.free_pages
  ), freed as (
    select tenant_id, sum(credits)::int8 as credits, sum(free_pages)::int8 as free_pages
    from closed group by tenant_id
  )
  insert into ${schema}.balances as b (tenant_id, plan, balance_credits, held_credits, purchased_credits,
    used_credits, adjusted_credits, free_pages_used, free_pages_held, grants_count, created_at, last_activity_at)
  select u.tenant_id, u.plan, u.purchased_credits + u.adjusted_credits - u.used_credits,
    u.held_credits - coalesce(f.credits, 0), u.purchased_credits, u.used_credits, u.adjusted_credits,
    u.free_pages_used, u.free_pages_held - coalesce(f.free_pages, 0), u.grants_count, u.created_at,
    u.last_activity_at
  from ${deltas.source()} left join freed f on f.tenant_id = u.tenant_id
  on conflict (tenant_id) do update set
    plan = coalesce(excluded.plan, b.plan),
    balance_credits = b.balance_credits + excluded.balance_credits,
    held_credits = b.held_credits + excluded.held_credits,
    purchased_credits = b.purchased_credits + excluded.purchased_credits,
    used_credits = b.used_credits + excluded.used_credits,
    adjusted_credits = b.adjusted_credits + excluded.adjusted_credits,
    free_pages_used = b.free_pages_used + excluded.free_pages_used,
    free_pages_held = b.free_pages_held + excluded.free_pages_held,
    grants_count = b.grants_count + excluded.grants_count,
    last_activity_at = excluded.last_activity_at`;

const HOLD = (schema: string) => `
  insert into ${schema}.open_holds (${openHolds.names}) select ${openHolds.names} from ${openHolds.source()}`;

/** Balances of all tenants, and their open holds. */
export const balancesProjector: Projector = {
  name: 'balances',
  version: 1,
  eventTypes: BALANCE_EVENTS,
  tables: balancesTables,
  ddl: balancesDdl,
  apply: async (tx, { schema, events }) => {
    const { tenants, opened, closed } = balanceChanges(events);
    if (tenants.length === 0) return;
    await tx.query(POST(schema), [...deltas.values(tenants), ...closedHolds.values(closed)]);
    if (opened.length > 0) await tx.query(HOLD(schema), openHolds.values(opened));
  },
};
