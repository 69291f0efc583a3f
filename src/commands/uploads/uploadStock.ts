import { setTimeout as pause } from 'node:timers/promises';
import { documentIdOfKey, UPLOADS_PREFIX } from '../../../domain/document.ts';
import type { ObjectStore } from '../../../domain/ports/services.ts';
import type { Documents } from './documents.ts';
import { workProblem, type WorkProblem } from '../work/workProblem.ts';

interface UploadStockDeps {
  readonly objects: Pick<ObjectStore, 'list'>;
  readonly documents: Pick<Documents, 'stateOf'>;
  /** Bytes of a tenant's uploads that were used and are kept. From the read models. */
  readonly usedBytesOf: (tenantId: string) => Promise<number>;
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
  /** A file was stored, maybe in place of an earlier one. */
  readonly note: (tenantId: string, documentId: string, bytes: number) => void;
  /** A file was removed: its bytes are free for the tenant's next one. */
  readonly forget: (tenantId: string, documentId: string) => void;
}

/** How long a sum is good for; files stored here count at once. */
const SUM_MS = 30_000;
/** How often storage is looked through for files that were not used yet, and of which nothing is known here. */
const SCAN_MS = 3_600_000;
/** A request waits no longer for that; what is not known yet is not counted. */
const SCAN_WAIT_MS = 1_000;
const PAGE = 500;
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
  for (const [documentId, bytes] of page) {
    if (used.has(documentId)) continue;
    const { presigned, registered, removed } = await documents.stateOf(documentId);
    // An object of an upload that was removed takes room until it is swept.
    if (presigned !== null && (registered === null || removed !== null))
      keep(unused, presigned.tenant_id, [documentId, bytes]);
  }
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

  const lookThrough = (): Promise<void> => {
    if (scanned !== undefined && scanned.untilMs > nowMs()) return scanned.done;
    arrived = new Map();
    left.clear();
    const done = scan(deps).then((found) => {
      for (const [tenantId, files] of arrived) for (const file of files) keep(found, tenantId, file);
      for (const files of found.values()) for (const documentId of left) files.delete(documentId);
      known = found;
    });
    scanned = { done, untilMs: nowMs() + SCAN_MS };
    // What cannot be looked through now is looked through for the next that asks.
    done.catch(() => (scanned = undefined));
    return done;
  };
  return {
    of: async (tenantId: string): Promise<Map<string, number>> => {
      await Promise.race([lookThrough(), pause(SCAN_WAIT_MS, undefined, { ref: false })]);
      return known.get(tenantId) ?? new Map();
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

/**
 * Files that were used are known to the read models; the others are counted as this process stores them, and
 * found in storage once an hour. Where clients send their files to another service, the hour is how late
 * the sum may be.
 */
export const uploadStock = (deps: UploadStockDeps): UploadStock => {
  const { quotaBytes, nowMs } = deps;
  const sums = new Map<string, { readonly usedBytes: number; readonly untilMs: number }>();
  const unused = unusedFiles(deps);

  const usedBytesOf = async (tenantId: string): Promise<number> => {
    const known = sums.get(tenantId);
    if (known !== undefined && known.untilMs > nowMs()) return known.usedBytes;
    const usedBytes = await deps.usedBytesOf(tenantId);
    const files = await unused.of(tenantId);
    for (const documentId of await deps.usedOf([...files.keys()])) files.delete(documentId);
    if (sums.size >= SUMS_MAX) sums.clear();
    sums.set(tenantId, { usedBytes, untilMs: nowMs() + SUM_MS });
    return usedBytes;
  };
  return {
    check: async (tenantId, bytes) => {
      const usedBytes = await usedBytesOf(tenantId);
      const files = await unused.of(tenantId);
      const stored = [...files.values()].reduce((sum, one) => sum + one, usedBytes);
      return stored + bytes > quotaBytes ? full(stored, quotaBytes) : undefined;
    },
    note: (tenantId, documentId, bytes) => unused.note(tenantId, [documentId, bytes]),
    forget: (tenantId, documentId) => {
      unused.forget(tenantId, documentId);
      sums.delete(tenantId);
    },
  };
};
