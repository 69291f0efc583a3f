import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import { chance, fraction } from './chance.ts';
import { errorAt, type WallClock } from './clocks.ts';
import type { Change } from './terms.ts';

/** Whom the code under simulation asks for time and chance. Times are milliseconds. */
interface TimeHost {
  /** Of the monotonic clock, which all processes share. */
  readonly monotonicMs: () => number;
  /** Of the wall clock of whoever runs now. */
  readonly wallMs: () => number;
  /** Calls `fire` in so many milliseconds, as the process that runs now. Gives what cancels it. */
  readonly after: (ms: number, fire: () => void) => () => void;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
  readonly uuid: () => string;
}

const nextTurn = setImmediate;

/** Lets the machine's own timers and signals have their turn; they must not find virtual time. */
const breath = (): Promise<void> => new Promise((resolve) => void nextTurn(resolve));

/**
 * Resolves when no microtask is left but what waits for this: Node looks at the queue of `nextTick` only when that of
 * microtasks is empty, and nothing under simulation uses `nextTick` or waits for the machine.
 */
const quiescence = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

type Callback = (...args: unknown[]) => void;

/** What `setTimeout` gives: code under simulation only clears it, or lets the process end before it. */
const handleOf = (cancel: () => void) => {
  const handle = {
    cancel,
    ref: () => handle,
    unref: () => handle,
    hasRef: () => true,
    refresh: () => handle,
    close: () => handle,
    [Symbol.toPrimitive]: () => 0,
  };
  return handle;
};

const timersOf = ({ after }: TimeHost) => {
  const timeout = (fire: Callback, ms = 0, ...args: unknown[]) =>
    handleOf(after(Math.max(1, Math.trunc(ms)), () => fire(...args)));
  const interval = (fire: Callback, ms = 0, ...args: unknown[]) => {
    let cancel: () => void = () => undefined;
    const next = () => {
      cancel = after(Math.max(1, Math.trunc(ms)), () => {
        next();
        fire(...args);
      });
    };
    next();
    return handleOf(() => cancel());
  };
  const clear = (handle: unknown): void => {
    if (typeof handle === 'object' && handle !== null && 'cancel' in handle) (handle.cancel as () => void)();
  };
  const immediate = (fire: Callback, ...args: unknown[]) => handleOf(after(0, () => fire(...args)));
  return { timeout, interval, immediate, clear };
};

/** Puts the members in the place of those that are there. Gives what puts these back. */
const replaced = (target: object, members: Readonly<Record<string, unknown>>): (() => void) => {
  const before = Object.keys(members).map(
    (name) => [name, Object.getOwnPropertyDescriptor(target, name)] as const,
  );
  for (const [name, value] of Object.entries(members))
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
  return () => {
    for (const [name, descriptor] of before)
      if (descriptor === undefined) Reflect.deleteProperty(target, name);
      else Object.defineProperty(target, name, descriptor);
  };
};

/**
 * Gives all code of this thread the time and chance of `host`, until what it gives is called. Whoever needs the
 * real ones meanwhile has to have kept them.
 */
const virtualTime = (host: TimeHost): (() => void) => {
  const { timeout, interval, immediate, clear } = timersOf(host);
  const sleep = (ms = 0, value?: unknown, { signal }: { readonly signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      const gone = () => reject(new DOMException('This was aborted', 'AbortError'));
      if (signal?.aborted === true) gone();
      timeout(() => {
        signal?.removeEventListener('abort', gone);
        resolve(value);
      }, ms);
      signal?.addEventListener('abort', gone, { once: true });
    });
  const undo = [
    replaced(globalThis, {
      setTimeout: timeout,
      setInterval: interval,
      setImmediate: immediate,
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    }),
    replaced(performance, { now: host.monotonicMs }),
    replaced(Date, { now: host.wallMs }),
    replaced(Math, { random: host.random }),
    replaced(timersPromises, { setTimeout: sleep, setImmediate: () => sleep(0) }),
    replaced(crypto, { randomUUID: host.uuid }),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const one of undo) one();
    syncBuiltinESMExports();
  };
};

