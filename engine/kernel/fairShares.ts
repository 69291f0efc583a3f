/** Pieces of work in line for a few seats, by the share that each belongs to. It has no clock: `nowMs` is given. */
export interface FairShares<Piece> {
  /** Puts a piece at the end of its share's line. */
  add(share: string, piece: Piece, nowMs: number): void;
  /** As `add`, but before what its share has in line. */
  addFirst(share: string, piece: Piece, nowMs: number): void;
  /** Puts a piece that was interrupted at the head of its share's line; its seat is free. */
  putBack(share: string, piece: Piece): void;
  /** Takes a piece that waits out of line. */
  remove(share: string, piece: Piece): void;
  /** The piece that goes next, now on a seat; undefined when none waits. */
  next(): Piece | undefined;
  /** A piece on a seat used so much CPU time, ms, since it was charged last. */
  charge(share: string, cpuMs: number, nowMs: number): void;
  /** A piece on a seat has ended. */
  end(share: string, nowMs: number): void;
  /** Whether a piece waits that should have the seat of one of `share`. */
  shouldYield(share: string): boolean;
  readonly waiting: () => number;
}

/** How long CPU time counts towards the price of more, ms, and in how many steps it is forgotten. */
const WINDOW_MS = 60_000;
const STEPS = 6;
/** A share that used so much in the window pays twice, ms; at most `PRICE_MAX` times. */
const DOUBLE_MS = 20_000;
const PRICE_MAX = 4;

interface Share<Piece> {
  readonly name: string;
  /** CPU time at its price, ms: the share with the least goes next. */
  paid: number;
  seats: number;
  readonly line: Piece[];
  /** CPU time by step of the window, ms. */
  readonly recent: Map<number, number>;
}

const stepAt = (nowMs: number): number => Math.floor(nowMs / (WINDOW_MS / STEPS));

/** CPU time of the last minute, ms. */
const recentMs = ({ recent }: Pick<Share<unknown>, 'recent'>, nowMs: number): number => {
  const oldest = stepAt(nowMs) - STEPS;
  let sum = 0;
  for (const [step, ms] of recent)
    if (step < oldest) recent.delete(step);
    else sum += ms;
  return sum;
};

const priceOf = (usedMs: number): number => Math.min(PRICE_MAX, 1 + usedMs / DOUBLE_MS);

interface Line<Piece> {
  /** In the order of their last turn. */
  readonly shares: Map<string, Share<Piece>>;
  waiting: number;
  /** What the least of the shares at work had paid, at the latest. */
  level: number;
}

const isAtWork = ({ seats, line }: Share<unknown>): boolean => seats > 0 || line.length > 0;

const isBefore = (one: Share<unknown>, other: Share<unknown>): boolean =>
  one.paid === other.paid ? one.seats < other.seats : one.paid < other.paid;

/** Once nobody is at work, what was paid beyond the others is forgotten. */
const raiseLevel = (line: Line<unknown>): void => {
  const all = [...line.shares.values()];
  const busy = all.filter(isAtWork);
  const paid = (some: readonly Share<unknown>[]) => some.map((one) => one.paid);
  const reached = busy.length > 0 ? Math.min(...paid(busy)) : Math.max(0, ...paid(all));
  line.level = Math.max(line.level, reached);
};

const shareOf = <Piece>({ shares }: Line<Piece>, name: string): Share<Piece> => {
  const known = shares.get(name);
  if (known !== undefined) return known;
  const fresh: Share<Piece> = { name, paid: 0, seats: 0, line: [], recent: new Map() };
  shares.set(name, fresh);
  return fresh;
};

/** Forgets shares that are as good as new. */
const forget = ({ shares, level }: Line<unknown>, nowMs: number): void => {
  for (const [name, one] of shares)
    if (!isAtWork(one) && one.paid <= level && recentMs(one, nowMs) === 0) shares.delete(name);
};

/** Shares that are as good are served in turn. */
const toTheEnd = <Piece>({ shares }: Line<Piece>, share: Share<Piece>): void => {
  shares.delete(share.name);
  shares.set(share.name, share);
};

const first = <Piece>({ shares }: Line<Piece>): Share<Piece> | undefined => {
  let best: Share<Piece> | undefined;
  for (const one of shares.values())
    if (one.line.length > 0 && (best === undefined || isBefore(one, best))) best = one;
  return best;
};

/** The share that a piece is to be put in line for, which may have been idle. */
function joining<Piece>(line: Line<Piece>, name: string, nowMs: number): Share<Piece> {
  raiseLevel(line);
  forget(line, nowMs);
  const share = shareOf(line, name);
  if (!isAtWork(share)) {
    share.paid = Math.max(share.paid, line.level);
    toTheEnd(line, share);
  }
  line.waiting += 1;
  return share;
}

function remove<Piece>(line: Line<Piece>, share: Share<Piece>, piece: Piece): void {
  const at = share.line.indexOf(piece);
  if (at < 0) return;
  share.line.splice(at, 1);
  line.waiting -= 1;
}

function next<Piece>(line: Line<Piece>): Piece | undefined {
  const share = first(line);
  const piece = share?.line.shift();
  if (share === undefined || piece === undefined) return undefined;
  share.seats += 1;
  line.waiting -= 1;
  toTheEnd(line, share);
  return piece;
}

function charge(share: Share<unknown>, cpuMs: number, nowMs: number): void {
  share.paid += cpuMs * priceOf(recentMs(share, nowMs));
  const step = stepAt(nowMs);
  share.recent.set(step, (share.recent.get(step) ?? 0) + cpuMs);
}

/**
 * Weighted fair queueing by start time. Each share pays for its CPU time, and more for each millisecond the
 * more it used in the last minute; the share that has paid least goes next, then the one with fewer seats,
 * then the one in line first. A share that comes back has paid at least what the least of those at work
 * has: idleness saves nothing up. So a share alone gets every seat, shares that always wait get the same
 * CPU time, and one that comes from idleness goes before the next piece of any that was at work.
 * Source: Goyal, Vin and Cheng, Start-time Fair Queueing, 1996.
 */
export function fairShares<Piece>(): FairShares<Piece> {
  const line: Line<Piece> = { shares: new Map(), waiting: 0, level: 0 };
  return {
    add: (name, piece, nowMs) => {
      joining(line, name, nowMs).line.push(piece);
    },
    addFirst: (name, piece, nowMs) => {
      joining(line, name, nowMs).line.unshift(piece);
    },
    putBack: (name, piece) => {
      const share = shareOf(line, name);
      share.seats -= 1;
      share.line.unshift(piece);
      line.waiting += 1;
    },
    remove: (name, piece) => remove(line, shareOf(line, name), piece),
    next: () => next(line),
    charge: (name, cpuMs, nowMs) => charge(shareOf(line, name), cpuMs, nowMs),
    end: (name, nowMs) => {
      raiseLevel(line);
      shareOf(line, name).seats -= 1;
      raiseLevel(line);
      forget(line, nowMs);
    },
    shouldYield: (name) => {
      const share = shareOf(line, name);
      const best = first(line);
      return best !== undefined && best !== share && best.paid < share.paid;
    },
    waiting: () => line.waiting,
  };
}
