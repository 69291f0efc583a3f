import {
  type Exact,
  noSums,
  omit,
  pick,
  type Projector,
  type Row,
  rowReader,
  type Sum,
  table,
  textOf,
  wholeOf,
} from './engine/table.ts';
import {
  type ProjectedEvent,
  type ProjectedEventOf,
  type SqlRow,
  type SqlTx,
  tenantOf,
} from './engine/ports.ts';
import { bulk, inserting, onConflict } from './engine/bulk.ts';
import { laterBy } from '../domain/kernel/amounts.ts';
import { plan } from '../domain/account/messages.ts';
import { finding, listing, type Page, paging, telling } from './engine/query.ts';
import { patternOf, sortBy, sortsBy } from './engine/sorts.ts';

/**
 * One row a tenant. `balance_credits` = purchased (net of refunds) + adjusted − used; available is
 * balance − held.
 */
export const balances = table({
  name: 'balances',
  key: ['tenant_id'],
  columns: {
    tenant_id: 'sorted',
    plan: 'text? replace',
    balance_credits: 'int8 add',
    held_credits: 'int8 add',
    purchased_credits: 'int8 add',
    used_credits: 'int8 add',
    adjusted_credits: 'int8 add',
    free_pages_used: 'int8 add',
    free_pages_held: 'int8 add',
    grants_count: 'int8 add',
    created_at: 'text',
    last_activity_at: 'text replace',
    /** Of the last work that was delivered; null: none was. */
    last_used_at: 'text? replace',
  },
  fillfactor: 50,
});

/** Holds that are neither settled nor released. */
export const openHolds = table({
  name: 'open_holds',
  key: ['tenant_id', 'hold_id'],
  columns: {
    tenant_id: 'sorted',
    hold_id: 'sorted',
    /** The work that it is for. */
    operation_id: 'sorted',
    operation: 'text',
    credits: 'int8',
    free_pages: 'int8',
    created_at: 'text',
    expires_at: 'text',
  },
});

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
  'RefundReversed',
  'CreditsTransferredOut',
  'CreditsTransferredIn',
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
  last_used_at: null,
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

/** What an event adds, except holds. */
const add = (delta: TenantDelta, { type, data }: BalanceEvent): void => {
  switch (type) {
    case 'AccountOpened':
      delta.plan = 'free';
      return;
    case 'PlanSet':
      delta.plan = data.plan;
      return;
    case 'CreditsGranted':
    case 'RefundReversed':
      delta.purchased_credits += BigInt(data.credits);
      delta.grants_count += 1n;
      return;
    case 'CreditsRefunded':
      delta.purchased_credits -= BigInt(data.credits);
      delta.grants_count += 1n;
      return;
    case 'CreditsTransferredOut':
      delta.adjusted_credits -= BigInt(data.credits);
      return;
    case 'CreditsTransferredIn':
    case 'CreditsAdjusted':
      delta.adjusted_credits += BigInt(data.credits);
      return;
    default:
      if (type === 'CreditsBurned') addUse(delta, data);
  }
};

