import type { KeptFile } from '../../ports/documentParser.ts';
import type { JobFile, JobOutcome } from './jobs.ts';
import { startChild, type Child, type JobLimits, type ChildOptions } from './childProcess.ts';
import {
  idleChildren,
  keptChildren,
  type UsedChild,
  type Keeping,
  type IdleChildren,
  type KeptChildren,
} from './idleChildren.ts';
import { fairShares, type FairShares } from '../../kernel/fairShares.ts';

/** Limits of a job, and whose it is. */
export interface PoolLimits extends JobLimits {
  /** Whose work it is: processes are given out by it. */
  readonly share: string;
  /** As in `ParseRequest`. */
  readonly kept?: KeptFile | undefined;
}

/** The file that the request of a piece of work keeps open. */
export interface FileOfPiece {
  readonly kept: KeptFile;
  /** undefined where the piece itself needs no file. */
  readonly path: string | undefined;
}

/** A job from its arrival to its end: it waits, runs, and may be paused and run again. */
export interface Piece {
  readonly share: string;
  readonly file: FileOfPiece | undefined;
  readonly limits: JobLimits;
  /** The child that does it; undefined before it began. */
  readonly used: () => UsedChild | undefined;
  /** What its child kept open when it began. */
  readonly keeping: () => Keeping | undefined;
  readonly begin: (given: GivenChild) => Promise<JobOutcome>;
  readonly pause: () => void;
  readonly resume: () => void;
  /** How long it has run since it got its seat, ms. */
  readonly sliceMs: () => number;
  /** CPU time since the last call, ms; time by the clock where that cannot be told. */
  readonly usedMs: () => number;
  /** What `usedMs` has told of, ms. */
  readonly toldMs: () => number;
}

/** A child for a piece of work. */
export interface GivenChild {
  readonly used: UsedChild;
  /** The file of the piece's request, where the child keeps it open. */
  readonly keeping: Keeping | undefined;
}

const fileOf = (job: unknown, kept: KeptFile | undefined): FileOfPiece | undefined => {
  const { file } = job as { readonly file?: Pick<JobFile, 'path'> };
  return kept && { kept, path: file?.path };
};

export function pieceOf(job: unknown, { share, kept, ...limits }: PoolLimits): Piece {
  let used: UsedChild | undefined;
  let keeping: Keeping | undefined;
  let seatedAt = 0;
  let told = { atMs: 0, cpuMs: 0 };
  let toldMs = 0;
  const childOf = (): Child | undefined => used?.child;
  return {
    share,
    file: fileOf(job, kept),
    limits,
    used: () => used,
    keeping: () => keeping,
    begin: ({ used: { child, jobs }, keeping: given }) => {
      used = { child, jobs: jobs + 1 };
      keeping = given;
      seatedAt = performance.now();
      told = { atMs: seatedAt, cpuMs: child.cpuMs() ?? 0 };
      return child.run(job, { ...limits, isKept: keeping !== undefined });
    },
    pause: () => childOf()?.pause(),
    resume: () => {
      seatedAt = performance.now();
      told = { ...told, atMs: seatedAt };
      childOf()?.resume();
    },
    sliceMs: () => performance.now() - seatedAt,
    usedMs: () => {
      const atMs = performance.now();
      const cpuMs = childOf()?.cpuMs();
      const since = cpuMs === undefined ? atMs - told.atMs : cpuMs - told.cpuMs;
      told = { atMs, cpuMs: cpuMs ?? told.cpuMs };
      toldMs += Math.max(0, since);
      return Math.max(0, since);
    },
    toldMs: () => toldMs,
  };
}

/** Files that children opened, and keep open. */
export interface Openings {
  /** Since the pool was opened. */
  readonly opened: number;
  /** Jobs that went on with a file that was open, since then. */
  readonly wentOn: number;
  /** Kept open now. */
  readonly kept: number;
}

