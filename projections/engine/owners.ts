import type { Arrival, Delivered } from './arrivals.ts';
import type { SqlTx } from './ports.ts';
import type { Projector, Table } from './table.ts';

const ACCOUNT = 'account-';

/** The tenant that an event is recorded for; null: none. An account's stream says it without its metadata. */
export const recordedFor = (recorded: Delivered): string | null => {
  if (recorded.stream.startsWith(ACCOUNT)) return recorded.stream.slice(ACCOUNT.length);
  const tenant = recorded.metadata['tenant_id'];
  return typeof tenant === 'string' ? tenant : null;
};

/** Whose rows of a read model an event moves; null: those that all tenants share. */
export const ownerOf = ({ ownerOf: own }: Projector, arrival: Arrival): string | null => {
  const said = arrival.event === undefined ? undefined : own?.(arrival.event);
  if (said !== undefined) return said;
  return arrival.recorded === undefined ? null : recordedFor(arrival.recorded);
};

/** The condition of a tenant's rows, with the tenant `$1`; null: none are; undefined: nobody can tell. */
const conditionOf = ({ rowsOf, columns }: Table, schema: string): string | null | undefined => {
  if (rowsOf === 'shared') return null;
  if (rowsOf !== undefined) return rowsOf.replaceAll('{schema}', schema);
  return 'tenant_id' in columns ? 'tenant_id = $1' : undefined;
};

/** Whether the rows of each tenant follow from its own events and those of nobody. */
export const isByTenant = ({ tables }: Projector): boolean =>
  tables.every((one) => conditionOf(one, '') !== undefined);

/** Puts a tenant's rows of one set of tables in place of those in another. */
export const replaceRows = async (
  tx: SqlTx,
  { tables }: Projector,
  { from, to, tenant }: { readonly from: string; readonly to: string; readonly tenant: string },
): Promise<void> => {
  // Rows that say whose they are by another table go before that one's, and come after them.
  for (const one of [...tables].reverse()) {
    const condition = conditionOf(one, to);
    if (typeof condition === 'string')
      await tx.query(`delete from ${to}.${one.name} where ${condition}`, [tenant]);
  }
  for (const one of tables) {
    const condition = conditionOf(one, from);
    if (typeof condition === 'string')
      await tx.query(`insert into ${to}.${one.name} select * from ${from}.${one.name} where ${condition}`, [
        tenant,
      ]);
  }
};
