import type { SqlLock } from '../../../projections/engine/ports.ts';
import { repeatedly } from '../loops.ts';
import { resting, type Resting } from './resting.ts';
import { sendDelivery, type DueDelivery, type SendDeps, type SendOutcome } from './sendDelivery.ts';

/** What the read model says is to be sent. It may be late: the streams decide. */
export interface WebhookLists {
  /** Webhooks with something to send now, but those that are busy. */
  readonly webhooks: (now: string, busy: readonly string[]) => Promise<readonly string[]>;
  /** The first of each subject that is due. */
  readonly due: (webhookId: string, now: string, limit: number) => Promise<readonly DueDelivery[]>;
}

export interface WebhookSenderDeps extends SendDeps {
  readonly lists: WebhookLists;
  /** One process sends at a time; undefined: another one does. */
  readonly lease: () => Promise<SqlLock | undefined>;
  /** Waits until the read model has what was written at a position; false: it takes too long. */
  readonly caughtUp: (position: bigint) => Promise<boolean>;
  readonly onError: (error: unknown) => void;
  /** How often the read model is looked at, ms. */
  readonly pollMs?: number;
}

export interface WebhookSender {
  /** Sends what is due now until nothing is. Gives how many attempts it made. */
  readonly drain: () => Promise<number>;
  readonly start: () => void;
  /** Leaves what is on its way to the next sender. */
  readonly stop: () => Promise<void>;
}

/** Requests to one receiver at a time: it is to be told, not to be tested. */
const PER_WEBHOOK = 4;
/** Receivers at a time. */
const WEBHOOKS_MAX = 256;

const latest = (outcomes: readonly SendOutcome[]): bigint | undefined =>
  outcomes
    .map((outcome) => (outcome.kind === 'skipped' ? undefined : outcome.position))
    .filter((position) => position !== undefined)
    .reduce<bigint | undefined>((a, b) => (a === undefined || b > a ? b : a), undefined);

/** Holds the lease while it can. What is on its way is given up when the lease is lost. */
const held = (lease: WebhookSenderDeps['lease']) => {
  let lock: SqlLock | undefined;
  let lost = new AbortController();
  return {
    signal: (): AbortSignal => lost.signal,
    take: async (): Promise<boolean> => {
      if (lock !== undefined) return true;
      const taken = await lease();
      if (taken === undefined) return false;
      const own = new AbortController();
      [lock, lost] = [taken, own];
      void taken.lost.then(() => {
        own.abort();
        if (lock === taken) lock = undefined;
      });
      return true;
    },
    giveBack: async (): Promise<void> => {
      await lock?.release().catch(() => undefined);
      lock = undefined;
    },
  };
};

/** Serves one receiver at a time, a few messages beside each other, until there is nothing more to do for now. */
const laneOf = (deps: WebhookSenderDeps, rest: Resting, attempted: () => void) => {
  const send = async (delivery: DueDelivery, signal: AbortSignal): Promise<SendOutcome> => {
    const outcome = await sendDelivery(deps, delivery, signal);
    if (outcome.kind === 'skipped') return outcome;
    attempted();
    rest[outcome.kind](delivery.webhook_id);
    return outcome;
  };
  const sendSome = async (webhookId: string, signal: AbortSignal): Promise<boolean> => {
    if (signal.aborted || rest.isResting(webhookId)) return false;
    const due = await deps.lists.due(webhookId, deps.clock.now(), PER_WEBHOOK);
    const settled = await Promise.allSettled(due.map((delivery) => send(delivery, signal)));
    for (const result of settled) if (result.status === 'rejected') deps.onError(result.reason);
    const position = latest(
      settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
    );
    // What was written has to be read before the next look, or the same would be found again.
    return position !== undefined && (await deps.caughtUp(position));
  };
  return async (webhookId: string, signal: AbortSignal): Promise<void> => {
    try {
      while (await sendSome(webhookId, signal));
    } catch (error) {
      deps.onError(error);
    }
  };
};

/**
 * Sends messages to their receivers: each receiver by itself, so that a slow one delays no other; to one receiver
 * a few at a time, and of one subject one after the other.
 */
export const webhookSender = (deps: WebhookSenderDeps): WebhookSender => {
  const { lists, clock, onError, pollMs = 1_000 } = deps;
  const shutdown = new AbortController();
  const lease = held(deps.lease);
  const rest = resting(() => Date.parse(clock.now()));
  const lanes = new Map<string, Promise<void>>();
  let attempts = 0;
  const serve = laneOf(deps, rest, () => (attempts += 1));

  /** Begins with each receiver that has something due and is not served yet. */
  const look = async (): Promise<void> => {
    if (shutdown.signal.aborted || !(await lease.take())) return;
    const room = WEBHOOKS_MAX - lanes.size;
    if (room <= 0) return;
    const signal = AbortSignal.any([shutdown.signal, lease.signal()]);
    const found = await lists.webhooks(clock.now(), [...lanes.keys(), ...rest.all()]);
    for (const webhookId of found.filter((id) => !lanes.has(id)).slice(0, room))
      lanes.set(
        webhookId,
        serve(webhookId, signal).finally(() => lanes.delete(webhookId)),
      );
  };

  const polling = repeatedly(look, pollMs, onError);
  const settled = () => Promise.all(lanes.values());
  return {
    drain: async () => {
      const before = attempts;
      for (let last = -1; last !== attempts;) {
        last = attempts;
        await look();
        await settled();
      }
      return attempts - before;
    },
    start: polling.start,
    stop: async () => {
      shutdown.abort();
      await polling.stop();
      await settled();
      await lease.giveBack();
    },
  };
};