/** Jobs that gave way to others. */
export interface Pauses {
  /** Paused now. */
  readonly jobs: number;
  /** Time that jobs were paused since the pool was opened, those of now with it, ms. */
  readonly totalMs: number;
}

/** Told of CPU time that a share used, ms. */
export type Charged = (share: string, cpuMs: number) => void;

/** A job, and who is told of its end. */
export interface Entry {
  readonly piece: Piece;
  readonly settle: (outcome: JobOutcome) => void;
}

/** What a pool knows of its children and jobs. */
export interface Pool {
  readonly options: ChildOptions & { readonly processes: number };
  readonly sliceMs: number;
  readonly pausedMax: number;
  readonly idle: IdleChildren;
  readonly kept: KeptChildren;
  /** Jobs without a process, and paused ones. */
  readonly line: FairShares<Entry>;
  readonly waiting: Set<Entry>;
  readonly running: Set<Entry>;
  /** With the time since which they are. */
  readonly paused: Map<Entry, number>;
  /** Time of the pauses that have ended, ms. */
  pausedMs: number;
  readonly charged: Set<Charged>;
  opened: number;
  wentOn: number;
  /** Processes in a row that ended before they were loaded. */
  failedStarts: number;
  recheck: NodeJS.Timeout | undefined;
  closed: boolean;
}

export function pausesOf({ paused, pausedMs }: Pool): Pauses {
  const now = performance.now();
  return {
    jobs: paused.size,
    totalMs: [...paused.values()].reduce((ms, since) => ms + now - since, pausedMs),
  };
}

/** False for a job that was not paused. */
export function endPause(pool: Pool, entry: Entry): boolean {
  const since = pool.paused.get(entry);
  if (since === undefined) return false;
  pool.paused.delete(entry);
  pool.pausedMs += performance.now() - since;
  return true;
}

export function charge({ line, charged }: Pool, { piece }: Entry, leastMs = 0): void {
  const usedMs = Math.max(leastMs, piece.usedMs());
  line.charge(piece.share, usedMs, performance.now());
  for (const told of charged) told(piece.share, usedMs);
}

export function chargeRunning(pool: Pool): void {
  for (const entry of pool.running) charge(pool, entry);
}

export interface PoolOptions extends ChildOptions {
  /** Jobs at the same time. */
  readonly processes: number;
  /** A child that had nothing to do for so long ends. */
  readonly idleMs: number;
  /** A job that has run for so long is paused when one of another share should go first. Default: 100. */
  readonly sliceMs?: number | undefined;
  /** Most jobs that are paused at the same time: each keeps its memory. Default: as many as may run. */
  readonly pausedMax?: number | undefined;
  /** How long a child keeps a request's file open for its next job. Default: 10 s. */
  readonly keptMs?: number | undefined;
}

export interface ChildPool {
  run(job: unknown, limits: PoolLimits): Promise<JobOutcome>;
  pauses(): Pauses;
  openings(): Openings;
  /** Tells of CPU time as it is charged to its share, ms; gives what ends that. */
  listen(charged: Charged): () => void;
  /** Ends the children; what runs or waits becomes `aborted`. */
  close(): Promise<void>;
}

const SLICE_MS = 100;
const KEPT_MS = 10_000;
/** Charged at the least for a job, ms: what is shorter than the system's clock is not free. */
const LEAST_MS = 1;

/**
 * Children are started when a job needs one and end when idle: at rest there are none. Free ones are given
 * out by `fairShares`, on CPU time. A job that has had its slice gives way to one of a share that should go
 * first: its process is stopped where it is, and goes on when its share's turn comes. A child that was
 * killed or died is replaced by the next job; its neighbours do not notice.
 */
