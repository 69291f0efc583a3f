import {
  type Exact,
  noSums,
  onlyRow,
  type Row,
  rowReader,
  type Sum,
  sumsOf,
  table,
  wholeNumericOf,
  wholeOf,
} from './engine/table.ts';
import type { ProjectedEventOf, SqlRow, SqlTx } from './engine/ports.ts';
import { upserting } from './engine/bulk.ts';
import { behindKey, keyColumns, type Listed, orderBy } from './engine/cursor.ts';
import { askableOf, type Page, paging, type RowPage, walked } from './engine/query.ts';
import { sortsBy } from './engine/sorts.ts';
import { sha256 } from '../domain/kernel/chain.ts';
import { type Lot, leftIn, paidFor, type Parcel, partOfTransfer, valueLeft } from '../domain/margin.ts';

/**
 * What changed of each lot by UTC day of booking: credits that are left, net value that is paid for it, and the part
 * of it that is not recognised yet; micro-USD. The rest of what is paid is recognised.
 */
export const marginLotDays = table({
  name: 'margin_lot_days',
  key: ['tenant_id', 'lot_id', 'day'],
  columns: {
    tenant_id: 'sorted',
    lot_id: 'sorted',
    day: 'sorted',
    currency: 'text',
    /** 1 on the day that the lot came. */
    lots: 'int8 add',
    credits: 'int8 add',
    paid: 'numeric add',
    deferred: 'numeric add',
  },
  fillfactor: 50,
});

/** What use recognised by UTC day of booking, tenant, project, key, operation and tags; micro-USD. */
export const marginUses = table({
  name: 'margin_uses',
  key: ['day', 'tenant_id', 'project_id', 'api_key_id', 'operation', 'billing_type', 'tags_key'],
  columns: {
    day: 'sorted',
    tenant_id: 'sorted',
    project_id: 'sorted',
    api_key_id: 'sorted',
    operation: 'sorted',
    billing_type: 'sorted',
    /** Digest of the tags, '' where there are none: as they are they may be too long for an index. */
    tags_key: 'sorted',
    /** As JSON text. */
    tags: 'text',
    last_position: 'position greatest',
    operations: 'int8 add',
    pages: 'int8 add',
    credits: 'int8 add',
    net: 'numeric add',
    fee: 'numeric add',
  },
  fillfactor: 50,
});

type LotDay = Sum<typeof marginLotDays, Exact>;
type Use = Sum<typeof marginUses, Exact>;

/** What a batch changes of lots, and what its uses recognise. */
export interface Recognised {
  readonly lots: Map<string, LotDay>;
  readonly uses: Map<string, Use>;
}

export const nothingRecognised = (): Recognised => ({ lots: new Map(), uses: new Map() });

/** Where a change of a tenant's lots is booked. */
interface BookedOn {
  readonly tenant_id: string;
  readonly booked_at: string;
}

const NO_LOT_DAY = noSums(marginLotDays.columns);
const NO_USE = noSums(marginUses.columns);

interface Change {
  readonly before: Lot | undefined;
  readonly after: Lot;
  /** Credits that go to another tenant take what was paid for them along. */
  readonly isTransfer: boolean;
}

const standOf = (lot: Lot | undefined) =>
  lot === undefined
    ? { lots: 0n, credits: 0, deferred: 0n }
    : { lots: 1n, credits: leftIn(lot), deferred: valueLeft(lot).net };

const addChange = (
  { lots }: Recognised,
  { tenant_id, booked_at }: BookedOn,
  { before, after, isTransfer }: Change,
): LotDay => {
  const { lot_id, currency } = after;
  const day = booked_at.slice(0, 10);
  const key = `${tenant_id} ${day} ${lot_id}`;
  const sum = lots.get(key) ?? { ...NO_LOT_DAY, tenant_id, lot_id, day, currency };
  lots.set(key, sum);
  const was = standOf(before);
  sum.lots += 1n - was.lots;
  sum.credits += BigInt(leftIn(after) - was.credits);
  const deferred = valueLeft(after).net - was.deferred;
  sum.deferred += deferred;
  if (isTransfer) {
    sum.paid += deferred;
    return sum;
  }
  // Use moves no money: what is paid is looked at only where it may have changed.
  const isPaidAsBefore =
    before?.money === after.money && before.refunded === after.refunded && before.booking === after.booking;
  if (!isPaidAsBefore) sum.paid += paidFor(after) - (before === undefined ? 0n : paidFor(before));
  return sum;
};

/**
 * Credits on their way belong to who receives them, as the lots that they may become: from when they leave (`sign` 1)
 * until they arrive (−1) and are lots. By clocks that differ that may be on another day.
 */
