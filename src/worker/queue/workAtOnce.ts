import { fairShares, type FairShares } from '@quire/engine/kernel/fairShares';
import { heavySlots } from '../../commands/work/heavySlots.ts';

/** `ran`: it was this worker's, whatever became of it. */
export type QueueRun = 'ran' | 'not_ours' | 'reaped';

interface OwnedWork {
  readonly tenant_id: string;
}

/** Pieces that a worker does beside each other; one is kept free for a tenant that has none running. */
export const PLACES = 3;

/** Tells of CPU time that processes used for a tenant. `listen` gives what ends the listening. */
export interface WorkTurns {
  readonly listen: (charged: (tenantId: string, cpuMs: number) => void) => () => void;
}

interface WorkAtOnceDeps<Name> {
  readonly idOf: (name: Name) => string;
  /** What nobody works on. May be late. */
  readonly waiting: () => Promise<readonly Name[]>;
  /** Throws nothing. */
  readonly run: (name: Name) => Promise<QueueRun>;
  readonly onError: (error: unknown) => void;
  readonly shutdown: AbortSignal;
  /** Left out: `PLACES`. */
  readonly places?: number | undefined;
  /** Left out: a tenant pays for the time that its work ran. */
  readonly turns: WorkTurns | undefined;
}

interface WorkAtOnce {
  /** Begins what may begin now. What is freed by a piece that ends is filled at once. */
  readonly takeUp: () => Promise<void>;
  /** Until nothing runs and nothing may begin. */
  readonly settled: () => Promise<void>;
  /** How many were this worker's. */
  readonly ran: () => number;
  readonly places: () => { readonly busy: number; readonly max: number };
}

/** Puts what waits in line, takes what waits no more out of it, and keeps the order of tenants. */
const inLine = <Name extends OwnedWork>(line: FairShares<string>, idOf: (name: Name) => string) => {
  const known = new Map<string, Name>();
  return {
    refresh: (waiting: readonly Name[]): void => {
      const ids = new Set(waiting.map(idOf));
      for (const [id, { tenant_id }] of known)
        if (!ids.has(id)) {
          line.remove(tenant_id, id);
          known.delete(id);
        }
      for (const name of waiting) {
        const id = idOf(name);
        const isNew = !known.has(id);
        known.set(id, name);
        if (isNew) line.add(name.tenant_id, id, performance.now());
      }
    },
    /** Every piece in line, in the order of its turn, until each was offered once; `take` says whether it goes. */
    offer: (take: (name: Name) => boolean): void => {
      const refused: string[] = [];
      for (let id = line.next(); id !== undefined; id = line.next()) {
        const name = known.get(id);
        if (name !== undefined && take(name)) known.delete(id);
        else refused.push(id);
      }
      for (const id of refused.reverse()) {
        const name = known.get(id);
        if (name !== undefined) line.putBack(name.tenant_id, id);
      }
    },
  };
};

/**
 * Does work of several tenants beside each other: a tenant alone gets all places but one, and another gets a
 * place at once. Who has paid least goes next, by the CPU time of its work, as for the processes that documents
 * are read in: work of an hour counts as much as many pieces of a minute.
 */
export const workAtOnce = <Name extends OwnedWork>(deps: WorkAtOnceDeps<Name>): WorkAtOnce => {
  const { idOf, turns } = deps;
  const slots = heavySlots(deps.places ?? PLACES);
  const shares = fairShares<string>();
  const line = inLine<Name>(shares, idOf);
  const running = new Map<string, Promise<void>>();
  /** Work that was another's: not asked for again before the next look at the queue. */
  const passed = new Set<string>();
  const charge = (tenantId: string, ms: number): void => shares.charge(tenantId, ms, performance.now());
  const deafen = turns?.listen(charge);
  deps.shutdown.addEventListener('abort', () => deafen?.(), { once: true });
  let ran = 0;
  let taking: Promise<void> | undefined;

  const done = async (name: Name, free: () => void): Promise<void> => {
    const began = performance.now();
    const result = await deps.run(name);
    free();
    if (turns === undefined) charge(name.tenant_id, performance.now() - began);
    shares.end(name.tenant_id, performance.now());
    running.delete(idOf(name));
    if (result === 'not_ours') passed.add(idOf(name));
    else ran += 1;
    void fill().catch(deps.onError);
  };
  const fillOnce = async (): Promise<void> => {
    const waiting = await deps.waiting();
    line.refresh(waiting.filter((name) => !running.has(idOf(name)) && !passed.has(idOf(name))));
    line.offer((name) => {
      if (deps.shutdown.aborted) return false;
      const free = slots.take(name.tenant_id);
      if (free !== undefined) running.set(idOf(name), done(name, free));
      return free !== undefined;
    });
  };
  const fill = (): Promise<void> => {
    if (deps.shutdown.aborted) return Promise.resolve();
    return (taking ??= fillOnce().finally(() => (taking = undefined)));
  };
  return {
    takeUp: () => {
      passed.clear();
      return fill();
    },
    settled: async () => {
      for (let begun = taking; running.size > 0 || begun !== undefined; begun = taking) {
        await begun?.catch(() => undefined);
        if (running.size > 0) await Promise.race(running.values());
      }
    },
    ran: () => ran,
    places: () => ({ busy: slots.inUse(), max: slots.max }),
  };
};
