import { pick, rowReader, textOf, wholeOf } from './engine/table.ts';
import type { Lot, TenantLots } from '../domain/margin.ts';
import { only, type ProjectedEvent, type SqlRow, type SqlTx, tenantOf } from './engine/ports.ts';
import { bulk, upserting } from './engine/bulk.ts';
import { marginDeficits, marginLots } from './marginTables.ts';

const readLot = rowReader(marginLots.columns);

/** A lot as it was saved. */
const lotOfRow = (row: SqlRow): Lot => {
  const { lot_id, position, currency, fx_rate, price, credits, used, issued, ...money } = readLot(row);
  const { net, amount, implied, fee, vat } = money;
  // Members one by one, here and below: each batch does this for every lot of its tenants.
  return {
    lot_id,
    position,
    currency,
    credits,
    used,
    values: { net, amount, implied, fee, vat },
    booking: fx_rate === null || price === null ? null : { currency, fx_rate, price },
    issued,
    money: { gross: money.paid_gross, vat: money.paid_vat, fee: money.paid_fee },
    refunded: { gross: money.refunded_gross, vat: money.refunded_vat, fee: money.refunded_fee },
  };
};

const rowOfLot = (tenant_id: string, lot: Lot) => ({
  tenant_id,
  lot_id: lot.lot_id,
  position: lot.position,
  currency: lot.currency,
  fx_rate: lot.booking?.fx_rate ?? null,
  price: lot.booking?.price ?? null,
  credits: lot.credits,
  used: lot.used,
  net: lot.values.net,
  amount: lot.values.amount,
  implied: lot.values.implied,
  fee: lot.values.fee,
  vat: lot.values.vat,
  issued: lot.issued,
  paid_gross: lot.money.gross,
  paid_vat: lot.money.vat,
  paid_fee: lot.money.fee,
  refunded_gross: lot.refunded.gross,
  refunded_vat: lot.refunded.vat,
  refunded_fee: lot.refunded.fee,
});

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
  where l.used < l.credits order by l.tenant_id, l.position`;

const NAMED = (schema: string) => `
  select l.* from ${named.source()} join ${schema}.margin_lots l using (tenant_id, lot_id)
  where l.used >= l.credits`;

const DEFICITS = (schema: string) => `
  select d.* from ${wanted.source()} join ${schema}.margin_deficits d using (tenant_id)`;

/** A hole that is filled leaves no row. */
const CLEAR_DEFICITS = (schema: string) => `delete from ${schema}.margin_deficits where credits = 0`;

const inOrderOfLog = ({ lots, deficit }: TenantLots): TenantLots => ({
  lots: [...lots].sort((a, b) => (a.position < b.position ? -1 : 1)),
  deficit,
});

/** The tenants' open lots in order, with those that a refund, a reversal or a later fact of the batch names. */
export const lotsOf = async (
  tx: SqlTx,
  schema: string,
  events: readonly ProjectedEvent[],
): Promise<ReadonlyMap<string, TenantLots>> => {
  const ids = wanted.values([...new Set(events.map(tenantOf))].map((tenant_id) => ({ tenant_id })));
  const reversals = only(events, 'RefundReversed');
  const refunds = [
    ...only(events, 'CreditsRefunded'),
    ...reversals,
    ...only(events, 'SaleDetailsAdded'),
    ...only(events, 'SaleRateBooked'),
  ].map((event) => ({
    tenant_id: tenantOf(event),
    lot_id: event.data.grant_id,
  }));
  const rows = [...(await tx.query(OPEN(schema), ids))];
  if (refunds.length > 0) {
    const closed = await tx.query(NAMED(schema), named.values(refunds));
    const once = new Map(closed.map((row) => [`${textOf(row, 'tenant_id')} ${textOf(row, 'lot_id')}`, row]));
    // A reversal opens a lot again, which is consumed in its old place.
    rows.push(...once.values());
  }
  const missing = await tx.query(DEFICITS(schema), ids);
  const tenants = new Map<string, TenantLots>();
  for (const row of rows) {
    const tenant = textOf(row, 'tenant_id');
    const before = tenants.get(tenant)?.lots ?? [];
    tenants.set(tenant, { lots: [...before, lotOfRow(row)], deficit: 0 });
  }
  if (reversals.length > 0) for (const [tenant, lots] of tenants) tenants.set(tenant, inOrderOfLog(lots));
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