/** 2026-01-31T08:00:00.000Z: what every wall clock without an error shows at virtual time 0. */
export const EPOCH_MS = 1_769_846_400_000;

/** One life of a process, or an actor outside of all processes. What waits for one that is dead never goes on. */
export interface Owner {
  readonly name: string;
  alive: boolean;
  /** Virtual time until which it stands still, ms. */
  pausedUntil: number;
  readonly clock: WallClock;
  /** Calls of ports so far: the n-th names a place in the run. */
  calls: number;
  /** Random numbers and IDs drawn so far. */
  drawn: number;
}

/** What happens to one call of a port that is not as it should be. `ms`: for how long. */
export type Deviation =
  /** The whole process stands still before the call takes effect. */
  | { readonly kind: 'pause'; readonly ms: number }
  /** This call takes so long; the rest of its process goes on. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** The process is gone, before or after the call took effect. */
  | { readonly kind: 'kill'; readonly after: boolean }
  /** It fails after so long, and has no effect. */
  | { readonly kind: 'fail'; readonly ms: number }
  /** It fails after it took effect. */
  | { readonly kind: 'lost' }
  /** It fails now, and takes effect later. */
  | { readonly kind: 'late'; readonly ms: number }
  /** What it reads stays as it is for so long, whatever is written. */
  | { readonly kind: 'stale'; readonly ms: number }
  /** Just before it takes effect, an operator changes something. */
  | { readonly kind: 'change'; readonly change: Change };

/** One call of a port, as it is made known. */
export interface CallPlace {
  /** `<owner>#<n>` */
  readonly key: string;
  /** What is called: `<port>.<method> <of what>`. */
  readonly label: string;
  readonly owner: Owner;
  /** Virtual ms. */
  readonly at: number;
}

/** Decides what becomes of each call. */
export interface Plan {
  readonly deviation: (place: CallPlace) => Deviation | undefined;
  /** How long a call takes that is as it should be, ms. */
  readonly latencyMs: (place: CallPlace) => number;
}

/** A call of a port: what it does, at once, and how it fails. */
export interface PortCall<T> {
  readonly label: string;
  readonly effect: () => T;
  /** What its caller gets when it fails: throws, or gives the port's own result. */
  readonly failed: (reason: string) => T;
  /** Deviations that make no sense for it. */
  readonly never?: readonly Deviation['kind'][];
  /** Keeps what it reads as it is now, for so many ms. */
  readonly stale?: (ms: number) => void;
}

/** So many steps are done at a stretch. */
const BREATH_STEPS = 4_096;

interface Item {
  readonly ready: number;
  readonly seq: number;
  readonly owner: Owner | undefined;
  readonly run: () => void;
  cancelled: boolean;
}

const isBefore = (a: Item, b: Item): boolean => (a.ready === b.ready ? a.seq < b.seq : a.ready < b.ready);

/** Items by the time at which they may go on, then in the order in which they came. */
const itemQueue = () => {
  const heap: Item[] = [];
  const sink = (from: number): void => {
    for (let at = from; ;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < heap.length && isBefore(heap[child]!, heap[least]!)) least = child;
      if (least === at) return;
      [heap[at], heap[least]] = [heap[least]!, heap[at]!];
      at = least;
    }
  };
  return {
    push: (item: Item): void => {
      let at = heap.push(item) - 1;
      for (let parent = (at - 1) >> 1; at > 0 && isBefore(item, heap[parent]!); parent = (at - 1) >> 1) {
        heap[at] = heap[parent]!;
        heap[(at = parent)] = item;
      }
    },
    first: (): Item | undefined => heap[0],
    pop: (): Item | undefined => {
      const [first] = heap;
      const last = heap.pop();
      if (first === undefined || last === undefined || heap.length === 0) return first;
      heap[0] = last;
      sink(0);
      return first;
    },
  };
};