const addUse = (delta: TenantDelta, burn: ProjectedEventOf<'CreditsBurned'>['data']): void => {
  delta.used_credits += BigInt(burn.credits);
  delta.free_pages_used += BigInt(burn.free_pages);
  delta.last_used_at = burn.created_at;
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
    grants_count, created_at, last_activity_at, last_used_at
  from changed ${onConflict(balances)}`;

/** Balances of all tenants, and their open holds. */
export const balancesProjector: Projector = {
  name: 'balances',
  version: 4,
  eventTypes: BALANCE_EVENTS,
  tables: [balances, openHolds],
  apply: async (tx, { schema, events }) => {
    const { tenants, opened, closed } = balanceChanges(events);
    if (tenants.length === 0) return;
    await tx.query(POST(schema), [...deltas.values(tenants), ...closedHolds.values(closed)]);
    await hold(tx, schema, opened);
  },
};

const readBalance = rowReader(
  omit(balances.columns, 'plan', 'purchased_credits', 'used_credits', 'adjusted_credits'),
);

/**
 * A tenant's account. Purchases are net of refunds. Free pages are counted here; how many a tenant has in all,
 * its config says.
 */
export type BalanceRow = ReturnType<typeof balanceOf>;

/** What a row of `balanceRows` says. */
export const balanceOf = (row: SqlRow) => {
  const balance = readBalance(row);
  return {
    ...balance,
    plan: plan.parse(row['plan'] ?? 'free'),
    available_credits: balance.balance_credits - balance.held_credits,
    total_credits_purchased: wholeOf(row, 'purchased_credits'),
    total_credits_used: wholeOf(row, 'used_credits'),
    total_credits_adjusted: wholeOf(row, 'adjusted_credits'),
  };
};

/** A tenant's account; undefined for a tenant that does not exist. */
export const balanceOfTenant = finding(
  'select * from read.balances where tenant_id = $1',
  (tenantId: string) => [tenantId],
  balanceOf,
);

/** As `balanceOfTenant` for several tenants: their rows as they are stored, by tenant. */
export const balanceRows =
  (sql: SqlTx) =>
  async (tenantIds: readonly string[]): Promise<ReadonlyMap<string, SqlRow>> => {
    const rows = await sql.query('select * from read.balances where tenant_id = any($1::text[])', [
      tenantIds,
    ]);
    return new Map(rows.map((row) => [textOf(row, 'tenant_id'), row]));
  };

/** A tenant's open holds, oldest first. */
export const openHoldsOfTenant = listing(
  'select * from read.open_holds where tenant_id = $1 order by created_at, hold_id',
  (tenantId: string) => [tenantId],
  rowReader(omit(openHolds.columns, 'tenant_id', 'operation_id', 'free_pages')),
);

/**
 * Holds of all tenants that expired before `now`, oldest first, for the sweeper. The holds of accepted work have no
 * end; those that older releases gave one are closed by the work's own end.
 */
export const expiredHolds = listing(
  `select * from read.open_holds h where expires_at <= $1
     and not exists (select 1 from read.operations o where o.work_id = h.operation_id)
     and not exists (select 1 from read.training_jobs j where j.job_id = h.operation_id)
   order by expires_at, hold_id limit $2`,
  (now: string, limit: number) => [now, limit],
  rowReader(pick(openHolds.columns, 'tenant_id', 'hold_id')),
);

interface TenantsQuery extends Page {
  /** Part of a tenant ID, in any case. */
  readonly search?: string | undefined;
  /** Only tenants with credits who have used none for so many days; new ones count from their beginning. */
  readonly unused_days?: number | undefined;
  readonly now: string;
}

const DAY_MS = 86_400_000;

/** All tenants, newest first. */
export const tenants = paging(
  {
    name: 'tenants',
    sorts: {
      ...sortsBy(balances.columns, 'tenant_id', 'plan', 'balance_credits', 'held_credits'),
      total_credits_purchased: sortBy(balances.columns, 'purchased_credits'),
      total_credits_used: sortBy(balances.columns, 'used_credits'),
      free_pages_remaining: { by: '(-free_pages_used - free_pages_held)', as: 'int8', isOrderOnly: true },
      ...sortsBy(balances.columns, 'created_at', 'last_activity_at', 'last_used_at'),
    },
    searched: { columns: ['tenant_id'] },
    chosen: `from read.balances where ($1::text is null or tenant_id ilike $1)
      and ($2::text is null or (balance_credits > 0 and coalesce(last_used_at, created_at) <= $2))`,
    order: [
      { by: 'created_at', as: 'text' },
      { by: 'tenant_id collate "C"', as: 'text', isAscending: true },
    ],
  },
  ({ search = '', unused_days, now }: TenantsQuery) => [
    search === '' ? null : patternOf(search),
    unused_days === undefined ? null : laterBy(now, -unused_days * DAY_MS),
  ],
  balanceOf,
);

/** All holds that are open, of all tenants; `oldest_at` is null when none is. */
export type OpenHoldsSummary = ReturnType<typeof readSummary>;
const readSummary = rowReader({ count: 'int8', oldest_at: 'text?', expired: 'int8' });

/**
 * The open holds, which are few beside the history: those of work that runs now. A sweeper releases the expired
 * ones within minutes.
 */
export const openHoldsSummary = telling(
  `select count(*) as count, min(created_at) as oldest_at,
     count(*) filter (where expires_at <= $1) as expired from read.open_holds`,
  (now: string) => [now],
  readSummary,
);
