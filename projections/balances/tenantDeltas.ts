import type { ProjectedEvent, ProjectedEventOf } from '../engine/feed/event.ts';
import { tenantOf } from '../engine/feed/event.ts';
import { noSums, type Exact, type Row, type Sum } from '../engine/table.ts';
import { balances, type openHolds } from './balances.schema.ts';

/**
 * What a batch does to one tenant's row. `plan` is null where no event of the batch says it; `created_at` is the
 * time of its first event in the batch: that of the account, if the row is new.
 */
type TenantDelta = Omit<Sum<typeof balances, Exact>, 'balance_credits'>;
type OpenHold = Row<typeof openHolds>;
type ClosedHold = Pick<OpenHold, 'tenant_id' | 'hold_id'>;

/** A batch, summed up: it does not matter for the rows how many events it had. */
interface BalanceChanges {
  readonly tenants: readonly TenantDelta[];
  readonly opened: readonly OpenHold[];
  /** Holds of earlier batches that were settled or released. */
  readonly closed: readonly ClosedHold[];
}

export const BALANCE_EVENTS = [
  'AccountOpened',
  'PlanSet',
  'CreditsGranted',
  'CreditsRefunded',
  'CreditsAdjusted',
  'CreditsHeld',
  'HoldReleased',
  'CreditsBurned',
] as const;
type BalanceEvent = ProjectedEventOf<(typeof BALANCE_EVENTS)[number]>;

const BALANCE_TYPES: ReadonlySet<string> = new Set(BALANCE_EVENTS);

const isBalanceEvent = (event: ProjectedEvent): event is BalanceEvent => BALANCE_TYPES.has(event.type);

const happenedAt = ({ type, data }: BalanceEvent): string => {
  if (type === 'PlanSet') return data.set_at;
  if (type === 'HoldReleased') return data.released_at;
  return data.created_at;
};

const { balance_credits: _, ...NO_SUMS } = noSums(balances.columns);

/** With every member that a delta has: a copy that adds none is several times as quick. */
const UNTOUCHED: TenantDelta = {
  ...NO_SUMS,
  tenant_id: '',
  plan: null,
  created_at: '',
  last_activity_at: '',
};

const untouched = (tenant_id: string, at: string): TenantDelta => ({
  ...UNTOUCHED,
  tenant_id,
  created_at: at,
  last_activity_at: at,
});

type Opened = Map<string, OpenHold>;

const holdKey = ({ tenant_id }: TenantDelta, holdId: string): string => `${tenant_id} ${holdId}`;

const open = (delta: TenantDelta, data: ProjectedEventOf<'CreditsHeld'>['data'], opened: Opened): void => {
  const { tenant_id } = delta;
  const { hold_id, operation_id, operation, credits, free_pages, created_at, expires_at } = data;
  const row = { tenant_id, hold_id, operation_id, operation, credits, free_pages, created_at, expires_at };
  opened.set(holdKey(delta, hold_id), row);
  delta.held_credits += BigInt(credits);
  delta.free_pages_held += BigInt(free_pages);
};

/** The hold that an event closes; null for most. */
const closedBy = ({ type, data }: BalanceEvent): string | null => {
  if (type === 'HoldReleased') return data.hold_id;
  return type === 'CreditsBurned' ? data.hold_id : null;
};

/** What an event adds, but for holds. */
const add = (delta: TenantDelta, { type, data }: BalanceEvent): void => {
  switch (type) {
    case 'AccountOpened':
      delta.plan = 'free';
      return;
    case 'PlanSet':
      delta.plan = data.plan;
      return;
    case 'CreditsGranted':
      delta.purchased_credits += BigInt(data.credits);
      delta.grants_count += 1n;
      return;
    case 'CreditsRefunded':
      delta.purchased_credits -= BigInt(data.credits);
      delta.grants_count += 1n;
      return;
    case 'CreditsAdjusted':
      delta.adjusted_credits += BigInt(data.credits);
      return;
    case 'CreditsBurned':
      delta.used_credits += BigInt(data.credits);
      delta.free_pages_used += BigInt(data.free_pages);
      return;
    case 'CreditsHeld':
    case 'HoldReleased':
  }
};

/** Sums up a batch tenant by tenant, in order. */
export const balanceChanges = (events: readonly ProjectedEvent[]): BalanceChanges => {
  const tenants = new Map<string, TenantDelta>();
  const opened: Opened = new Map();
  const closed: ClosedHold[] = [];

  const close = (delta: TenantDelta, hold_id: string): void => {
    const hold = opened.get(holdKey(delta, hold_id));
    if (hold === undefined) {
      closed.push({ tenant_id: delta.tenant_id, hold_id });
      return;
    }
    opened.delete(holdKey(delta, hold_id));
    delta.held_credits -= BigInt(hold.credits);
    delta.free_pages_held -= BigInt(hold.free_pages);
  };

  for (const event of events) {
    if (!isBalanceEvent(event)) continue;
    const tenantId = tenantOf(event);
    const at = happenedAt(event);
    const delta = tenants.get(tenantId) ?? untouched(tenantId, at);
    tenants.set(tenantId, delta);
    delta.last_activity_at = at;
    add(delta, event);
    if (event.type === 'CreditsHeld') open(delta, event.data, opened);
    const holdId = closedBy(event);
    if (holdId !== null) close(delta, holdId);
  }
  return { tenants: [...tenants.values()], opened: [...opened.values()], closed };
};
