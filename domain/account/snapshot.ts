import { Map as ImmutableMap, OrderedMap } from 'immutable';
import { z } from 'zod';
import type { Json, JsonObject } from '../kernel/json.ts';
import { credits, creditsFromZero, pages } from '../kernel/units.ts';
import { creditsAdjusted, creditsBurned, creditsGranted, creditsHeld, creditsRefunded } from './events.ts';
import type { AccountState } from './state.ts';
import { plan } from './words.ts';

/** Raise it with any change of `evolve` or of the state: older snapshots are then not used any more. */
export const REDUCER_VERSION = 1;

const amount = z.number().int().min(0);
const entries = <Value extends z.ZodType>(value: Value) => z.array(z.tuple([z.string(), value]));

const snapshot = z.strictObject({
  opened: z.boolean(),
  tenant_id: z.string().nullable(),
  plan,
  balance: credits,
  held: creditsFromZero,
  purchased: credits,
  adjusted: credits,
  used: creditsFromZero,
  free_pages_used: pages,
  free_pages_held: pages,
  sales: entries(
    z.strictObject({
      sale: creditsGranted.shape.data,
      refunded_credits: creditsFromZero,
      refunded_gross_minor: amount,
      refunded_vat_minor: amount,
      refunded_fee_minor: amount,
    }),
  ),
  grants: entries(z.string()),
  refunds: entries(creditsRefunded.shape.data),
  adjustments: entries(creditsAdjusted.shape.data),
  holds: entries(creditsHeld.shape.data),
  charges: entries(creditsBurned.shape.data),
  operations: entries(z.string()),
  closed: entries(z.strictObject({ operation_id: z.string(), usage_id: z.string().nullable() })),
});

interface Entries {
  entries(): IterableIterator<[string, unknown]>;
}

/** Sorted by key, so that equal states give equal JSON whatever the order of the map inside. */
const sorted = (map: Entries): Json =>
  [...map.entries()].sort(([a], [b]) => (a < b ? -1 : 1)) as unknown as Json;

/** The whole state as JSON: complete in itself, nothing has to be looked up to restore it. */
export const toJson = (state: AccountState): JsonObject => ({
  opened: state.opened,
  tenant_id: state.tenant_id,
  plan: state.plan,
  balance: state.balance,
  held: state.held,
  purchased: state.purchased,
  adjusted: state.adjusted,
  used: state.used,
  free_pages_used: state.free_pages_used,
  free_pages_held: state.free_pages_held,
  sales: sorted(state.sales),
  grants: sorted(state.grants),
  refunds: sorted(state.refunds),
  adjustments: sorted(state.adjustments),
  holds: sorted(state.holds),
  charges: sorted(state.charges),
  operations: sorted(state.operations),
  closed: [...state.closed.entries()] as unknown as Json,
});

/** The state that `toJson` gave. Throws on anything else: fold the events then. */
export const fromJson = (json: JsonObject): AccountState => {
  const state = snapshot.parse(json);
  return {
    ...state,
    sales: ImmutableMap(state.sales),
    grants: ImmutableMap(state.grants),
    refunds: ImmutableMap(state.refunds),
    adjustments: ImmutableMap(state.adjustments),
    holds: ImmutableMap(state.holds),
    charges: ImmutableMap(state.charges),
    operations: ImmutableMap(state.operations),
    closed: OrderedMap(state.closed),
  };
};