export function openChildPool({ sliceMs, pausedMax, idleMs, keptMs, ...options }: PoolOptions): ChildPool {
  const idle = idleChildren(idleMs);
  const pool: Pool = {
    options,
    sliceMs: sliceMs ?? SLICE_MS,
    pausedMax: pausedMax ?? options.processes,
    idle,
    kept: keptChildren({ keptMs: keptMs ?? KEPT_MS, giveBack: idle.giveBack }),
    line: fairShares(),
    waiting: new Set(),
    running: new Set(),
    paused: new Map(),
    pausedMs: 0,
    charged: new Set(),
    opened: 0,
    wentOn: 0,
    failedStarts: 0,
    recheck: undefined,
    closed: false,
  };
  return {
    run: (job, limits) =>
      pool.closed || limits.signal?.aborted === true
        ? Promise.resolve({ kind: 'aborted' })
        : new Promise((settle) => enter(pool, { piece: pieceOf(job, limits), settle })),
    pauses: () => pausesOf(pool),
    openings: () => ({ opened: pool.opened, wentOn: pool.wentOn, kept: pool.kept.count() }),
    listen: (charged) => {
      pool.charged.add(charged);
      return () => pool.charged.delete(charged);
    },
    close: () => close(pool),
  };
}

function enter(pool: Pool, { piece, settle }: Entry): void {
  const { signal } = piece.limits;
  const giveUp = (): void => leave(pool, entry);
  const entry: Entry = {
    piece,
    settle: (outcome) => {
      signal?.removeEventListener('abort', giveUp);
      settle(outcome);
    },
  };
  signal?.addEventListener('abort', giveUp, { once: true });
  pool.waiting.add(entry);
  chargeRunning(pool);
  const now = performance.now();
  // What is open is used before more is opened: so few files are open for long.
  if (piece.file !== undefined && pool.kept.has(piece.file.kept)) pool.line.addFirst(piece.share, entry, now);
  else pool.line.add(piece.share, entry, now);
  dispatch(pool);
}

/** A job that has begun is ended by its child. */
function leave({ waiting, line }: Pool, entry: Entry): void {
  if (!waiting.delete(entry)) return;
  line.remove(entry.piece.share, entry);
  entry.settle({ kind: 'aborted' });
}

/** Fills the free seats; then jobs that had their slice give theirs to shares that should go first. */
function dispatch(pool: Pool): void {
  clearTimeout(pool.recheck);
  if (pool.closed) return;
  chargeRunning(pool);
  fillSeats(pool);
  for (let entry = givingWay(pool); entry !== undefined; entry = givingWay(pool)) {
    pause(pool, entry);
    fillSeats(pool);
  }
  if (pool.line.waiting() > 0) pool.recheck = setTimeout(() => dispatch(pool), nextSliceMs(pool)).unref();
}

/** Until the next running job has had its slice; those that had it are looked at again after another. */
const nextSliceMs = ({ running, sliceMs }: Pool): number => {
  const left = [...running].map(({ piece }) => sliceMs - piece.sliceMs()).filter((ms) => ms > 0);
  return Math.min(sliceMs, ...left);
};

function fillSeats(pool: Pool): void {
  while (pool.running.size < pool.options.processes) {
    const entry = pool.line.next();
    if (entry === undefined) return;
    seat(pool, entry);
  }
}

function seat(pool: Pool, entry: Entry): void {
  pool.running.add(entry);
  if (endPause(pool, entry)) {
    entry.piece.resume();
    return;
  }
  pool.waiting.delete(entry);
  void entry.piece.begin(childFor(pool, entry.piece)).then((outcome) => end(pool, entry, outcome));
}

/** There are never more children than may run and be paused: what is kept open gives way before. */
function childFor(pool: Pool, { share, file }: Piece): GivenChild {
  const keeping = file && pool.kept.take(file.kept, { share, path: file.path });
  if (keeping !== undefined) {
    if (file?.path !== undefined) pool.wentOn += 1;
    return { used: keeping.used, keeping };
  }
  const others = pool.running.size - 1 + pool.paused.size + pool.kept.count();
  const canStart = others < pool.options.processes + pool.pausedMax;
  const used = pool.idle.take() ?? pool.kept.giveWay(canStart);
  return { used: used ?? { child: startChild(pool.options), jobs: 0 }, keeping: undefined };
}

