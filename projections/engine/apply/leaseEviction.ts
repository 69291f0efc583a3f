import type { Sql } from '../ports.ts';
import type { TunedDeps } from '../runnerDeps.ts';
import { generations, hasRegistry } from '../registry.ts';

/** A holder that made no progress while there were events to apply. */
interface Suspect {
  readonly holder: string;
  readonly position: bigint | null;
  readonly sinceMs: number;
}

/** The furthest checkpoint that can move; a stopped one says nothing about its process. */
const furthest = async (sql: Sql): Promise<bigint | null | undefined> => {
  if (!(await hasRegistry(sql))) return undefined;
  const moving = (await generations(sql)).filter(({ serves, state }) => serves && state === 'live');
  if (moving.length === 0) return undefined;
  return moving.reduce<bigint | null>(
    (far, { position }) => (position !== null && (far === null || position > far) ? position : far),
    null,
  );
};

/**
 * Ends the session of a process that holds the lease `key` but makes no progress: it is frozen, or its machine is
 * gone. Call it whenever the lease is refused. Evicting a healthy process by mistake is safe: only one of two can
 * move a checkpoint, and it asks for the lease again.
 */
export const frozenHolderEviction = (deps: TunedDeps, key: bigint): (() => Promise<void>) => {
  const { sql, feed, timers, tuning, notify } = deps;
  const { holders } = sql;
  let suspect: Suspect | undefined;

  const observed = async (): Promise<Suspect | undefined> => {
    const [holder, position, head] = await Promise.all([holders?.of(key), furthest(sql), feed.head()]);
    if (holder === undefined || position === undefined || head === undefined) return undefined;
    if (position !== null && position >= head) return undefined;
    if (suspect?.holder === holder && suspect.position === position) return suspect;
    return { holder, position, sinceMs: timers.nowMs() };
  };

  return async () => {
    if (holders === undefined) return;
    suspect = await observed().catch(() => undefined);
    if (suspect === undefined) return;
    const stillMs = timers.nowMs() - suspect.sinceMs;
    if (stillMs < tuning.frozenMs) return;
    if (await holders.end(key, suspect.holder)) notify?.({ kind: 'evicted', stillMs });
    suspect = undefined;
  };
};
