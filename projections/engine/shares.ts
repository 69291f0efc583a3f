import { type Delivered, textOfWitness } from './arrivals.ts';
import { isByTenant, ownerOf, recordedFor } from './owners.ts';
import type { Arrival } from './arrivals.ts';
import type { SqlRow, SqlTx } from './ports.ts';
import {
  CheckpointMoved,
  type CheckpointMove,
  type Generation,
  NOW,
  placeIn,
  type Share,
  type Slot,
} from './registry.ts';
import { type Projector, wholeOf } from './table.ts';

/** A read model whose rows are each of one tenant: shares of tenants fill its tables beside each other. */
export const isSpread = (projector: Projector): boolean =>
  isByTenant(projector) && projector.tables.every(({ rowsOf }) => rowsOf !== 'shared');

const [BASE, PRIME] = [0x811c9dc5, 0x01000193] as const;

/** Tenants have so many places. */
const PLACES = 2 ** 20;

/** The place of a tenant: FNV-1a of its name. */
const placeOf = (tenant: string): number => {
  let hash: number = BASE;
  for (let at = 0; at < tenant.length; at += 1) hash = Math.imul(hash ^ tenant.charCodeAt(at), PRIME);
  // The last bits of a product know only the last bits of its factors.
  return ((hash ^ (hash >>> 15)) >>> 0) % PLACES;
};

/** What the read models that are filled as a whole take, of what all others take: see benchmarks. */
const WHOLE_WORK = 0.3;

/**
 * Shares for so many workers: equal ones, but the first, whose worker has the read models that are filled as a whole
 * beside it. Where these are as much work as a share, it has no tenants, and there is one share less.
 */
export const sharesFor = (workers: number, hasWhole: boolean): readonly Share[] => {
  const extra = hasWhole ? WHOLE_WORK : 0;
  const first = Math.max(0, (1 + extra) / workers - extra);
  const sizes = Array.from({ length: workers }, (_, at) => (at === 0 ? first : (1 - first) / (workers - 1)));
  const ends = sizes.map((_, at) => sizes.slice(0, at + 1).reduce((sum, size) => sum + size, 0));
  const borders = [0, ...ends.slice(0, -1).map((end) => Math.round(end * PLACES)), PLACES];
  const ranges = borders.slice(1).map((to, at) => ({ from: borders[at] ?? 0, to }));
  const used = ranges.filter(({ from, to }) => from < to);
  return used.map((range, at) => ({ at, of: used.length, ...range }));
};

/** Whether a share has the events of a tenant. */
const isIn = ({ from, to }: Share, tenant: string): boolean => {
  const place = placeOf(tenant);
  return place >= from && place < to;
};

/** Whether a share of a read model takes an event. Throws where it is of no tenant: every share would need it. */
export const isOwn = (share: Share, projector: Projector, arrival: Arrival): boolean => {
  const owner = ownerOf(projector, arrival);
  if (owner !== null) return isIn(share, owner);
  const { type = 'an event', id = '' } = arrival.recorded ?? {};
  throw new Error(`${projector.name}: ${type} ${id} is of no tenant: rebuild this read model without shares`);
};

/**
 * Tells of an event, before it is decoded, that none of some slots takes it because its tenant is of another share;
 * undefined where all events are theirs.
 */
export const leftToOthers = (slots: readonly Slot[]): ((recorded: Delivered) => boolean) | undefined => {
  const share = slots.find(({ generation }) => generation.share !== undefined)?.generation.share;
  if (share === undefined) return undefined;
  const isByName = ({ projector, generation }: Slot) =>
    generation.share !== undefined && projector.ownerOf === undefined;
  const others = slots.filter((slot) => !isByName(slot));
  const needed = new Set<string>(others.flatMap(({ projector }) => projector.eventTypes));
  return (recorded) => {
    if (needed.has(recorded.type)) return false;
    const owner = recordedFor(recorded);
    return owner !== null && !isIn(share, owner);
  };
};

/** Whether generations are filled by these shares, and no other. */
export const areOf = (filled: readonly Generation[], shares: readonly Share[]): boolean =>
  filled.length === shares.length &&
  shares.every(({ from, to }, at) => filled[at]?.share?.from === from && filled[at].share.to === to);

/**
 * The name of the log beside the checkpoint of a generation that shares fill. No log has it: who knows nothing of
 * shares takes these rows for those of another log, and does not go on with them.
 */
const SHARED_OUT = 'in shares';

const shareIn = (generation: Generation, row: SqlRow): Generation => ({
  ...generation,
  ...placeIn(row),
  share: {
    at: wholeOf(row, 'share'),
    of: wholeOf(row, 'shares'),
    from: wholeOf(row, 'from_place'),
    to: wholeOf(row, 'to_place'),
  },
});