export const noteParcels = (
  { lots }: Recognised,
  { tenant_id, booked_at }: BookedOn,
  { transfer_id, parcels, sign }: { transfer_id: string; parcels: readonly Parcel[]; sign: 1n | -1n },
): void => {
  for (const [part, { currency, credits, values }] of parcels.entries()) {
    const lot_id = partOfTransfer(transfer_id, part);
    const day = booked_at.slice(0, 10);
    const key = `${tenant_id} ${day} ${lot_id}`;
    const sum = lots.get(key) ?? { ...NO_LOT_DAY, tenant_id, lot_id, day, currency };
    lots.set(key, sum);
    sum.lots += sign;
    sum.credits += sign * BigInt(credits);
    sum.paid += sign * values.net;
    sum.deferred += sign * values.net;
  }
};

interface Changes {
  readonly before: readonly Lot[];
  readonly after: readonly Lot[];
  /** Of a transfer: what is recognised of credits that arrive where some are missing, micro-USD. */
  readonly recognisedOnArrival?: bigint | undefined;
}

/** Adds what an event changed of a tenant's lots. Those that it left alone are the same objects, mostly in place. */
export const noteLots = (
  recognised: Recognised,
  at: BookedOn,
  { before, after, recognisedOnArrival }: Changes,
): void => {
  if (before === after) return;
  const isTransfer = recognisedOnArrival !== undefined;
  let atOnce = recognisedOnArrival ?? 0n;
  for (const [place, lot] of after.entries()) {
    if (before[place] === lot || before.includes(lot)) continue;
    const known = before.find(({ lot_id }) => lot_id === lot.lot_id);
    addChange(recognised, at, { before: known, after: lot, isTransfer }).paid += atOnce;
    atOnce = 0n;
  }
};

/** What one operation recognised. */
interface UsedNow extends BookedOn {
  readonly net: bigint;
  readonly fee: bigint;
}

/** Adds one operation that was paid for. */
export const noteUse = (
  { uses }: Recognised,
  { data, position }: ProjectedEventOf<'CreditsBurned'>,
  { tenant_id, booked_at, net, fee }: UsedNow,
): void => {
  const { project_id, operation, billing_type, api_key_id, pages, free_pages, credits } = data;
  const day = booked_at.slice(0, 10);
  const tags = JSON.stringify(data.tags ?? {});
  const tags_key = data.tags === undefined ? '' : sha256(tags);
  const key = `${day} ${tenant_id} ${operation} ${billing_type} ${api_key_id ?? ''} ${tags_key} ${project_id}`;
  const known = uses.get(key);
  const use = known ?? {
    ...NO_USE,
    day,
    tenant_id,
    project_id,
    api_key_id: api_key_id ?? '',
    operation,
    billing_type,
    tags_key,
    tags,
    last_position: position,
  };
  if (known === undefined) uses.set(key, use);
  if (position > use.last_position) use.last_position = position;
  use.operations += 1n;
  use.pages += BigInt(pages - free_pages);
  use.credits += BigInt(credits);
  use.net += net;
  use.fee += fee;
};

const addLotDays = upserting(marginLotDays);
const addUses = upserting(marginUses);

/** Writes what a batch changed. */
export const saveRecognised = async (
  tx: SqlTx,
  schema: string,
  { lots, uses }: Recognised,
): Promise<void> => {
  await addLotDays(tx, schema, [...lots.values()]);
  await addUses(tx, schema, [...uses.values()]);
};

/** What one row of the report stands for: the credits given and sold of a tenant, a currency, or single lots. */
export const DEFERRED_BY = ['tenant', 'currency', 'lot'] as const;
export type DeferredBy = (typeof DEFERRED_BY)[number];

interface DeferredAsked {
  readonly by: DeferredBy;
  /** Booked on this UTC day or earlier. */
  readonly on: string;
}

/** The columns that make a row; given credits have no currency, and rows of their own. */
const KEYS: Readonly<Record<DeferredBy, readonly string[]>> = {
  tenant: ['tenant_id'],
  currency: ['currency'],
  lot: ['tenant_id', 'lot_id', 'currency'],
};

const DIMENSIONS = ['tenant_id', 'lot_id', 'currency'] as const;
const SUMS = sumsOf(marginLotDays.columns);
const GIVEN = `case when currency = '' then 'given' else 'sold' end`;

/** Where a page begins, in the order of the table's key: rows before it are not read. */
const BEGINS: Readonly<Record<DeferredBy, string>> = {
  tenant: 'and tenant_id >= $2',
  currency: '',
  lot: 'and (tenant_id, lot_id) >= ($2, $3)',
};

