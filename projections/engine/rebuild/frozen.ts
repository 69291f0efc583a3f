import type { EventFeed } from '../../../domain/ports/eventFeed.ts';
import type { ProjectionNotice, RunnerTuning } from '../feed/notices.ts';
import type { Sql, Timers } from '../ports.ts';
import { generations, hasRegistry } from '../registry.ts';

export interface FrozenDeps {
  readonly sql: Sql;
  readonly feed: EventFeed;
  readonly timers: Timers;
  readonly tuning: RunnerTuning;
  readonly notify?: (notice: ProjectionNotice) => void;
}

/** A holder that was seen to do nothing while there was something to do. */
interface Suspect {
  readonly holder: string;
  readonly position: bigint | null;
  readonly sinceMs: number;
}

/** The furthest checkpoint that could move: one that has stopped says nothing about its process. */
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
 * Ends the session of a process that holds `key` but has stopped working: frozen, or on a machine that is
 * gone without a word. Call it at each refusal of the lock. A process that is ended by mistake loses
 * nothing: the checkpoints let only one of two move them, and it asks for the lock again.
 */
export const frozenHolders = (deps: FrozenDeps, key: bigint): (() => Promise<void>) => {
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
