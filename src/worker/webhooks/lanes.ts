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
  /** Of those that let their last request wait: so many are begun with, in all and of one tenant. */
  readonly slow: number;
  readonly slowPerTenant: number;
  /** Of all. */
  readonly all: number;
}

/** A tenant has no more webhooks than lanes. A lane has four requests at most, and each request a socket. */
export const LANE_LIMITS: LaneLimits = {
  ...{ quick: 256, quickPerTenant: 20 },
  ...{ slow: 256, slowPerTenant: 4 },
  all: 1_024,
};

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
export interface Lanes {
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
