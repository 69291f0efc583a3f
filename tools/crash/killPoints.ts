import type { NewEvent } from '../../domain/kernel/recorded.ts';
import type { Sql, SqlTx } from '../../projections/engine/ports.ts';
import type { Parts } from '../../src/parts/parts.ts';

/** Moments at which a service may be killed, in the order in which a request meets them. */
export const KILL_POINTS = [
  'before an append',
  'after an append, before its answer',
  'before an append of several commands',
  'after an append of several commands',
  'after the claim of a payment, before the account knows',
  'after a sale, before its answer',
  'after a refund, before its answer',
  'after a hold',
  'before a result is stored',
  'after a result is stored, before it is billed',
  'after a burn, before its answer',
  'before a usage event is written',
  'before a hold is released',
  'after a hold was released',
  'before an answer is kept for replays',
  'after an answer is kept for replays',
  'before a snapshot is saved',
  'after a snapshot is saved',
  'before a checkpoint commits',
  'after a checkpoint committed',
  'while a rebuild fills its tables',
  'before a rebuild is swapped in',
  'after a rebuild was swapped in',
] as const;
export type KillPoint = (typeof KILL_POINTS)[number];

/** True of the points that only a rebuild meets. */
export const isOfRebuild = (point: KillPoint): boolean => point.includes('rebuild');

/** Says that the process is at a point. */
type Reach = (point: KillPoint) => void;

/** Ends this process at the `nth` time that it reaches `point`: no handler runs, nothing is flushed. */
export const killerAt = (point: KillPoint, nth: number): Reach => {
  let left = nth;
  return (reached) => {
    if (reached !== point) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  };
};

const AFTER: Readonly<Record<string, KillPoint>> = {
  PaymentClaimed: 'after the claim of a payment, before the account knows',
  CreditsGranted: 'after a sale, before its answer',
  CreditsRefunded: 'after a refund, before its answer',
  CreditsHeld: 'after a hold',
  CreditsBurned: 'after a burn, before its answer',
  HoldReleased: 'after a hold was released',
};

const BEFORE: Readonly<Record<string, KillPoint>> = {
  ExtractionCompleted: 'before a usage event is written',
  HoldReleased: 'before a hold is released',
};

const reachEach = (points: typeof AFTER, events: readonly NewEvent[], reach: Reach): void => {
  for (const type of new Set(events.map((event) => event.type))) {
    const point = points[type];
    if (point !== undefined) reach(point);
  }
};

const isOfSeveral = (events: readonly NewEvent[]): boolean =>
  new Set(events.map(({ metadata }) => metadata['causation_id'])).size > 1;

const killableLog = (log: Parts['log'], reach: Reach): Parts['log'] => ({
  ...log,
  append: async (stream, expected, events) => {
    const isAccount = stream.startsWith('account-');
    if (isAccount) reach('before an append');
    if (isAccount && isOfSeveral(events)) reach('before an append of several commands');
    reachEach(BEFORE, events, reach);
    const result = await log.append(stream, expected, events);
    reachEach(AFTER, events, reach);
    if (isAccount && isOfSeveral(events)) reach('after an append of several commands');
    if (isAccount) reach('after an append, before its answer');
    return result;
  },
});

const killableObjects = (objects: Parts['objects'], reach: Reach): Parts['objects'] => ({
  ...objects,
  put: async (key, bytes) => {
    const isResult = key.startsWith('results/');
    if (isResult) reach('before a result is stored');
    await objects.put(key, bytes);
    if (isResult) reach('after a result is stored, before it is billed');
  },
});

const isReplay = (text: string): boolean => text.includes('update http_cache.replays set status');

interface Seen {
  checkpoint: boolean;
  rebuild: boolean;
  swap: boolean;
}

/** What one transaction was about, told from its statements. */
const watched = (tx: SqlTx, seen: Seen, rebuilding: ReadonlySet<string>): SqlTx => ({
  ...tx,
  query: (text, values) => {
    if (text.includes('update projections.registry r')) seen.checkpoint = true;
    if (text.includes(`set state = 'live', serves = true`)) seen.swap = true;
    const schema = /\brm_\w+_v\d+_g\d+\b/.exec(text)?.[0];
    if (schema !== undefined && rebuilding.has(schema)) seen.rebuild = true;
    return tx.query(text, values);
  },
  script: (text) => tx.script(text),
});

const rememberRebuilding = (text: string, rebuilding: Set<string>): void => {
  if (!text.includes(`'rebuilding'`)) return;
  const schema = /create schema (rm_\w+)/.exec(text)?.[1];
  if (schema !== undefined) rebuilding.add(schema);
};

const killableSql = (sql: Sql, reach: Reach): Sql => {
  const rebuilding = new Set<string>();
  return {
    ...sql,
    query: async (text, values) => {
      if (isReplay(text)) reach('before an answer is kept for replays');
      const rows = await sql.query(text, values);
      if (isReplay(text)) reach('after an answer is kept for replays');
      return rows;
    },
    transaction: async (work) => {
      const seen: Seen = { checkpoint: false, rebuild: false, swap: false };
      const result = await sql.transaction(async (tx) => {
        const script = (text: string) => {
          rememberRebuilding(text, rebuilding);
          return tx.script(text);
        };
        const made = await work({ ...watched(tx, seen, rebuilding), script });
        if (seen.rebuild) reach('while a rebuild fills its tables');
        if (seen.swap) reach('before a rebuild is swapped in');
        if (seen.checkpoint && !seen.rebuild) reach('before a checkpoint commits');
        return made;
      });
      if (seen.swap) reach('after a rebuild was swapped in');
      if (seen.checkpoint && !seen.rebuild) reach('after a checkpoint committed');
      return result;
    },
  };
};

const killableSnapshots = (snapshots: Parts['snapshots'], reach: Reach): Parts['snapshots'] => ({
  ...snapshots,
  save: async (snapshot) => {
    reach('before a snapshot is saved');
    const result = await snapshots.save(snapshot);
    reach('after a snapshot is saved');
    return result;
  },
});

/** Parts that say where they are; `point` is the one that is waited for. */
export const killableParts = (parts: Parts, reach: Reach, point: KillPoint): Parts => ({
  ...parts,
  // Checkpoints are seen where the process ends itself: they are moved in this thread then.
  projections: point.includes('checkpoint') ? undefined : parts.projections,
  log: killableLog(parts.log, reach),
  snapshots: killableSnapshots(parts.snapshots, reach),
  objects: killableObjects(parts.objects, reach),
  sql: killableSql(parts.sql, reach),
});
