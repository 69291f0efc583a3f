import { laterBy } from '../../domain/kernel/amounts.ts';
import type { Clock } from '../../domain/ports/log.ts';
import type { WebhookAnswer, WebhookTransport } from '../../domain/ports/services.ts';
import {
  type AttemptError,
  isDue,
  isUnderWay,
  pauseAfter,
  signingSecrets,
  triedUntil,
  type Webhook,
} from '../../domain/webhook.ts';
import {
  type DeliveryStreams,
  openSecret,
  signedHeaders,
  type WebhookSecretDeps,
  type WebhookStreams,
} from '../commands/webhooks.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import type { SqlLock } from '../../projections/engine/ports.ts';
import { repeatedly } from './queue.ts';

/** A webhook with something to send, and whose it is. */
export interface Receiver {
  readonly webhook_id: string;
  readonly tenant_id: string;
}

/** How many receivers are served at a time. */
export interface LaneLimits {
  /** Of those that answer soon, in all and of one tenant. */
  readonly quick: number;
  readonly quickPerTenant: number;
  /** Requests begun at a time to receivers that let their last one wait, in all and of one tenant. */
  readonly slow: number;
  readonly slowPerTenant: number;
  /** Of all. */
  readonly all: number;
}

/** A tenant has no more webhooks than lanes. A lane has four requests at most, and each request a socket. */
const LANE_LIMITS: LaneLimits = { quick: 256, quickPerTenant: 20, slow: 256, slowPerTenant: 4, all: 1_024 };

/** One receiver that is served. */
export interface Lane {
  /** A request waits for its answer for long: the lane takes no place of those that answer soon any more. */
  readonly waits: () => void;
  /** A request was answered soon. */
  readonly answered: () => void;
  readonly isSlow: () => boolean;
  /** Aborts when its webhook is gone, or nothing may be sent any more. */
  readonly signal: AbortSignal;
}

interface OpenLane extends Receiver {
  readonly ended: AbortController;
  readonly served: Promise<void>;
}

/** The lanes that are open, and which receivers may have the next ones. */
interface Lanes {
  readonly busy: () => readonly string[];
  /** Of these, those for which there is room: tenants by turns, and of slow ones those first that waited longest. */
  readonly next: (found: readonly Receiver[]) => readonly Receiver[];
  readonly open: (receiver: Receiver, serve: (lane: Lane) => Promise<void>) => void;
  /** Ends a lane whose webhook is gone, whatever it waits for. */
  readonly end: (webhookId: string) => void;
  /** Ends all that are open. */
  readonly endAll: () => void;
  /** Resolves when each lane that is open now has ended. */
  readonly settled: () => Promise<unknown>;
}

/** Counts open lanes and those to come: in all, and by tenant. */
const counts = () => {
  const of = new Map<string, number>();
  let all = 0;
  return {
    all: (): number => all,
    of: (tenantId: string): number => of.get(tenantId) ?? 0,
    add: (tenantId: string): void => {
      all += 1;
      of.set(tenantId, (of.get(tenantId) ?? 0) + 1);
    },
  };
};

/** As many as each tenant has before them: the first of each, then the second of each, and so on. */
const byTurns = (found: readonly Receiver[], openOf: (tenantId: string) => number): readonly Receiver[] => {
  const before = new Map<string, number>();
  return found
    .map((receiver) => {
      const turn = before.get(receiver.tenant_id) ?? openOf(receiver.tenant_id);
      before.set(receiver.tenant_id, turn + 1);
      return { receiver, turn };
    })
    .sort((a, b) => a.turn - b.turn)
    .map(({ receiver }) => receiver);
};

/**
 * Lanes for receivers, one each. Those that let requests wait have lanes of their own, few for each tenant, so that
 * however many there are, the others have theirs.
 */
export const openLanes = (limits: LaneLimits = LANE_LIMITS): Lanes => {
  const lanes = new Map<string, OpenLane>();
  /** When each slow receiver was served last: a number that counts on. */
  const slow = new Map<string, number>();
  let turn = 0;

  const counted = () => {
    const [quickOnes, slowOnes, all] = [counts(), counts(), counts()];
    const add = ({ webhook_id, tenant_id }: Receiver): void => {
      (slow.has(webhook_id) ? slowOnes : quickOnes).add(tenant_id);
      all.add(tenant_id);
    };
    for (const lane of lanes.values()) add(lane);
    const hasRoom = ({ webhook_id, tenant_id }: Receiver): boolean => {
      if (all.all() >= limits.all) return false;
      return slow.has(webhook_id)
        ? slowOnes.all() < limits.slow && slowOnes.of(tenant_id) < limits.slowPerTenant
        : quickOnes.all() < limits.quick && quickOnes.of(tenant_id) < limits.quickPerTenant;
    };
    return { add, hasRoom, of: all.of };
  };

  return {
    busy: () => [...lanes.keys()],
    next: (found) => {
      const { add, hasRoom, of } = counted();
      const waited = found
        .filter(({ webhook_id }) => !lanes.has(webhook_id))
        .sort((a, b) => (slow.get(a.webhook_id) ?? 0) - (slow.get(b.webhook_id) ?? 0));
      return byTurns(waited, of).filter((receiver) => {
        const fits = hasRoom(receiver);
        if (fits) add(receiver);
        return fits;
      });
    },
    open: (receiver, serve) => {
      const { webhook_id } = receiver;
      const ended = new AbortController();
      const served = serve({
        waits: () => void slow.set(webhook_id, (turn += 1)),
        answered: () => void slow.delete(webhook_id),
        isSlow: () => slow.has(webhook_id),
        signal: ended.signal,
      }).finally(() => lanes.delete(webhook_id));
      lanes.set(webhook_id, { ...receiver, ended, served });
    },
    end: (webhookId) => {
      lanes.get(webhookId)?.ended.abort();
      slow.delete(webhookId);
    },
    endAll: () => {
      for (const { ended } of lanes.values()) ended.abort();
    },
    settled: () => Promise.all([...lanes.values()].map(({ served }) => served)),
  };
};