const givingWay = ({ running, paused, pausedMax, sliceMs, line }: Pool): Entry | undefined =>
  paused.size >= pausedMax
    ? undefined
    : [...running].find(({ piece }) => piece.sliceMs() >= sliceMs && line.shouldYield(piece.share));

function pause({ running, paused, line }: Pool, entry: Entry): void {
  running.delete(entry);
  paused.set(entry, performance.now());
  entry.piece.pause();
  line.putBack(entry.piece.share, entry);
}

function end(pool: Pool, entry: Entry, outcome: JobOutcome): void {
  const { piece, settle } = entry;
  if (endPause(pool, entry)) {
    // It was given up, or its answer was on its way when it was stopped.
    pool.line.remove(piece.share, entry);
    piece.resume();
  } else {
    pool.running.delete(entry);
    charge(pool, entry, LEAST_MS);
    pool.line.end(piece.share, performance.now());
  }
  if (!pool.closed) handBack(pool, piece, outcome);
  if (!isTriedAgain(pool, entry, outcome))
    settle(pool.closed && GONE.has(outcome.kind) ? { kind: 'aborted' } : toldOf(pool, outcome));
  dispatch(pool);
}

/** A process that ended as the pool was closed. */
const GONE: ReadonlySet<JobOutcome['kind']> = new Set(['died', 'starved', 'not_started']);

/** After so many processes in a row that did not start, jobs are told of it; each still tries to start one. */
const STARTS_MAX = 3;

/** Puts a job whose process did not start back into the line, unless too many did not. */
function isTriedAgain(pool: Pool, entry: Entry, { kind }: JobOutcome): boolean {
  if (kind !== 'not_started') {
    if (kind !== 'starved' && kind !== 'aborted') pool.failedStarts = 0;
    return false;
  }
  pool.failedStarts += 1;
  const { share, limits } = entry.piece;
  if (pool.closed || pool.failedStarts >= STARTS_MAX || limits.signal?.aborted === true) return false;
  pool.waiting.add(entry);
  pool.line.addFirst(share, entry, performance.now());
  return true;
}

const toldOf = ({ failedStarts }: Pool, outcome: JobOutcome): JobOutcome =>
  outcome.kind !== 'not_started'
    ? outcome
    : {
        ...outcome,
        message: `${String(failedStarts)} processes for documents in a row did not start: the last ${outcome.message}`,
      };

function handBack(pool: Pool, piece: Piece, outcome: JobOutcome): void {
  const used = piece.used();
  if (used === undefined) return;
  const answered = outcome.kind === 'answered' ? outcome : undefined;
  pool.opened += answered?.openings ?? 0;
  const keeping = answered?.keeps === true ? keptBy(piece, answered) : undefined;
  if (piece.file === undefined || keeping === undefined) pool.idle.giveBack(used);
  else pool.kept.keep(piece.file.kept, { ...keeping, used });
}

/** A job on the file opened or read it; one beside it left it as it was. */
function keptBy(
  piece: Piece,
  { openings }: { readonly openings: number },
): Omit<Keeping, 'used'> | undefined {
  const path = piece.file?.path;
  if (path === undefined) return piece.keeping();
  return { share: piece.share, path, openedMs: openings > 0 ? piece.toldMs() : 0 };
}

async function close(pool: Pool): Promise<void> {
  pool.closed = true;
  clearTimeout(pool.recheck);
  for (const entry of pool.waiting) leave(pool, entry);
  const begun = [...pool.running, ...pool.paused.keys()].map(({ piece }) => piece.used()?.child);
  const kept = pool.kept.takeAll().map(({ child }) => child);
  const children = [
    ...pool.idle.takeAll(),
    ...kept,
    ...begun.filter((child): child is Child => child !== undefined),
  ];
  for (const child of children) child.kill();
  await Promise.all(children.map(({ exited }) => exited));
}
