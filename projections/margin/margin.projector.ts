import type { TenantLots } from '../../domain/margin/tenantLots.ts';
import { bulk, inserting, upserting } from '../engine/apply/bulk.ts';
import { textOf, wholeOf } from '../engine/apply/columns.ts';
import type { ProjectedEvent } from '../engine/feed/event.ts';
import { only, tenantOf } from '../engine/feed/event.ts';
import type { SqlTx } from '../engine/ports.ts';
import type { Projector } from '../engine/projector.ts';
import { pick } from '../engine/table.ts';
import { marginBookings, marginBurns, marginDays, marginDeficits, marginLots } from './margin.schema.ts';
import { foldMargin } from './marginFold.ts';
import { changedDeficits, changedLots, daySums, lotOfRow } from './marginRows.ts';

const saveLots = upserting(marginLots);
const saveDeficits = upserting(marginDeficits);
const addBurns = inserting(marginBurns);
const addBookings = inserting(marginBookings);
const addDays = upserting(marginDays);
const wanted = bulk(pick(marginLots.columns, 'tenant_id'));
const named = bulk(pick(marginLots.columns, 'tenant_id', 'lot_id'));

const OPEN = (schema: string) => `
  select l.* from ${wanted.source()} join ${schema}.margin_lots l using (tenant_id)
  where l.used < l.credits order by l.tenant_id, l.position`;

const NAMED = (schema: string) => `
  select l.* from ${named.source()} join ${schema}.margin_lots l using (tenant_id, lot_id)
  where l.used >= l.credits`;

const DEFICITS = (schema: string) => `
  select d.* from ${wanted.source()} join ${schema}.margin_deficits d using (tenant_id)`;

/** A hole that is filled leaves no row. */
const CLEAR_DEFICITS = (schema: string) => `delete from ${schema}.margin_deficits where credits = 0`;

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
  tables: [marginLots, marginDeficits, marginBurns, marginBookings, marginDays],
  apply: async (tx, { schema, events }) => {
    const before = await lotsOf(tx, schema, events);
    const fold = foldMargin(before, events);
    const missing = changedDeficits(before, fold.tenants);
    await saveLots(tx, schema, changedLots(before, fold.tenants));
    await saveDeficits(tx, schema, missing);
    if (missing.length > 0) await tx.query(CLEAR_DEFICITS(schema));
    await addBurns(tx, schema, fold.burns);
    await addBookings(tx, schema, fold.bookings);
    await addDays(tx, schema, daySums([...fold.burns, ...fold.bookings]));
  },
};