/** Rows that a page skips at its beginning, at most: given and sold credits of one tenant. */
const SKIPPED_MAX = 2;

const grouped = (by: DeferredBy, from: string, end: string): string => {
  const given = DIMENSIONS.map((name) => `${KEYS[by].includes(name) ? name : "''::text"} as ${name}`);
  return `(
    select ${[...given, `${GIVEN} as kind`, ...SUMS.map((name) => `sum(${name})::numeric as ${name}`)].join(', ')}
    from read.margin_lot_days where day <= $1 ${from}
    group by ${[...KEYS[by], GIVEN].join(', ')} ${end}
  ) g`;
};

const ORDER: Listed['order'] = [...DIMENSIONS, 'kind'].map((name) => ({
  by: `g.${name} collate "C"`,
  as: 'text',
  isAscending: true,
}));

const pageBy = (by: DeferredBy, hasPlace: boolean): string => {
  const [limit, offset] = hasPlace ? ['$6', '0'] : ['$2', '$3::int8'];
  const inOrder = [...KEYS[by], GIVEN].join(', ');
  const end = `order by ${inOrder} limit ${limit} + ${offset} + ${String(SKIPPED_MAX)}`;
  return `select g.*, ${keyColumns({ order: ORDER })} from ${grouped(by, hasPlace ? BEGINS[by] : '', end)}
    ${hasPlace ? `where ${behindKey({ order: ORDER }, 2)}` : ''} order by ${orderBy({ order: ORDER })}
    limit ${limit} offset ${offset}`;
};

const readDeferred = rowReader({
  tenant_id: 'text',
  lot_id: 'text',
  currency: 'text',
  kind: 'text',
  lots: 'numeric',
  credits: 'numeric',
  paid: 'numeric',
  deferred: 'numeric',
});

const ANY_ORDER = {
  sorts: {
    ...Object.fromEntries(
      DIMENSIONS.map((name) => [
        name,
        { by: `(nullif(${name}, '') collate "C")`, as: 'text', isNullable: true } as const,
      ]),
    ),
    ...sortsBy({ lots: 'numeric', kind: 'text' }, 'kind', 'lots'),
    credits_left: { by: 'credits', as: 'numeric' },
    paid_usd: { by: 'paid', as: 'numeric' },
    recognised_usd: { by: '(paid - deferred)', as: 'numeric' },
    deferred_usd: { by: 'deferred', as: 'numeric' },
  },
  searched: { columns: DIMENSIONS },
} as const;

const inAnyOrder = (by: DeferredBy) =>
  paging(
    {
      ...ANY_ORDER,
      name: `deferred-${by}`,
      order: ORDER,
      columns: 'g.*',
      chosen: `from ${grouped(by, '', '')} where true`,
    },
    ({ on }: DeferredAsked & Page) => [on],
    readDeferred,
  );

const deferredPages =
  (sql: SqlTx) =>
  (asked: DeferredAsked & Page): Promise<RowPage<DeferredRow>> => {
    const { by, on } = asked;
    if ([asked.sort, asked.q, asked.filter].some((one) => one !== undefined))
      return inAnyOrder(by)(sql)(asked);
    return walked({ name: `deferred-${by}`, order: ORDER }, asked, {
      find: async ({ limit, place }) => {
        if (place !== undefined)
          return { rows: await sql.query(pageBy(by, true), [on, ...place.key, limit]), total: place.total };
        const rows = await sql.query(pageBy(by, false), [on, limit, asked.offset]);
        const count = await sql.query(`select count(*) as total from ${grouped(by, '', '')}`, [on]);
        return { rows, total: wholeOf(onlyRow(count), 'total') };
      },
      read: readDeferred,
    });
  };

/** Value that is paid, and the part of it that is not recognised, by what is asked; micro-USD and whole credits. */
export const deferredRevenue = Object.assign(deferredPages, askableOf(ANY_ORDER));

const ALL = `select ${SUMS.map((name) => `coalesce(sum(${name}), 0)::numeric as ${name}`).join(', ')}
  from read.margin_lot_days where day <= $1`;

const readSums = (row: SqlRow) => ({
  credits: wholeNumericOf(row, 'credits'),
  paid: wholeNumericOf(row, 'paid'),
  deferred: wholeNumericOf(row, 'deferred'),
});

/** The same of all lots together. */
export const deferredTotals =
  (sql: SqlTx) =>
  async (on: string): Promise<ReturnType<typeof readSums>> =>
    readSums(onlyRow(await sql.query(ALL, [on])));

type DeferredRow = ReturnType<typeof readDeferred>;
export type UseRow = Row<typeof marginUses>;
