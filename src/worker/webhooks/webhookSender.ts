import type { SqlLock } from '../../../projections/engine/ports.ts';
import { repeatedly } from '../loops.ts';
import { openLanes, type Lane, type LaneLimits, type Receiver } from './lanes.ts';
import { resting, type Resting } from './resting.ts';
import {
  attemptWatch,
  sendDelivery,
  type DueDelivery,
  type SendDeps,
  type SendOutcome,
} from './sendDelivery.ts';

/** What the read model says is to be sent. It may be late: the streams decide. */
export interface WebhookLists {
  /** Webhooks with something to send now, but those that are busy. */
  readonly webhooks: (now: string, busy: readonly string[]) => Promise<readonly Receiver[]>;
  /** Those of some webhooks that were removed. */
  readonly removed: (webhookIds: readonly string[]) => Promise<readonly string[]>;
  /** The first of each subject that is due. */
  readonly due: (webhookId: string, now: string, limit: number) => Promise<readonly DueDelivery[]>;
}

export interface WebhookSenderDeps extends Omit<SendDeps, 'isLeft'> {
  readonly lists: WebhookLists;
  /** One process sends at a time; undefined: another one does. */
  readonly lease: () => Promise<SqlLock | undefined>;
  /** Waits until the read model has what was written at a position; false: it takes too long. */
  readonly caughtUp: (position: bigint) => Promise<boolean>;
  /** A clock of this process that nobody sets, ms. */
  readonly monotonicMs: () => number;
  /** How long an attempt is watched before it is taken over, ms; 0: no other process writes to this log. */
  readonly leftAfterMs?: number | undefined;
  readonly onError: (error: unknown) => void;
  /** How often the read model is looked at, ms. */
  readonly pollMs?: number;
  readonly limits?: LaneLimits;
  /** A receiver that lets a request wait for so long is slow until it answers sooner, ms. */
  readonly slowAfterMs?: number;
}

export interface WebhookSender {
  /** Sends what is due now until nothing is. Gives how many attempts it made. */
  readonly drain: () => Promise<number>;
  readonly start: () => void;
  /** Begins with nothing more, and gives up in a moment what is on its way: the next sender takes it over. */
  readonly stop: () => Promise<void>;
}

/** Requests to one receiver at a time: it is to be told, not to be tested. */
const PER_WEBHOOK = 4;
/** How long requests that are on their way may still be answered when the sender is stopped, ms. */
const LEAVE_MS = 2_000;

const latest = (outcomes: readonly SendOutcome[]): bigint | undefined =>
  outcomes
    .map((outcome) => (outcome.kind === 'skipped' ? undefined : outcome.position))
    .filter((position) => position !== undefined)
    .reduce<bigint | undefined>((a, b) => (a === undefined || b > a ? b : a), undefined);

/** Holds the lease while it can; `lost` is called when it is lost. */
const held = (lease: WebhookSenderDeps['lease'], lost: () => void) => {
  let lock: SqlLock | undefined;
  return {
    isHeld: (): boolean => lock !== undefined,
    take: async (): Promise<boolean> => {
      if (lock !== undefined) return true;
      const taken = await lease();
      lock = taken;
      void taken?.lost.then(() => {
        if (lock !== taken) return;
        lock = undefined;
        lost();
      });
      return taken !== undefined;
    },
    giveBack: async (): Promise<void> => {
      await lock?.release().catch(() => undefined);
      lock = undefined;
    },
  };
};

/** What a sender's lanes have in common. */
interface Serving {
  readonly deps: WebhookSenderDeps & SendDeps;
  readonly rest: Resting;
  readonly attempted: () => void;
  /** Nothing more is begun. */
  readonly isLeaving: () => boolean;
}