/** The shares that fill a generation, each with its own position; none: it is filled as a whole. */
export const sharesIn = async (
  sql: SqlTx,
  generation: Generation,
  { isLocked = false }: { readonly isLocked?: boolean } = {},
): Promise<readonly Generation[]> => {
  const rows = await sql.query(
    `select * from projections.shares where name = $1 and generation = $2 order by share
     ${isLocked ? 'for update' : ''}`,
    [generation.name, generation.generation],
  );
  return rows.map((row) => shareIn(generation, row));
};

/** Forgets the shares of generations that nobody fills any more. */
export const dropShares = async (sql: SqlTx): Promise<void> => {
  await sql.query(
    `delete from projections.shares s where not exists (select 1 from projections.registry r
       where r.name = s.name and r.generation = s.generation and r.state = 'rebuilding')`,
  );
};

/** Lets shares fill a generation that is empty. Call it in a transaction that holds `lockRegistry`. */
export const openShares = async (
  tx: SqlTx,
  { name, generation }: Generation,
  shares: readonly Share[],
): Promise<void> => {
  await tx.query(
    `insert into projections.shares (name, generation, share, shares, from_place, to_place)
     select $1, $2, * from unnest($3::int4[], $4::int4[], $5::int4[], $6::int4[])`,
    [
      name,
      generation,
      shares.map(({ at }) => at),
      shares.map(({ of }) => of),
      shares.map(({ from }) => from),
      shares.map(({ to }) => to),
    ],
  );
  await tx.query(
    `update projections.registry set position = 0, log_id = $3, witness = null, updated_at = ${NOW}
     where name = $1 and generation = $2`,
    [name, generation, SHARED_OUT],
  );
};

const MOVE = `
  update projections.shares s
  set position = u.to_position, events_applied = s.events_applied + u.applied,
    log_id = coalesce(u.log_id, s.log_id), witness = u.witness
  from unnest($1::text[], $2::int4[], $3::int4[], $4::int8[], $5::int8[], $6::int8[], $7::text[], $8::text[])
    as u(name, generation, share, from_position, to_position, applied, log_id, witness)
  where s.name = u.name and s.generation = u.generation and s.share = u.share
    and s.position is not distinct from u.from_position
    and exists (select 1 from projections.registry r
      where r.name = s.name and r.generation = s.generation and r.state = 'rebuilding')
  returning s.name`;

/** As `moveCheckpoints`, for shares. */
export const moveShares = async (tx: SqlTx, moves: readonly CheckpointMove[]): Promise<void> => {
  if (moves.length === 0) return;
  const moved = await tx.query(MOVE, [
    moves.map(({ generation }) => generation.name),
    moves.map(({ generation }) => generation.generation),
    moves.map(({ generation }) => generation.share?.at ?? null),
    moves.map(({ generation }) => generation.position),
    moves.map(({ to }) => to),
    moves.map(({ applied }) => applied),
    moves.map(({ generation }) => generation.logId),
    moves.map(({ to, witness }) => textOfWitness(to, witness)),
  ]);
  if (moved.length !== moves.length)
    throw new CheckpointMoved(`moved ${String(moved.length)} of ${String(moves.length)} shares`);
};

/**
 * Makes one generation of its shares, all of which have to be at `position`: its checkpoint is theirs. Call it in a
 * transaction that holds `lockRegistry`. Throws CheckpointMoved.
 */
export const joinShares = async (tx: SqlTx, generation: Generation, position: bigint): Promise<void> => {
  const shares = await sharesIn(tx, generation, { isLocked: true });
  const [first] = shares;
  if (first === undefined || shares.length !== first.share?.of)
    throw new CheckpointMoved(`the shares of ${generation.name} were joined or begun anew meanwhile`);
  const late = shares.find((one) => one.position !== position);
  if (late !== undefined)
    throw new CheckpointMoved(`a share of ${generation.name} is at ${String(late.position)}`);
  const joined = await tx.query(
    `update projections.registry r set position = $3, log_id = $4, witness = $5, updated_at = ${NOW},
       events_applied = r.events_applied + (select coalesce(sum(s.events_applied), 0) from projections.shares s
         where s.name = r.name and s.generation = r.generation)::int8
     where r.name = $1 and r.generation = $2 and r.state = 'rebuilding' and r.log_id = $6 returning r.name`,
    [
      generation.name,
      generation.generation,
      position,
      first.logId,
      textOfWitness(position, first.witness),
      SHARED_OUT,
    ],
  );
  if (joined.length === 0) throw new CheckpointMoved(`${generation.name} is not rebuilt by shares any more`);
  await tx.query('delete from projections.shares where name = $1 and generation = $2', [
    generation.name,
    generation.generation,
  ]);
};