/** So many failures in a row, and a receiver is left alone for a while. */
const FAILURES_MAX = 5;
const FIRST_MS = 5_000;
const LONGEST_MS = 5 * 60_000;

/** Receivers that fail again and again rest, so that a dead one costs few attempts however much waits for it. */
interface Resting {
  readonly failed: (webhookId: string) => void;
  readonly delivered: (webhookId: string) => void;
  readonly isResting: (webhookId: string) => boolean;
  readonly all: () => readonly string[];
}

const resting = (nowMs: () => number): Resting => {
  const receivers = new Map<string, { readonly failures: number; readonly until: number }>();
  const isResting = (webhookId: string): boolean => (receivers.get(webhookId)?.until ?? 0) > nowMs();
  return {
    isResting,
    failed: (webhookId) => {
      const failures = (receivers.get(webhookId)?.failures ?? 0) + 1;
      const beyond = failures - FAILURES_MAX;
      const pauseMs = beyond < 0 ? 0 : Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(beyond, 10));
      receivers.set(webhookId, { failures, until: nowMs() + pauseMs });
    },
    delivered: (webhookId) => void receivers.delete(webhookId),
    all: () => [...receivers.keys()].filter(isResting),
  };
};

/** A message for a webhook, as the read model has it. */
export interface DueDelivery {
  readonly delivery_id: string;
  readonly webhook_id: string;
  readonly tenant_id: string;
  readonly body: string;
}

export interface SendDeps extends Pick<WebhookSecretDeps, 'objects' | 'box'> {
  readonly clock: Clock;
  readonly streams: WebhookStreams;
  readonly deliveries: DeliveryStreams;
  readonly transport: WebhookTransport;
  /** Since when each attempt at a webhook has failed; null or undefined: none is known that did. */
  readonly failingSince: (
    webhookId: string,
  ) => Promise<{ readonly failing_since: string | null } | undefined>;
  /** Whether an attempt without an outcome was abandoned by its sender. */
  readonly isLeft: (attempt: { readonly delivery_id: string; readonly attempt: number }) => boolean;
  /** 0 to 1, for pauses. */
  readonly random: () => number;
  /** Told of each attempt. */
  readonly onAttempt: (error: AttemptError | null, seconds: number) => void;
}

/** `skipped`: the log says that it is not to be sent now, or another sender was faster. */
type SendOutcome =
  | { readonly kind: 'skipped' }
  | { readonly kind: 'delivered' | 'failed'; readonly position: bigint | undefined };

/** Longer than a request and what is written before and after it may take, ms. */
const LEFT_AFTER_MS = 30_000;
/** Attempts that are watched at a time. Those that are evicted are watched again. */
const WATCHED_MAX = 10_000;

/**
 * Finds attempts abandoned by their sender: those that this process has watched for long enough by its own clock, and
 * that have no outcome. The clocks of other machines are not used.
 */
export const attemptWatch = (monotonicMs: () => number, leftAfterMs = LEFT_AFTER_MS): SendDeps['isLeft'] => {
  const seen = new Map<string, { readonly attempt: number; readonly since: number }>();
  return ({ delivery_id, attempt }) => {
    const [before, now] = [seen.get(delivery_id), monotonicMs()];
    const since = before?.attempt === attempt ? before.since : now;
    const isLeft = now - since >= leftAfterMs;
    if (seen.size >= WATCHED_MAX) seen.clear();
    if (isLeft) seen.delete(delivery_id);
    else seen.set(delivery_id, { attempt, since });
    return isLeft;
  };
};

const SKIPPED = { kind: 'skipped' } as const;

interface Answer extends Omit<WebhookAnswer, 'error'> {
  readonly error: AttemptError | null;
}

const SECRET_LOST: Answer = { error: 'secret_lost', response_status: null, retryAfterMs: 0 };

/** A message on its way to its receiver. */
interface Sending {
  readonly delivery: DueDelivery;
  readonly webhook: Webhook;
  /** It is signed with each; none: they are lost. */
  readonly secrets: readonly string[];
}

