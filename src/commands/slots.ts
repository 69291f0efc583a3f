import { setTimeout as pause } from 'node:timers/promises';
import { eachOf } from '@quire/engine/models/byModel/modelWorkDeps';
import { documentIdOfKey, type DocumentState, UPLOADS_PREFIX } from '../../domain/document.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import { workProblem, type WorkProblem } from './workProblem.ts';

/** Bytes of bodies that tenants send at this moment. */
export interface BytesInFlight {
  /** Most bytes of one tenant; a body alone is always taken. */
  readonly max: number;
  /** undefined if the tenant has too much in transit. Call the returned function once the body is done. */
  readonly take: (tenantId: string, bytes: number) => (() => void) | undefined;
}

/** Counts what may come, not what has come: a body without a length counts as the most that is read of it. */
export const bytesInFlight = (max: number): BytesInFlight => {
  const byTenant = new Map<string, number>();
  return {
    max,
    take: (tenantId, bytes) => {
      const before = byTenant.get(tenantId) ?? 0;
      if (before > 0 && before + bytes > max) return undefined;
      byTenant.set(tenantId, before + bytes);
      let taken = true;
      return () => {
        if (!taken) return;
        taken = false;
        const left = (byTenant.get(tenantId) ?? 0) - bytes;
        if (left > 0) byTenant.set(tenantId, left);
        else byTenant.delete(tenantId);
      };
    },
  };
};

/** Why a slot was not given: none is free, the tenant has its share, or the service is closing. */
export type SlotRefusal = 'full' | 'share' | 'closing';

/** Room for work that is heavy on the machine, shared fairly by tenants. */
export interface HeavySlots {
  /** undefined when the tenant gets none now. Call what it gives exactly once to free the slot. */
  readonly take: (tenantId: string) => (() => void) | undefined;
  readonly inUse: () => number;
  /** The slots of each tenant, the most first. */
  readonly holders: () => readonly { readonly tenant_id: string; readonly in_use: number }[];
  readonly max: number;
  /** From now on nothing is admitted. */
  readonly close: () => void;
  readonly isClosed: () => boolean;
}

/** Slots that only a tenant without one may take: an eighth, at least one, none if there is only one slot. */
export const reserveOf = (max: number): number => (max > 1 ? Math.ceil(max / 8) : 0);

/**
 * `max` slots. A tenant that has none gets one whenever any is free. A tenant that has some gets another
 * while both hold: a slot outside of the reserve is free, and it has less than its equal share of those,
 * which is their number divided by the tenants at work, rounded up. So a tenant alone has all but the
 * reserve, and the reserve lets the next one in at once; as slots are freed, shares become equal. Nothing is
 * taken back, and nobody waits: a refused caller asks again. `onRefused` is called at each refusal.
 */
export const heavySlots = (
  max: number,
  onRefused: (reason: SlotRefusal) => void = () => undefined,
): HeavySlots => {
  const open = max - reserveOf(max);
  const byTenant = new Map<string, number>();
  let inUse = 0;
  let closed = false;

  const refusal = (tenantId: string): SlotRefusal | undefined => {
    if (closed) return 'closing';
    if (inUse >= max) return 'full';
    const own = byTenant.get(tenantId) ?? 0;
    if (own === 0) return undefined;
    if (own >= Math.ceil(open / byTenant.size)) return 'share';
    return inUse >= open ? 'full' : undefined;
  };

  const free = (tenantId: string): void => {
    const left = (byTenant.get(tenantId) ?? 0) - 1;
    if (left > 0) byTenant.set(tenantId, left);
    else byTenant.delete(tenantId);
    inUse -= 1;
  };

  return {
    take: (tenantId) => {
      const refused = refusal(tenantId);
      if (refused !== undefined) {
        onRefused(refused);
        return undefined;
      }
      byTenant.set(tenantId, (byTenant.get(tenantId) ?? 0) + 1);
      inUse += 1;
      let taken = true;
      return () => {
        if (taken) free(tenantId);
        taken = false;
      };
    },
    inUse: () => inUse,
    holders: () =>
      [...byTenant]
        .map(([tenant_id, held]) => ({ tenant_id, in_use: held }))
        .sort((a, b) => b.in_use - a.in_use || (a.tenant_id < b.tenant_id ? -1 : 1)),
    max,
    close: () => {
      closed = true;
    },
    isClosed: () => closed,
  };
};