/** Sends, and tells the lane whether the receiver let its request wait. */
const sendIn = (
  { deps, rest, attempted }: Serving,
  { delivery, lane }: { readonly delivery: DueDelivery; readonly lane: Lane },
): Promise<SendOutcome> => {
  const transport: SendDeps['transport'] = async (request) => {
    const waits = { long: false };
    const timer = setTimeout(() => {
      waits.long = true;
      lane.waits();
    }, deps.slowAfterMs ?? 1_000);
    try {
      return await deps.transport(request);
    } finally {
      clearTimeout(timer);
      if (!waits.long && !lane.signal.aborted) lane.answered();
    }
  };
  return sendDelivery({ ...deps, transport }, delivery, lane.signal).then((outcome) => {
    if (outcome.kind === 'skipped') return outcome;
    attempted();
    rest[outcome.kind](delivery.webhook_id);
    return outcome;
  });
};

/** A few messages beside each other. True: there may be more to send at once. */
const sendSome = async (
  serving: Serving,
  { webhookId, lane }: { readonly webhookId: string; readonly lane: Lane },
): Promise<boolean> => {
  const { deps, rest, isLeaving } = serving;
  const isOver = (): boolean => isLeaving() || lane.signal.aborted;
  if (isOver() || rest.isResting(webhookId)) return false;
  const due = await deps.lists.due(webhookId, deps.clock.now(), PER_WEBHOOK);
  const sent = due.map((delivery) => sendIn(serving, { delivery, lane }));
  const settled = await Promise.allSettled(sent);
  for (const result of settled) if (result.status === 'rejected') deps.onError(result.reason);
  const position = latest(settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])));
  // What was written has to be read before the next look, or the same would be found again.
  return position !== undefined && !isOver() && (await deps.caughtUp(position));
};

/** Serves one receiver until there is nothing more to do for now; a slow one by turns with others. */
const serveIn = async (
  serving: Serving,
  of: { readonly webhookId: string; readonly lane: Lane },
): Promise<void> => {
  try {
    while ((await sendSome(serving, of)) && !of.lane.isSlow());
  } catch (error) {
    serving.deps.onError(error);
  }
};

/** Waits for something, but no longer than so long. */
const atMost = async (work: Promise<unknown>, ms: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, limit]).finally(() => clearTimeout(timer));
};

/**
 * Sends messages to their receivers: each receiver by itself, so that a slow one delays no other; to one receiver
 * a few at a time, and of one subject one after the other.
 */
export const webhookSender = (deps: WebhookSenderDeps): WebhookSender => {
  const { lists, clock, onError, pollMs = 1_000 } = deps;
  const lanes = openLanes(deps.limits);
  // What is on its way is given up when another process may send.
  const lease = held(deps.lease, lanes.endAll);
  const rest = resting(() => Date.parse(clock.now()));
  let attempts = 0;
  const leaving = new AbortController();
  const isLeaving = (): boolean => leaving.signal.aborted;
  const serving: Serving = {
    deps: { ...deps, isLeft: attemptWatch(deps.monotonicMs, deps.leftAfterMs) },
    rest,
    attempted: () => (attempts += 1),
    isLeaving,
  };

  /** Begins with each receiver that has something due and is not served yet, as far as there is room. */
  const look = async (): Promise<void> => {
    if (isLeaving() || !(await lease.take())) return;
    const busy = lanes.busy();
    if (busy.length > 0) for (const webhookId of await lists.removed(busy)) lanes.end(webhookId);
    const found = await lists.webhooks(clock.now(), [...busy, ...rest.all()]);
    if (isLeaving() || !lease.isHeld()) return;
    for (const receiver of lanes.next(found))
      lanes.open(receiver, (lane) => serveIn(serving, { webhookId: receiver.webhook_id, lane }));
  };

  const polling = repeatedly(look, pollMs, onError);
  return {
    drain: async () => {
      const before = attempts;
      for (let last = -1; last !== attempts;) {
        last = attempts;
        await look();
        await lanes.settled();
      }
      return attempts - before;
    },
    start: polling.start,
    stop: async () => {
      leaving.abort();
      await polling.stop();
      await atMost(lanes.settled(), LEAVE_MS);
      lanes.endAll();
      await lanes.settled();
      await lease.giveBack();
    },
  };
};
