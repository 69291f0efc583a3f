import { uploadKeyOf, documentIdOfKey, UPLOADS_PREFIX } from '../../domain/document.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { withoutTexts } from '../../domain/eventLog/writtenText.ts';
import type { ProjectedEvent } from '../../projections/engine/ports.ts';
import { aesSecretBox } from '../../adapters/local/local.ts';
import { textVault } from '../../src/writer/vault.ts';
import { belongingsWatch } from './belongingsWatch.ts';
import { RUSH } from './limits.ts';
import { byType } from './readModel.ts';
import type { WatchDeps } from './told.ts';
import { KEEPS, skewOf, SWEPT_MS } from './worlds.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY_MS = 24 * HOUR;
/** Read models may stand still for so long. */
const LATE_MS = 5 * MINUTE;
/** A process may know a key for so long after it was revoked. */
const KNOWN_MS = MINUTE;

interface Upload {
  readonly tenant_id: string;
  /** Virtual ms. */
  readonly presignedAt: number;
  isUsed: boolean;
  /** When work on it was accepted that has not ended, virtual ms. */
  readonly awaited: Map<string, number>;
  /** Virtual ms: since then its file is to be gone. */
  goneAt: number;
}

interface Watched {
  readonly say: (id: string, text: string) => void;
}

/** Files that are sent before they are used: they are there for as long as they may be used, and no longer. */
const filesWatch = ({ world, shared, sched, told, raw }: WatchDeps, { say }: Watched) => {
  const uploads = new Map<string, Upload>();
  /** Bytes of files that batches here have from elsewhere, by tenant. */
  const elsewhere = new Map<string, number>();
  const skewMs = Math.max(15 * MINUTE, 2 * skewOf(world));
  const gone = (id: string): void => {
    const one = uploads.get(id);
    if (one !== undefined) one.goneAt = Math.min(one.goneAt, sched.nowMs());
  };
  const ageOf = (key: string): number => sched.nowMs() - (shared.objects.get(key)?.at ?? -DAY_MS);
  const ended = (operationId: string): void => {
    for (const { awaited } of uploads.values()) awaited.delete(operationId);
  };
  /** Told of an upload that nobody asked to remove. */
  const sweptTooSoon = (id: string): void => {
    const [one, key] = [uploads.get(id), uploadKeyOf(id)];
    if (one === undefined || one.goneAt !== Infinity) return;
    const isLate = sched.taken.some(({ deviation }) => deviation.kind === 'stale');
    const lateMs = isLate ? LATE_MS : 1_000;
    if ([...one.awaited.values()].some((at) => sched.nowMs() - at > lateMs))
      say('upload-swept', `${key} was removed, and work on it waits`);
    const days = (world.keeps ?? KEEPS).uploads;
    if (one.isUsed && days === 0) say('upload-swept', `${key} was removed, and it is used`);
    // By when its URL was given: a process that stood still for a day may put a file in the place of an older one.
    else if (sched.nowMs() - one.presignedAt < DAY_MS - skewMs)
      say('upload-swept', `${key} was removed within a day`);
  };
  const handle = byType({
    UploadPresigned: ({ data }) =>
      void uploads.set(data.document_id, {
        tenant_id: data.tenant_id,
        presignedAt: sched.nowMs(),
        isUsed: false,
        goneAt: Infinity,
        awaited: new Map(),
      }),
    DocumentRegistered: ({ data }) => {
      const one = uploads.get(data.document_id);
      if (one !== undefined) one.isUsed = true;
      else if (data.source === 'upload')
        elsewhere.set(data.tenant_id, data.bytes + (elsewhere.get(data.tenant_id) ?? 0));
    },
    OperationAccepted: ({ data }) =>
      void uploads.get(data.document_id)?.awaited.set(data.operation_id, sched.nowMs()),
    OperationSucceeded: ({ data }) => ended(data.operation_id),
    OperationFailed: ({ data }) => ended(data.operation_id),
    OperationCancelled: ({ data }) => ended(data.operation_id),
    UploadRemoved: ({ data }) => {
      if (data.reason === 'retention') sweptTooSoon(data.document_id);
      gone(data.document_id);
    },
    DocumentErased: ({ data }) => gone(data.document_id),
  });
  const sentOf = (id: string) => [...told.uploads.values()].find(({ document_id }) => document_id === id);
  return {
    see: handle,
    removed: (key: string): void => {
      const id = documentIdOfKey(key) ?? '';
      if (uploads.get(id)?.goneAt === Infinity && shared.objects.has(key)) sweptTooSoon(id);
    },
    look: async (): Promise<void> => {
      const there = new Set<string>();
      for await (const { key } of raw.list(UPLOADS_PREFIX)) there.add(key);
      for (const [id, { isUsed, goneAt }] of uploads) {
        const [key, now] = [uploadKeyOf(id), sched.nowMs()];
        if (isUsed && goneAt === Infinity && sentOf(id) !== undefined && !there.has(key))
          say('upload-lost', `${key} is not there, and it is used`);
        const sinceMs = isUsed ? now - goneAt : ageOf(key);
        if (there.has(key) && Math.min(sinceMs, ageOf(key)) > DAY_MS + SWEPT_MS + skewMs)
          say('upload-left', `${key} is there, and nobody may use it any more`);
      }
    },
    /** Bytes of a tenant that are in storage. */
    bytesOf: (tenant: string): number =>
      [...uploads].reduce(
        (sum, [id, { tenant_id }]) =>
          sum + (tenant_id === tenant ? (shared.objects.get(uploadKeyOf(id))?.bytes.byteLength ?? 0) : 0),
        elsewhere.get(tenant) ?? 0,
      ),
    tenants: (): readonly string[] => [...new Set([...uploads.values()].map(({ tenant_id }) => tenant_id))],
  };
};