/** Room that requests of one name have taken, before any list or store can tell of it. */
interface Taken {
  readonly bytes: number;
  /** When it ends by itself, on the clock of the caller, ms. */
  readonly untilMs: number;
  /** Requests that have not given it back; 0: what it was taken for did not happen. */
  takers: number;
}

/** Entries of one tenant, by what they are for. */
type TakenOf = ReadonlyMap<string, Taken>;

/**
 * What requests of this process have taken of their tenants' room. Lists are late: a request that is counted when it
 * is decided keeps the others within the limit.
 */
export interface Room {
  readonly of: (tenantId: string) => TakenOf;
  /** At once; a second request of the same name has the same room. The function gives it back. */
  readonly take: (tenantId: string, name: string, of: Omit<Taken, 'takers'>) => () => void;
  /** A list has these from now on. */
  readonly forget: (tenantId: string, names: Iterable<string>) => void;
  /** Drops what ended by then. */
  readonly forgetUntil: (ms: number) => void;
}

export const takenRoom = (): Room => {
  const tenants = new Map<string, Map<string, Taken>>();
  const drop = (tenantId: string, name: string, taken?: Taken): void => {
    const own = tenants.get(tenantId);
    if (own === undefined || (taken !== undefined && own.get(name) !== taken)) return;
    own.delete(name);
    if (own.size === 0) tenants.delete(tenantId);
  };
  return {
    of: (tenantId) => tenants.get(tenantId) ?? new Map(),
    take: (tenantId, name, of) => {
      const own = tenants.get(tenantId) ?? new Map<string, Taken>();
      const taken = own.get(name) ?? { ...of, takers: 0 };
      taken.takers += 1;
      tenants.set(tenantId, own.set(name, taken));
      let isGivenBack = false;
      return () => {
        if (isGivenBack) return;
        isGivenBack = true;
        taken.takers -= 1;
        if (taken.takers === 0) drop(tenantId, name, taken);
      };
    },
    forget: (tenantId, names) => {
      for (const name of names) drop(tenantId, name);
    },
    forgetUntil: (ms) => {
      for (const [tenantId, own] of tenants)
        for (const [name, taken] of own) if (taken.untilMs <= ms) drop(tenantId, name, taken);
    },
  };
};

/** What is in a text of names that are apart by blanks. */
export const namesIn = (text: string | null): ReadonlySet<string> =>
  new Set(text === null ? [] : text.split(' '));

