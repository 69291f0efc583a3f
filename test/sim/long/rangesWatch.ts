import { isDeepStrictEqual } from 'node:util';
import { pageRanges, spelledPages } from '@quire/engine/document/pages';
import type { ProjectedEventOf } from '../../../projections/engine/ports.ts';
import type { FileFacts } from '../env.ts';
import type { SeenRanges, started, Work } from '../known.ts';
import type { WatchDeps } from '../told.ts';

type Known = ReturnType<typeof started>;
type Taken = ProjectedEventOf<'PageRangesTaken'>['data'];

/** What a long document was read as. */
interface Read {
  readonly pages: number;
  readonly ranges?: readonly { readonly pages: string; readonly lead: string | null }[];
}

const spelledRanges = (pages: number): readonly string[] =>
  pageRanges(Array.from({ length: pages }, (_, i) => i + 1)).map(spelledPages);

/** Watches who reads which range of a long document, and that each is in its result, once and in order. */
export const rangesWatch = (
  { sched }: Pick<WatchDeps, 'sched'>,
  {
    say,
    known,
    tagOf,
  }: {
    readonly say: (id: string, text: string) => void;
    readonly known: () => Known;
    /** Of the file that an operation was asked for. */
    readonly tagOf: (work: Work) => string | undefined;
  },
) => {
  const holdersIn = (id: string, { readers }: Taken): ReadonlyMap<number, string> => {
    const holders = new Map<number, string>();
    for (const { lease_id, ranges } of readers)
      for (const at of ranges) {
        if (holders.has(at)) say('range-held-twice', `range ${String(at)} of ${id} has two readers`);
        holders.set(at, lease_id);
      }
    return holders;
  };
  const checkReaders = (id: string, data: Taken, before: SeenRanges | undefined): void => {
    const holders = holdersIn(id, data);
    for (const [lease, { ranges, until }] of before?.readers ?? [])
      for (const at of ranges)
        if (holders.has(at) && holders.get(at) !== lease && until > sched.nowMs())
          say(
            'live-range-taken',
            `range ${String(at)} of ${id} was taken from a reader whose lease was good`,
          );
  };
  const checkDone = (
    id: string,
    { readers }: Taken,
    { before, now }: { readonly before: SeenRanges | undefined; readonly now: ReadonlySet<number> },
  ): void => {
    for (const at of before?.done ?? [])
      if (!now.has(at))
        say('range-forgotten', `range ${String(at)} of ${id} was read, and is to be read again`);
    for (const at of readers.flatMap(({ ranges }) => ranges))
      if (now.has(at)) say('range-taken-again', `range ${String(at)} of ${id} was read`);
  };
  const done = (runs: Taken['done']): ReadonlySet<number> =>
    new Set(runs.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i)));

  return {
    taken: (data: Taken): void => {
      const id = data.operation_id;
      const before = known().ranges.get(id);
      checkReaders(id, data, before);
      const now = done(data.done);
      checkDone(id, data, { before, now });
      const readers = data.readers.map(({ lease_id, ranges, lease_ms, turns }) => {
        const same = before?.readers.get(lease_id);
        const isSame = same !== undefined && same.turns === turns;
        return [lease_id, { ranges, turns, until: isSame ? same.until : sched.nowMs() + lease_ms }] as const;
      });
      known().ranges.set(id, { done: now, readers: new Map(readers) });
    },
    /** Where nothing but deaths goes wrong, nothing that was read is read again. */
    reads: ({ tag, pages }: FileFacts, range: string): void => {
      if (sched.taken.some(({ deviation }) => deviation.kind !== 'kill')) return;
      const at = spelledRanges(pages).indexOf(range);
      for (const work of known().works.values())
        if (tagOf(work) === tag && known().ranges.get(work.id)?.done.has(at) === true)
          say('range-read-again', `range ${range} of ${work.id} was read before`);
    },
    /** A result that was paid for. */
    delivered: (work: Work, result: string): void => {
      const { pages, ranges } = JSON.parse(result) as Read;
      if (ranges === undefined) return;
      const expected = spelledRanges(work.accepted?.pages ?? pages);
      const leads = [null, ...expected.slice(0, -1)];
      const whole = expected.map((one, at) => ({ pages: one, lead: leads[at] ?? null }));
      const is = ranges.map((one) => ({ pages: one.pages, lead: one.lead }));
      if (!isDeepStrictEqual(is, whole))
        say('ranges-wrong', `${work.id} is of the ranges ${JSON.stringify(is)}`);
    },
  };
};
