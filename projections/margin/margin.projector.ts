import type { TenantLots } from '../../domain/margin/tenantLots.ts';
import { bulk } from '../engine/apply/bulk.ts';
import { textOf, wholeOf } from '../engine/apply/columns.ts';
import type { ProjectedEvent } from '../engine/feed/event.ts';
import { only, tenantOf } from '../engine/feed/event.ts';
import type { SqlTx } from '../engine/ports.ts';
import type { Projector } from '../engine/projector.ts';
import { marginDdl, marginTables } from './margin.schema.ts';
import { foldMargin } from './marginFold.ts';
import { changedDeficits, changedLots, DAY_SUMS, lotOfRow, marginDays } from './marginRows.ts';

const lots = bulk({
  tenant_id: 'text',
  lot_id: 'text',
  position: 'int8',
  currency: 'text',
  fx_rate: 'text',
  price: 'text',
  credits: 'int8',
  used: 'int8',
  net: 'numeric',
  amount: 'numeric',
  implied: 'numeric',
  fee: 'numeric',
  vat: 'numeric',
  refunded_gross: 'int8',
  refunded_vat: 'int8',
  refunded_fee: 'int8',
});
const deficits = bulk({ tenant_id: 'text', credits: 'int8' });
const burns = bulk({
  position: 'int8',
  currency: 'text',
  created_at: 'text',
  priced_credits: 'int8',
  given_credits: 'int8',
  unpriced_credits: 'int8',
  net: 'numeric',
  amount: 'numeric',
  implied: 'numeric',
  fee: 'numeric',
  vat: 'numeric',
});
const bookings = bulk({
  position: 'int8',
  currency: 'text',
  created_at: 'text',
  true_up: 'numeric',
  booked: 'numeric',
  refunded: 'numeric',
  sales: 'int4',
  refunds: 'int4',
  gross_minor: 'int8',
  vat_minor: 'int8',
  fee_minor: 'int8',
  refunded_minor: 'int8',
  without_amount: 'int4',
  without_rate: 'int4',
});
const days = bulk({
  day: 'text',
  currency: 'text',
  first_position: 'int8',
  last_position: 'int8',
  ...Object.fromEntries(DAY_SUMS.map((name) => [name, 'numeric' as const])),
});
const wanted = bulk({ tenant_id: 'text' });
const named = bulk({ tenant_id: 'text', lot_id: 'text' });

const OPEN = (schema: string) => `
  select l.* from ${wanted.source()} join ${schema}.margin_lots l using (tenant_id)
  where l.used < l.credits order by l.tenant_id, l.position`;

const NAMED = (schema: string) => `
  select l.* from ${named.source()} join ${schema}.margin_lots l using (tenant_id, lot_id)
  where l.used >= l.credits`;

const DEFICITS = (schema: string) => `
  select d.* from ${wanted.source()} join ${schema}.margin_deficits d using (tenant_id)`;

const SAVE_LOTS = (schema: string) => `
  insert into ${schema}.margin_lots (${lots.names}) select ${lots.names} from ${lots.source()}
  on conflict (tenant_id, lot_id) do update set credits = excluded.credits, used = excluded.used,
    net = excluded.net, amount = excluded.amount, implied = excluded.implied, fee = excluded.fee,
    vat = excluded.vat, refunded_gross = excluded.refunded_gross, refunded_vat = excluded.refunded_vat,
    refunded_fee = excluded.refunded_fee`;

const SAVE_DEFICITS = (schema: string) => `
  insert into ${schema}.margin_deficits (tenant_id, credits) select tenant_id, credits from ${deficits.source()}
  on conflict (tenant_id) do update set credits = excluded.credits`;

/** A hole that is filled leaves no row. */
const CLEAR_DEFICITS = (schema: string) => `delete from ${schema}.margin_deficits where credits = 0`;

const ADD_BURNS = (schema: string) =>
  `insert into ${schema}.margin_burns (${burns.names}) select ${burns.names} from ${burns.source()}`;

const ADD_BOOKINGS = (schema: string) =>
  `insert into ${schema}.margin_bookings (${bookings.names}) select ${bookings.names} from ${bookings.source()}`;

const ADD_DAYS = (schema: string) => `
  insert into ${schema}.margin_days as d (${days.names}) select ${days.names} from ${days.source()}
  on conflict (day, currency) do update set
    first_position = least(d.first_position, excluded.first_position),
    last_position = greatest(d.last_position, excluded.last_position),
    ${DAY_SUMS.map((name) => `${name} = d.${name} + excluded.${name}`).join(', ')}`;

/** The tenants' open lots in order, with those that a refund of the batch names. */
const lotsOf = async (
  tx: SqlTx,
  schema: string,
  events: readonly ProjectedEvent[],
): Promise<ReadonlyMap<string, TenantLots>> => {
  const ids = wanted.values([...new Set(events.map(tenantOf))].map((tenant_id) => ({ tenant_id })));
  const refunds = only(events, 'CreditsRefunded').map((event) => ({
    tenant_id: tenantOf(event),
    lot_id: event.data.grant_id,
  }));
  const rows = [...(await tx.query(OPEN(schema), ids))];
  if (refunds.length > 0) {
    const closed = await tx.query(NAMED(schema), named.values(refunds));
    const once = new Map(closed.map((row) => [`${textOf(row, 'tenant_id')} ${textOf(row, 'lot_id')}`, row]));
    rows.push(...once.values());
  }
  const missing = await tx.query(DEFICITS(schema), ids);
  const tenants = new Map<string, TenantLots>();
  for (const row of rows) {
    const tenant = textOf(row, 'tenant_id');
    const before = tenants.get(tenant)?.lots ?? [];
    tenants.set(tenant, { lots: [...before, lotOfRow(row)], deficit: 0 });
  }
  for (const row of missing) {
    const tenant = textOf(row, 'tenant_id');
    tenants.set(tenant, { lots: tenants.get(tenant)?.lots ?? [], deficit: wholeOf(row, 'credits') });
  }
  return tenants;
};

/** Lots of credits consumed first in, first out, and the money that was recognised thereby. */
export const marginProjector: Projector = {
  name: 'margin',
  version: 1,
  eventTypes: ['CreditsGranted', 'CreditsRefunded', 'CreditsAdjusted', 'CreditsBurned'],
  tables: marginTables,
  ddl: marginDdl,
  apply: async (tx, { schema, events }) => {
    const before = await lotsOf(tx, schema, events);
    const fold = foldMargin(before, events);
    const changed = changedLots(before, fold.tenants);
    const missing = changedDeficits(before, fold.tenants);
    if (changed.length > 0) await tx.query(SAVE_LOTS(schema), lots.values(changed));
    if (missing.length > 0) {
      await tx.query(SAVE_DEFICITS(schema), deficits.values(missing));
      await tx.query(CLEAR_DEFICITS(schema));
    }
    if (fold.burns.length > 0) await tx.query(ADD_BURNS(schema), burns.values(fold.burns));
    if (fold.bookings.length > 0) await tx.query(ADD_BOOKINGS(schema), bookings.values(fold.bookings));
    const sums = marginDays([...fold.burns, ...fold.bookings]);
    if (sums.length > 0) await tx.query(ADD_DAYS(schema), days.values(sums));
  },
};
