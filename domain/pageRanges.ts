import { z } from 'zod';
import { accept, type Command, type Decider, event, reject, type StreamKind } from './kernel/decider.ts';
import { instant, tenantId } from './kernel/amounts.ts';

/** The place of a range in its document, from 0. */
const place = z.number().int().min(0);

/** A worker that reads ranges: it is gone once its lease was watched unchanged for its whole time. */
const reader = z.strictObject({
  lease_id: z.string(),
  worker: z.string(),
  lease_until: instant,
  /** How long the lease is given for, ms. */
  lease_ms: z.number().int().min(1),
  /** Turns that it took, from 1: with each of them its lease is a new one. */
  turns: z.number().int().min(1),
  ranges: z.array(place).min(1),
});

/**
 * A worker told which ranges of a long document it has read, and took others. Each event says all that is known, so
 * that the last one is all that a worker has to read. No credits move: the operation is held for and settled whole.
 */
const pageRangesTaken = event('PageRangesTaken', {
  operation_id: z.string(),
  tenant_id: tenantId,
  /** What is made of each range, by its name among the parts of the document. */
  part: z.string(),
  /** Ranges of the document. */
  ranges: z.number().int().min(1),
  /** Those that were read, in order; both ends count. */
  done: z.array(z.strictObject({ from: place, to: place })),
  /** Those who read at this moment. */
  readers: z.array(reader),
  taken_at: instant,
});

export const pageRangesEvent = z.discriminatedUnion('type', [pageRangesTaken]);
type PageRangesEvent = z.output<typeof pageRangesEvent>;
type Taken = PageRangesEvent['data'];
export type RangeReader = Taken['readers'][number];

export const pageRangesStream = (operationId: string): string => `pageRanges-${operationId}`;

/** `readers` of whom `lost` says that they are gone lose what they have. */
export type TakeRanges = Command<
  'TakeRanges',
  Pick<Taken, 'operation_id' | 'tenant_id' | 'part' | 'ranges'> &
    Pick<RangeReader, 'lease_id' | 'worker' | 'lease_until' | 'lease_ms'> & {
      /** Read by this worker since its last turn. */
      readonly done: readonly number[];
      /** It takes others until it has so many; those that it has are its own whatever this is. */
      readonly most: number;
      /** It gives back what it has. */
      readonly leaves: boolean;
      /** The marks (`readerMark`) of those that this worker has watched for the whole time of their lease. */
      readonly lost: ReadonlySet<string>;
      /** It owns the operation, and may begin the document, or begin it anew for another part. */
      readonly isOwner: boolean;
    }
>;

interface PageRangesState extends Pick<Taken, 'part' | 'ranges'> {
  readonly done: ReadonlySet<number>;
  readonly readers: readonly RangeReader[];
}

/** Nobody has begun this part of the document, or another one is made of it now. */
interface PageRangesRejection {
  readonly code: 'other_part';
}

export type PageRangesKind = StreamKind<
  PageRangesState | null,
  TakeRanges,
  PageRangesEvent,
  PageRangesRejection
>;

/** What changes with every turn of a reader. */
export const readerMark = ({ lease_id, turns }: Pick<RangeReader, 'lease_id' | 'turns'>): string =>
  `${lease_id}|${String(turns)}`;

/** Places as runs of neighbours. */
const runsOf = (places: ReadonlySet<number>): Taken['done'] => {
  const runs: { from: number; to: number }[] = [];
  for (const at of [...places].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last?.to === at - 1) last.to = at;
    else runs.push({ from: at, to: at });
  }
  return runs;
};

const placesIn = (runs: Taken['done']): ReadonlySet<number> =>
  new Set(runs.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i)));

/** The document as it stands for a worker; null: it may not begin it. */
const standing = (state: PageRangesState | null, { data }: TakeRanges): PageRangesState | null => {
  const { part, ranges, isOwner } = data;
  if (state?.part === part && state.ranges === ranges) return state;
  return isOwner ? { part, ranges, done: new Set(), readers: [] } : null;
};

/** The ranges that a worker has after its turn: those that it had and has not read, then the first that are free. */
const rangesAfter = (
  own: RangeReader | undefined,
  { most, leaves, ranges }: TakeRanges['data'],
  isTaken: (at: number) => boolean,
): readonly number[] => {
  if (leaves) return [];
  const kept = (own?.ranges ?? []).filter((at) => !isTaken(at));
  const has = new Set(kept);
  for (let at = 0; at < ranges && has.size < most; at += 1) if (!isTaken(at)) has.add(at);
  return [...has].sort((a, b) => a - b);
};

/**
 * Who reads which range of a long document. A range has one reader at a time, and once it is read nobody takes it
 * again, whoever tells it how often. A reader that is gone loses its ranges and no others.
 */
export const pageRanges: Decider<PageRangesKind> = {
  initialState: null,
  saysAll: true,
  decide: (state, command) => {
    const before = standing(state, command);
    if (before === null) return reject({ code: 'other_part' });
    const { data, meta } = command;
    const { operation_id, tenant_id, part, ranges, lease_id, worker, lease_until, lease_ms } = data;
    const own = before.readers.find((one) => one.lease_id === lease_id);
    const done = new Set([...before.done, ...data.done.filter((at) => at < ranges)]);
    const others = before.readers
      .filter((one) => one !== own && !data.lost.has(readerMark(one)))
      // One who lost a range to another may have read it all the same.
      .map((one) => ({ ...one, ranges: one.ranges.filter((at) => !done.has(at)) }))
      .filter((one) => one.ranges.length > 0);
    const theirs = new Set(others.flatMap((one) => one.ranges));
    const has = rangesAfter(own, data, (at) => done.has(at) || theirs.has(at));
    const isSame =
      before === state && own === undefined && has.length === 0 && done.size === before.done.size;
    if (isSame) return accept();
    const lease = { lease_id, worker, lease_until, lease_ms, turns: (own?.turns ?? 0) + 1 };
    const readers = has.length === 0 ? others : [...others, { ...lease, ranges: [...has] }];
    const told = { part, ranges, done: runsOf(done), readers, taken_at: meta.now };
    return accept({ type: 'PageRangesTaken', data: { operation_id, tenant_id, ...told } });
  },
  evolve: (_state, { data: { part, ranges, done, readers } }) => ({
    part,
    ranges,
    done: placesIn(done),
    readers,
  }),
};