interface UploadStockDeps {
  readonly objects: Pick<ObjectStore, 'list'>;
  /** From the log. */
  readonly documents: { readonly stateOf: (documentId: string) => Promise<DocumentState> };
  /** Bytes of a tenant's uploads that were used and are kept, and those of `ids` that were. From the read models. */
  readonly usedBytesOf: (
    tenantId: string,
    ids: readonly string[],
  ) => Promise<{ readonly bytes: number; readonly used: ReadonlySet<string> }>;
  /** Those of the documents that a read model knows as used and kept. */
  readonly usedOf: (documentIds: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Most bytes of one tenant. */
  readonly quotaBytes: number;
  readonly nowMs: () => number;
}

/** What tenants have in storage, against what they may have. */
export interface UploadStock {
  /** undefined when `bytes` more may be stored. */
  readonly check: (tenantId: string, bytes: number) => Promise<WorkProblem | undefined>;
  /**
   * Takes room for a file that is about to come, so that others do not have it too. The function gives it back; so does
   * `note` for a file that is stored here. `lastsMs`: the file is sent elsewhere, in this time if at all.
   */
  readonly take: (
    tenantId: string,
    documentId: string,
    file: { readonly bytes: number; readonly lastsMs?: number },
  ) => Promise<(() => void) | WorkProblem>;
  /** A file was stored, maybe in place of an earlier one. */
  readonly note: (tenantId: string, documentId: string, bytes: number) => void;
  /** A file was removed: its bytes are free for the tenant's next one. */
  readonly forget: (tenantId: string, documentId: string) => void;
}

/** How long a sum is good for; files stored here count at once. */
const SUM_MS = 30_000;
/** How often storage is searched for unused files that are not known here. */
const SCAN_MS = 3_600_000;
/** A request waits no longer for that; what is not known yet is not counted. */
const SCAN_WAIT_MS = 1_000;
const PAGE = 500;
/** Streams that are read beside each other: one by one, a server would be waited for as often. */
const STREAMS_AT_ONCE = 32;
const SUMS_MAX = 10_000;

/** Bytes of files that were not used yet, by tenant and document. */
type Unused = Map<string, Map<string, number>>;

const keep = (unused: Unused, tenantId: string, [documentId, bytes]: readonly [string, number]): void => {
  const own = unused.get(tenantId) ?? new Map<string, number>();
  unused.set(tenantId, own.set(documentId, bytes));
};

const pageOf = async (
  { usedOf, documents }: UploadStockDeps,
  page: ReadonlyMap<string, number>,
  unused: Unused,
): Promise<void> => {
  const used = await usedOf([...page.keys()]);
  const left = [...page].filter(([documentId]) => !used.has(documentId));
  await eachOf(left, STREAMS_AT_ONCE, async ([documentId, bytes]) => {
    const { presigned, registered, removed } = await documents.stateOf(documentId);
    // An object of an upload that was removed takes room until it is swept.
    if (presigned !== null && (registered === null || removed !== null))
      keep(unused, presigned.tenant_id, [documentId, bytes]);
  });
};

const scan = async (deps: UploadStockDeps): Promise<Unused> => {
  const unused: Unused = new Map();
  let page = new Map<string, number>();
  for await (const { key, bytes } of deps.objects.list(UPLOADS_PREFIX)) {
    const documentId = documentIdOfKey(key);
    if (documentId !== undefined) page.set(documentId, bytes);
    if (page.size < PAGE) continue;
    await pageOf(deps, page, unused);
    page = new Map();
  }
  await pageOf(deps, page, unused);
  return unused;
};

const full = (usedBytes: number, quotaBytes: number): WorkProblem =>
  workProblem(
    'upload_quota_exceeded',
    `Uploads of this tenant take ${String(usedBytes)} bytes; at most ${String(quotaBytes)} are kept for it.`,
    { used_bytes: usedBytes, quota_bytes: quotaBytes },
  );

/** The files of storage that were not used yet, as far as this process knows. */
const unusedFiles = (deps: UploadStockDeps) => {
  const { nowMs } = deps;
  let known: Unused = new Map();
  /** Stored since the last scan began: it may have missed them. */
  let arrived: Unused = new Map();
  /** Removed since then: it may have seen them. */
  const left = new Set<string>();
  let scanned: { readonly done: Promise<void>; readonly untilMs: number } | undefined;
  /** When the last scan that is done began. */
  let scannedFromMs = -Infinity;

  const lookThrough = (): Promise<void> => {
    if (scanned !== undefined && scanned.untilMs > nowMs()) return scanned.done;
    arrived = new Map();
    left.clear();
    const beganMs = nowMs();
    const done = scan(deps).then((found) => {
      for (const [tenantId, files] of arrived) for (const file of files) keep(found, tenantId, file);
      for (const files of found.values()) for (const documentId of left) files.delete(documentId);
      known = found;
      scannedFromMs = beganMs;
    });
    scanned = { done, untilMs: nowMs() + SCAN_MS };
    // What cannot be looked through now is looked through for the next that asks.
    done.catch(() => (scanned = undefined));
    return done;
  };
  return {
    /** Waits a moment for the scan that is due. */
    look: async (): Promise<void> => {
      await Promise.race([lookThrough(), pause(SCAN_WAIT_MS, undefined, { ref: false })]);
    },
    scannedFromMs: () => scannedFromMs,
    /** As far as is known now. */
    of: (tenantId: string): ReadonlyMap<string, number> => known.get(tenantId) ?? new Map(),
    /** Those are known to the read models now. */
    used: (tenantId: string, ids: ReadonlySet<string>): void => {
      for (const documentId of ids) known.get(tenantId)?.delete(documentId);
    },
    note: (tenantId: string, file: readonly [string, number]): void => {
      keep(known, tenantId, file);
      keep(arrived, tenantId, file);
    },
    forget: (tenantId: string, documentId: string): void => {
      known.get(tenantId)?.delete(documentId);
      arrived.get(tenantId)?.delete(documentId);
      left.add(documentId);
    },
  };
};

/** Bytes that were set aside for files to come. One that is sent elsewhere may be there already. */
const bytesToCome = (taken: TakenOf, files: ReadonlyMap<string, number>): number => {
  let sum = 0;
  for (const [documentId, { bytes, untilMs }] of taken)
    sum += untilMs === Infinity ? bytes : Math.max(0, bytes - (files.get(documentId) ?? 0));
  return sum;
};

/** Bytes of used files by tenant, as the read models had them lately. Requests at the same time share one look. */
const usedBytes = (
  { usedBytesOf, nowMs }: Pick<UploadStockDeps, 'usedBytesOf' | 'nowMs'>,
  { unused, room }: { readonly unused: ReturnType<typeof unusedFiles>; readonly room: Room },
) => {
  const sums = new Map<string, { readonly bytes: number; readonly untilMs: number }>();
  const looks = new Map<string, Promise<void>>();
  let removals = 0;
  const look = async (tenantId: string): Promise<void> => {
    const asOf = removals;
    const ids = [...unused.of(tenantId).keys(), ...room.of(tenantId).keys()];
    const { bytes, used } = await usedBytesOf(tenantId, ids);
    // A file was removed meanwhile: it may be among these.
    if (asOf !== removals) return;
    // Both at once: a file is in one of the two sums, and never in none.
    unused.used(tenantId, used);
    room.forget(tenantId, used);
    if (sums.size >= SUMS_MAX) sums.clear();
    sums.set(tenantId, { bytes, untilMs: nowMs() + SUM_MS });
  };
  return {
    /** undefined: they have to be looked up. */
    now: (tenantId: string): number | undefined => {
      const sum = sums.get(tenantId);
      return sum === undefined || sum.untilMs <= nowMs() ? undefined : sum.bytes;
    },
    look: (tenantId: string): Promise<void> => {
      const begun = looks.get(tenantId) ?? look(tenantId).finally(() => looks.delete(tenantId));
      looks.set(tenantId, begun);
      return begun;
    },
    forget: (tenantId: string): void => {
      removals += 1;
      sums.delete(tenantId);
    },
  };
};

/**
 * Files that were used are known to the read models; the others are counted as this process stores them, and
 * found in storage once an hour. A file that is to come is counted from the moment that it is let in: with its URL
 * where clients send their files to another service. So one process never lets in more than the quota. Several
 * together may have let in, beyond it, what the others took since this one looked last: half a minute for files that
 * were used, an hour for others.
 */
export const uploadStock = (deps: UploadStockDeps): UploadStock => {
  const { quotaBytes, nowMs } = deps;
  const unused = unusedFiles(deps);
  const room = takenRoom();
  const used = usedBytes(deps, { unused, room });

  /** Decides on the bytes that a tenant has; in one step with the count, so that nobody else decides in between. */
  const decided = async <T>(tenantId: string, decide: (storedBytes: number) => T): Promise<T> => {
    await unused.look();
    // A URL that has run out let nothing in that a later scan has not found.
    room.forgetUntil(unused.scannedFromMs());
    let bytes = used.now(tenantId);
    for (; bytes === undefined; bytes = used.now(tenantId)) await used.look(tenantId);
    const files = unused.of(tenantId);
    const stored = [...files.values()].reduce((sum, one) => sum + one, bytes);
    return decide(stored + bytesToCome(room.of(tenantId), files));
  };
  return {
    check: (tenantId, bytes) =>
      decided(tenantId, (stored) => (stored + bytes > quotaBytes ? full(stored, quotaBytes) : undefined)),
    take: (tenantId, documentId, { bytes, lastsMs = Infinity }) =>
      decided(tenantId, (stored) =>
        stored + bytes > quotaBytes
          ? full(stored, quotaBytes)
          : room.take(tenantId, documentId, { bytes, untilMs: nowMs() + lastsMs }),
      ),
    note: (tenantId, documentId, bytes) => {
      unused.note(tenantId, [documentId, bytes]);
      room.forget(tenantId, [documentId]);
    },
    forget: (tenantId, documentId) => {
      unused.forget(tenantId, documentId);
      room.forget(tenantId, [documentId]);
      used.forget(tenantId);
    },
  };
};