const uuidOf = (...parts: readonly (string | number)[]): string => {
  const hex = [1, 2, 3, 4]
    .map((n) =>
      chance(n, ...parts)
        .toString(16)
        .padStart(8, '0'),
    )
    .join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
};

/** Many ask within one millisecond, and its text is always the same. */
const instants = () => {
  let [last, text] = [Number.NaN, ''];
  return (ms: number): string => {
    if (ms !== last) [last, text] = [ms, new Date(ms).toISOString()];
    return text;
  };
};

/** A deviation that a run took, and where. */
export interface Taken {
  readonly place: CallPlace;
  readonly deviation: Deviation;
}

export interface SchedulerHooks {
  /** A process was killed by a deviation. */
  readonly onKilled: (owner: Owner) => void;
  /** Makes a change by an operator; `go` comes after it. */
  readonly onChange: (change: Change) => Promise<void>;
  /** After each step, when nothing more can go on at its time. */
  readonly afterStep: () => void;
}

export type Scheduler = ReturnType<typeof scheduler>;

/**
 * Runs one thing at a time: a call of a port, a timer, the start of an actor. What it sets going runs until all of it
 * waits again. When nothing can go on, time jumps to what comes next. The same plan gives the same run.
 */
export const scheduler = (plan: Plan, seed: string | number) => {
  const queue = itemQueue();
  const instantAt = instants();
  const taken: Taken[] = [];
  let hooks: SchedulerHooks = {
    onKilled: () => undefined,
    onChange: () => Promise.resolve(),
    afterStep: () => undefined,
  };
  let current: Owner | undefined;
  let [now, seq, steps] = [0, 0, 0];
  /** What a step waits for that is outside of the simulation. */
  const outside = new Set<Promise<unknown>>();

  const put = (ready: number, owner: Owner | undefined, run: () => void): Item => {
    const item = { ready, seq: (seq += 1), owner, run, cancelled: false };
    queue.push(item);
    return item;
  };
  const wallOf = (owner: Owner | undefined): number =>
    Math.floor(EPOCH_MS + now + (owner === undefined ? 0 : errorAt(owner.clock, now)));
  const draw = (): readonly (string | number)[] => {
    if (current === undefined) return [seed, 'nobody', (seq += 1)];
    current.drawn += 1;
    return [seed, current.name, current.drawn];
  };
  const host: TimeHost = {
    monotonicMs: () => now,
    wallMs: () => wallOf(current),
    after: (ms, fire) => {
      const item = put(now + ms, current, fire);
      return () => (item.cancelled = true);
    },
    random: () => fraction('random', ...draw()),
    uuid: () => uuidOf('uuid', ...draw()),
  };

  const kill = (owner: Owner): void => {
    owner.alive = false;
    hooks.onKilled(owner);
  };

  /** Does what a deviation says. */
  const deviate = (place: CallPlace, deviation: Deviation, parts: CallParts): void => {
    const { owner } = place;
    const { go, effect, fail } = parts;
    switch (deviation.kind) {
      case 'pause':
        owner.pausedUntil = now + deviation.ms;
        put(now, owner, go);
        return;
      case 'stale':
        go();
        return;
      case 'change':
        void hooks.onChange(deviation.change).then(go);
        return;
      case 'slow':
        put(now + deviation.ms, owner, go);
        return;
      case 'kill':
        if (deviation.after) effect();
        kill(owner);
        return;
      case 'lost':
        effect();
        fail('its answer was lost');
        return;
      case 'late':
        put(now + deviation.ms, undefined, effect);
        fail('it timed out');
        return;
      case 'fail':
        put(now + deviation.ms, owner, () => fail('it is away'));
    }
  };

  interface CallParts {
    readonly go: () => void;
    readonly effect: () => void;
    readonly fail: (reason: string) => void;
  }

  /** A call of a port by whoever runs now; outside of the simulation it is done at once. */
  const call = <T>({ label, effect, failed, never = [], stale }: PortCall<T>): Promise<T> => {
    const owner = current;
    if (owner === undefined) return new Promise((resolve) => resolve(effect()));
    owner.calls += 1;
    const place: CallPlace = { key: `${owner.name}#${String(owner.calls)}`, label, owner, at: now };
    return new Promise<T>((resolve, reject) => {
      const answer = (make: () => T): void => {
        try {
          resolve(make());
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      const go = () => answer(effect);
      const quietly = () => {
        try {
          effect();
        } catch {
          // Nobody hears of it.
        }
      };
      const first = () => {
        const deviation = plan.deviation({ ...place, at: now });
        const fits = deviation?.kind !== 'stale' || stale !== undefined;
        if (deviation === undefined || never.includes(deviation.kind) || !fits) {
          go();
          return;
        }
        taken.push({ place: { ...place, at: now }, deviation });
        if (deviation.kind === 'stale') stale?.(deviation.ms);
        deviate(place, deviation, { go, effect: quietly, fail: (reason) => answer(() => failed(reason)) });
      };
      put(now + plan.latencyMs(place), owner, first);
    });
  };

  /** The next item that may go on, not after `until`. */
  const take = (until: number): Item | undefined => {
    for (;;) {
      const item = queue.first();
      if (item === undefined || item.ready > until) return undefined;
      queue.pop();
      if (item.cancelled || item.owner?.alive === false) continue;
      const paused = item.owner?.pausedUntil ?? 0;
      if (paused <= Math.max(now, item.ready)) return item;
      put(paused, item.owner, () => (item.cancelled ? undefined : item.run()));
    }
  };

  /** Nothing else goes on before the answers from outside are there. */
  const settled = async (): Promise<void> => {
    while (outside.size > 0) {
      await Promise.allSettled(outside);
      await quiescence();
    }
  };

  return {
    call,
    taken,
    /** Waits for something real, as a part of the step that asks for it: it takes no virtual time. */
    real: <T>(answer: Promise<T>): Promise<T> => {
      outside.add(answer);
      const done = () => void outside.delete(answer);
      answer.then(done, done);
      return answer;
    },
    nowMs: () => now,
    steps: () => steps,
    wallOf,
    /** As whoever runs now draws it. */
    uuid: () => host.uuid(),
    /** What a process under simulation has for a wall clock. */
    instantOf: (owner: Owner | undefined) => instantAt(wallOf(owner)),
    newOwner: (name: string, clock: WallClock = {}): Owner => ({
      name,
      alive: true,
      pausedUntil: 0,
      clock,
      calls: 0,
      drawn: 0,
    }),
    /** Runs `start` as `owner`, in so many ms. Gives what cancels it. */
    later: (owner: Owner | undefined, ms: number, start: () => void): (() => void) => {
      const item = put(now + ms, owner, start);
      return () => (item.cancelled = true);
    },
    sleep: (ms: number): Promise<void> => new Promise((resolve) => void host.after(ms, resolve)),
    kill,
    hook: (own: SchedulerHooks) => (hooks = own),
    /** Runs until the virtual time `until`, or until `isOver` says so. Patches the thread's time meanwhile. */
    run: async (until: number, isOver: () => boolean = () => false): Promise<void> => {
      let restore = virtualTime(host);
      try {
        while (!isOver()) {
          const item = take(until);
          if (item === undefined) break;
          now = Math.max(now, item.ready);
          current = item.owner;
          steps += 1;
          item.run();
          await quiescence();
          if (outside.size > 0) await settled();
          current = undefined;
          hooks.afterStep();
          if (steps % BREATH_STEPS !== 0) continue;
          restore();
          await breath();
          restore = virtualTime(host);
        }
        if (!isOver()) now = Math.max(now, until);
      } finally {
        current = undefined;
        restore();
      }
    },
  };
};
