import { fairShares, type FairShares } from '../../kernel/fairShares.ts';

interface Piece {
  readonly share: string;
  readonly costMs: number;
}

interface Ran extends Piece {
  readonly startMs: number;
}

/** Seats of a machine with a core each: pieces run to their end, and are charged what they cost. */
export const machine = (seats: number) => {
  const line: FairShares<Piece> = fairShares();
  const running: (Ran & { readonly endMs: number })[] = [];
  const ran: Ran[] = [];
  let nowMs = 0;
  const fill = () => {
    while (running.length < seats) {
      const piece = line.next();
      if (piece === undefined) return;
      ran.push({ ...piece, startMs: nowMs });
      running.push({ ...piece, startMs: nowMs, endMs: nowMs + piece.costMs });
    }
  };
  return {
    ran,
    running,
    now: () => nowMs,
    waiting: line.waiting,
    add: (share: string, costMs: number) => {
      line.add(share, { share, costMs }, nowMs);
      fill();
    },
    /** To the end of the piece that ends next; false where none runs. */
    step: (): boolean => {
      running.sort((a, b) => a.endMs - b.endMs);
      const done = running.shift();
      if (done === undefined) return false;
      nowMs = done.endMs;
      line.charge(done.share, done.costMs, nowMs);
      line.end(done.share, nowMs);
      fill();
      return true;
    },
  };
};
