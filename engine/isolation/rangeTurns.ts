import type { ParseFailure } from '../ports/documentParser.ts';
import type { RangeTurns } from '../ports/extractionEngine.ts';

/** How often somebody who waits for the ranges of others looks for them, ms. */
const LOOK_MS = 1_000;

/** The turns of a process that reads all ranges itself. */
export const aloneIn = (): RangeTurns => {
  const done = new Set<number>();
  const mine = new Set<number>();
  let next = 0;
  return {
    take: ({ ranges, done: ended, most }) => {
      for (const at of ended) {
        done.add(at);
        mine.delete(at);
      }
      for (; next < ranges && mine.size < most; next += 1) mine.add(next);
      return Promise.resolve({ mine: [...mine], done });
    },
    leave: () => Promise.resolve(),
  };
};

/** Ranges of a document, and how one of them is read. */
interface InTurns {
  readonly turns: RangeTurns;
  /** What is made of each range. */
  readonly part: string;
  readonly ranges: number;
  readonly atOnce: number;
  readonly signal: AbortSignal | undefined;
  /** It waits until all are read, whoever reads them. False: it helps, and leaves when none is left to take. */
  readonly waits: boolean;
  /** By its place; a failure where it is not read. */
  readonly read: (at: number) => Promise<ParseFailure | undefined>;
  /** Told which ranges are read by now, whoever read them. */
  readonly onDone: (done: ReadonlySet<number>) => void;
}

const ABORTED: ParseFailure = { kind: 'aborted' };

/** Reads ranges, a few at once, as long as there are any that nobody has. Gives what the first failed with. */
export async function readInTurns({
  turns,
  part,
  ranges,
  atOnce,
  signal,
  waits,
  read,
  onDone,
}: InTurns): Promise<ParseFailure | undefined> {
  const running = new Map<number, Promise<void>>();
  let ended: number[] = [];
  let failure: ParseFailure | undefined;
  let broken: { readonly error: unknown } | undefined;
  const begin = (at: number): void => {
    if (running.has(at)) return;
    const work = read(at)
      .then(
        (failed) => {
          if (failed === undefined) ended.push(at);
          else failure ??= failed;
        },
        (error: unknown) => {
          broken ??= { error };
        },
      )
      .finally(() => running.delete(at));
    running.set(at, work);
  };
  const turn = () => {
    const done = ended;
    ended = [];
    return { part, ranges, done };
  };
  const isOver = (): boolean => failure !== undefined || broken !== undefined || signal?.aborted === true;
  while (!isOver()) {
    const { mine, done } = await turns.take({ ...turn(), most: atOnce });
    if (isOver()) break;
    onDone(done);
    mine.forEach(begin);
    if (running.size > 0) await Promise.race(running.values());
    else if (waits && done.size < ranges) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    else return undefined;
  }
  await Promise.all(running.values());
  // What it has is for others to take at once.
  await turns.leave(turn());
  if (broken !== undefined) throw broken.error;
  return failure ?? ABORTED;
}