const secretsOf = async (deps: SendDeps, webhook: Webhook): Promise<readonly string[]> => {
  const { tenant_id } = webhook;
  const ids = signingSecrets(webhook, deps.clock.now());
  const opened = await Promise.all(ids.map((secret_id) => openSecret(deps, { tenant_id, secret_id })));
  return opened.filter((secret) => secret !== undefined);
};

const request = async (
  deps: SendDeps,
  { delivery, webhook, secrets }: Sending,
  signal: AbortSignal,
): Promise<Answer> => {
  if (secrets.length === 0) return SECRET_LOST;
  const now = deps.clock.now();
  const { delivery_id: id, body } = delivery;
  const timestamp = Math.floor(Date.parse(now) / 1000);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Quire-Webhooks/1',
    ...signedHeaders({ id, timestamp, body }, secrets),
  };
  return deps.transport({ url: webhook.url, headers, body, signal });
};

/** A receiver that is gone, or failed for three days, is sent nothing until somebody enables it. Gives the position. */
const disableIfLost = async (
  deps: SendDeps,
  { webhook_id, tenant_id, url, told_since }: Webhook,
  { status, at }: { readonly status: number | null; readonly at: string },
): Promise<bigint | undefined> => {
  const failing_since = (await deps.failingSince(webhook_id))?.failing_since ?? at;
  const reason = status === 410 ? 'gone' : 'failing';
  if (reason === 'failing' && at < triedUntil(failing_since)) return undefined;
  const meta = systemMeta(deps, webhook_id);
  const data = { reason, url, told_since, failing_since } as const;
  const outcome = await deps.streams.handle(
    { webhook_id, tenant_id },
    { type: 'DisableWebhook', data, meta },
  );
  return outcome.kind === 'done' ? outcome.position : undefined;
};

/** Makes the request of an attempt that was started, and writes down what came of it. */
const attempted = async (
  deps: SendDeps,
  sending: Sending,
  {
    attempt,
    tries,
    signal,
  }: { readonly attempt: number; readonly tries: number; readonly signal: AbortSignal },
): Promise<SendOutcome> => {
  const { delivery_id, webhook_id, tenant_id } = sending.delivery;
  const began = deps.clock.now();
  const { error, response_status, retryAfterMs } = await request(deps, sending, signal);
  // Nobody knows whether it arrived: the next sender finds out.
  if (signal.aborted) return SKIPPED;
  const attempted_at = deps.clock.now();
  const duration_ms = Math.max(0, Date.parse(attempted_at) - Date.parse(began));
  deps.onAttempt(error, duration_ms / 1000);
  const pauseMs = pauseAfter(tries + 1, deps.random(), retryAfterMs);
  const next_attempt_at = error === null ? null : laterBy(attempted_at, pauseMs);
  const outcome = await deps.deliveries.handle({
    type: 'RecordAttempt',
    meta: systemMeta(deps, delivery_id),
    data: {
      delivery_id,
      webhook_id,
      tenant_id,
      attempt,
      error,
      response_status,
      duration_ms,
      attempted_at,
      next_attempt_at,
    },
  });
  const answered = { status: response_status, at: attempted_at };
  const disabled = error === null ? undefined : await disableIfLost(deps, sending.webhook, answered);
  if (outcome.kind !== 'done') return SKIPPED;
  return { kind: error === null ? 'delivered' : 'failed', position: disabled ?? outcome.position };
};

/**
 * Sends a message once, if the log says that it is due and nobody else is at it. The attempt is written down before
 * the request is made, and afterwards what came of it. A process that dies between the two leaves an attempt that
 * is taken over after a while: the message is sent again with the same ID, by which a receiver recognises it.
 */
export const sendDelivery = async (
  deps: SendDeps,
  delivery: DueDelivery,
  signal: AbortSignal,
): Promise<SendOutcome> => {
  const { delivery_id, webhook_id, tenant_id } = delivery;
  const [state, { webhook }] = await Promise.all([
    deps.deliveries.stateOf(delivery_id),
    deps.streams.stateOf(webhook_id),
  ]);
  const { attempts, tries } = state;
  if (webhook === null || !webhook.enabled || !isDue(state, deps.clock.now())) return SKIPPED;
  if (isUnderWay(state) && !deps.isLeft({ delivery_id, attempt: attempts })) return SKIPPED;
  const secrets = await secretsOf(deps, webhook);
  const attempt = attempts + 1;
  const data = { delivery_id, webhook_id, tenant_id, attempt };
  const meta = systemMeta(deps, delivery_id);
  const started = await deps.deliveries.handle({ type: 'StartAttempt', data, meta });
  if (started.kind !== 'done' || signal.aborted) return SKIPPED;
  return attempted(deps, { delivery, webhook, secrets }, { attempt, tries, signal });
};

/** Messages to send, by the read model. It may be late: the streams decide. */
interface WebhookLists {
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
  /** Begins nothing more, and soon gives up messages in transit: the next sender takes them over. */
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

/** The common state of a sender's lanes. */
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

/** A few messages at once. True: there may be more to send immediately. */
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
  // Reads must have the writes before the next look, or the same messages would be found again.
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
  // Messages in transit are given up when another process may send.
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