/** A key that was revoked lets nobody in, once processes may know it. */
const keysWatch = ({ sched, told }: WatchDeps, { say }: Watched) => ({
  entered: (keyId: string, askedAt: number): void => {
    const revoked = told.revoked.find(({ key_id }) => key_id === keyId);
    // While the log is away, a process believes read models that may stand still for minutes.
    const isLate = sched.taken.some(({ deviation }) => deviation.kind === 'stale');
    if (revoked !== undefined && askedAt > revoked.at + KNOWN_MS + (isLate ? 6 * MINUTE : 0))
      say('revoked-key', `${keyId} was let in ${String(askedAt - revoked.at)} ms after it was revoked`);
  },
});

/** Never more than one store and, while it is away, each process may let in; and nobody waits for ever. */
const rushWatch = ({ world, sched, told }: WatchDeps, { say }: Watched) => ({
  look: (): void => {
    const isAway = told.limitsAway;
    const losses = world.actors.filter((one) => one.kind === 'evict' && one.limits === true).length;
    const lives =
      world.processes.length + sched.taken.filter(({ deviation }) => deviation.kind === 'kill').length;
    for (const tenant of new Set(told.rushed.map((one) => one.tenant))) {
      const own = told.rushed.filter((one) => one.tenant === tenant);
      const times = own
        .filter(({ waitMs }) => waitMs === null)
        .map(({ at }) => at)
        .sort((a, b) => a - b);
      const buckets = 1 + losses + (isAway ? lives : 0);
      const mostIn = (seconds: number): number =>
        buckets * RUSH.burst + (isAway ? lives + 1 : 1) * RUSH.rate_per_second * seconds;
      const spans = times.flatMap((from, n) =>
        times.slice(n).map((to, m) => ({ ms: to - from, letIn: m + 1 })),
      );
      for (const { ms, letIn } of spans)
        if (letIn > mostIn(ms / 1_000)) say('rush', `${String(letIn)} were let in within ${String(ms)} ms`);
      const longest = (1_000 * RUSH.burst) / RUSH.rate_per_second;
      for (const { waitMs } of own)
        if (waitMs !== null && waitMs > longest)
          say('rush', `somebody was told to wait ${String(waitMs)} ms`);
    }
  },
});

/** Texts of old events are in the vault before the log says that they are moved. */
const textsWatch = ({ shared, raw, world }: WatchDeps, { say }: Watched) => ({
  look: async (): Promise<void> => {
    if (!world.actors.some(({ kind }) => kind === 'move')) return;
    const random = () => new Uint8Array();
    const vault = textVault({ objects: raw, box: undefined, boxOf: aesSecretBox, nowMs: () => 0, random });
    const position = shared.events.findLast(({ type }) => type === 'TextsMoved')?.position;
    if (position === undefined) {
      say('texts-unmoved', 'for hours nobody could move the texts of old events');
      return;
    }
    for (const event of shared.events.filter((one) => one.position < position)) {
      const texts = new Map<string, string>();
      withoutTexts(event, (token, text) => void texts.set(token, text));
      if (texts.size === 0 || typeof event.metadata['tenant_id'] !== 'string') continue;
      const found = await vault.texts([...texts.keys()]);
      for (const [token, text] of texts)
        if (found.get(token) !== text) say('text-unmoved', `a text of ${event.type} is not in the vault`);
    }
  },
});

/** Watches over files that are sent before, keys, limits, texts that are moved, and what tenants keep. */
export const visitsWatch = (deps: WatchDeps, watched: Watched) => {
  const [files, keys, rushes] = [
    filesWatch(deps, watched),
    keysWatch(deps, watched),
    rushWatch(deps, watched),
  ];
  const texts = textsWatch(deps, watched);
  const belongings = belongingsWatch(deps, watched);
  return {
    ...keys,
    see: (event: ProjectedEvent | RecordedEvent): void => files.see(event as ProjectedEvent),
    removed: files.removed,
    bytesOf: files.bytesOf,
    uploaders: files.tenants,
    look: async (): Promise<void> => {
      await files.look();
      rushes.look();
      await texts.look();
      await belongings.look();
    },
  };
};
