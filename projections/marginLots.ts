import { pick, textOf, wholeOf } from './engine/table.ts';
import type { TenantLots } from '../domain/margin.ts';
import { only, type ProjectedEvent, type SqlTx, tenantOf } from './engine/ports.ts';
import { bulk, upserting } from './engine/bulk.ts';
import { lotOfRow, rowOfLot, type Transit } from './marginRows.ts';
import { marginDeficits, marginLots } from './marginTables.ts';

/** Rows of the lots that a batch changed or made. */
const changedLots = (
  before: ReadonlyMap<string, TenantLots>,
  after: ReadonlyMap<string, TenantLots>,
): readonly ReturnType<typeof rowOfLot>[] => {
  const rows: ReturnType<typeof rowOfLot>[] = [];
  for (const [tenant, { lots }] of after) {
    const known = new Set(before.get(tenant)?.lots);
    for (const lot of lots) if (!known.has(lot)) rows.push(rowOfLot(tenant, lot));
  }
  return rows;
};

/** Deficits that a batch changed. */
const changedDeficits = (
  before: ReadonlyMap<string, TenantLots>,
  after: ReadonlyMap<string, TenantLots>,
): readonly { readonly tenant_id: string; readonly credits: number }[] =>
  [...after].flatMap(([tenant_id, { deficit }]) =>
    deficit === (before.get(tenant_id)?.deficit ?? 0) ? [] : [{ tenant_id, credits: deficit }],
  );

const saveLots = upserting(marginLots);
const saveDeficits = upserting(marginDeficits);
const wanted = bulk(pick(marginLots.columns, 'tenant_id'));
const named = bulk(pick(marginLots.columns, 'tenant_id', 'lot_id'));

const OPEN = (schema: string) => `
  select l.* from ${wanted.source()} join ${schema}.margin_lots l using (tenant_id)
  where l.is_open order by l.tenant_id, l.position, l.lot_id`;

const NAMED = (schema: string) => `
  select l.* from ${named.source()} join ${schema}.margin_lots l using (tenant_id, lot_id)
  where not l.is_open`;

const DEFICITS = (schema: string) => `
  select d.* from ${wanted.source()} join ${schema}.margin_deficits d using (tenant_id)`;

/** A hole that is filled leaves no row. */
const CLEAR_DEFICITS = (schema: string) => `delete from ${schema}.margin_deficits where credits = 0`;

const inOrderOfLog = ({ lots, deficit }: TenantLots): TenantLots => ({
  lots: [...lots].sort((a, b) =>
    a.position === b.position ? (a.lot_id < b.lot_id ? -1 : 1) : a.position < b.position ? -1 : 1,
  ),
  deficit,
});

/** Lots that credits may come back to: any that they could have come from, of each tenant that receives some. */
const homes = (
  events: readonly ProjectedEvent[],
  origins: readonly string[],
): readonly { readonly tenant_id: string; readonly lot_id: string }[] => {
  const tenants = new Set(only(events, 'CreditsTransferredIn').map(tenantOf));
  return [...tenants].flatMap((tenant_id) => origins.map((lot_id) => ({ tenant_id, lot_id })));
};

/** The tenants' open lots in order, with those that a refund, a reversal or a later fact of the batch names. */
export const lotsOf = async (
  tx: SqlTx,
  schema: string,
  { events, transit }: { readonly events: readonly ProjectedEvent[]; readonly transit: Transit },
): Promise<ReadonlyMap<string, TenantLots>> => {
  const ids = wanted.values([...new Set(events.map(tenantOf))].map((tenant_id) => ({ tenant_id })));
  const reopened = [...only(events, 'RefundReversed'), ...only(events, 'CreditsTransferredIn')];
  const rows = [...(await tx.query(OPEN(schema), ids))];
  const refunds = [
    ...only(events, 'CreditsRefunded'),
    ...only(events, 'RefundReversed'),
    ...only(events, 'SaleDetailsAdded'),
    ...only(events, 'SaleRateBooked'),
    ...only(events, 'DisputeChanged'),
  ].map((event) => ({ tenant_id: tenantOf(event), lot_id: event.data.grant_id }));
  const origins = new Set([
    ...[...transit.values()].flat().map(({ origin }) => origin),
    ...rows.map((row) => textOf(row, 'origin')),
  ]);
  const closedOnes = [...refunds, ...homes(events, [...origins])];
  if (closedOnes.length > 0) {
    const closed = await tx.query(NAMED(schema), named.values(closedOnes));
    const once = new Map(closed.map((row) => [`${textOf(row, 'tenant_id')} ${textOf(row, 'lot_id')}`, row]));
    // A reversal or a transfer opens a lot again, which is consumed in its old place.
    rows.push(...once.values());
  }
  const missing = await tx.query(DEFICITS(schema), ids);
  const tenants = new Map<string, TenantLots>();
  for (const row of rows) {
    const tenant = textOf(row, 'tenant_id');
    const before = tenants.get(tenant)?.lots ?? [];
    tenants.set(tenant, { lots: [...before, lotOfRow(row)], deficit: 0 });
  }
  if (reopened.length > 0) for (const [tenant, lots] of tenants) tenants.set(tenant, inOrderOfLog(lots));
  for (const row of missing) {
    const tenant = textOf(row, 'tenant_id');
    tenants.set(tenant, { lots: tenants.get(tenant)?.lots ?? [], deficit: wholeOf(row, 'credits') });
  }
  return tenants;
};

/** Writes the lots that a batch changed or made, and the holes. */
export const saveLotsOf = async (
  tx: SqlTx,
  schema: string,
  {
    before,
    after,
  }: { readonly before: ReadonlyMap<string, TenantLots>; readonly after: ReadonlyMap<string, TenantLots> },
): Promise<void> => {
  const missing = changedDeficits(before, after);
  await saveLots(tx, schema, changedLots(before, after));
  await saveDeficits(tx, schema, missing);
  if (missing.length > 0) await tx.query(CLEAR_DEFICITS(schema));
};
