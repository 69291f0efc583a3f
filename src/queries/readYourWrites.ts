import { LRUCache } from 'lru-cache';

/** The read models' runner, as reads need it. */
interface ProjectionWait {
  waitFor(position: bigint, options: { readonly timeoutMs: number }): Promise<boolean>;
}

/** Lets a tenant read what this process has just written for it. */
export interface ReadYourWrites {
  /** Remembers how far the log is for `scope` (a tenant, or `ALL_TENANTS`). */
  note(scope: string, position: bigint | undefined): void;
  /**
   * Waits, at most about a second, until the read models have what was noted. Gives the position they
   * still miss, undefined when they have it.
   */
  settle(scope: string): Promise<bigint | undefined>;
  /** As `settle`, for everything that was noted. */
  settleAll(): Promise<bigint | undefined>;
  /** Drops what was noted: positions of a log that was replaced mean nothing. */
  forget(): void;
}

/** Scope of what belongs to no tenant: price lists, billing configs. */
export const ALL_TENANTS = '';

const WAIT_MS = 1_000;
const SCOPES_MAX = 10_000;

export const readYourWrites = (projections: ProjectionWait): ReadYourWrites => {
  const noted = new LRUCache<string, bigint>({ max: SCOPES_MAX });
  let newest: bigint | undefined;

  const isThere = async (position: bigint, scope: string): Promise<boolean> => {
    if (!(await projections.waitFor(position, { timeoutMs: WAIT_MS }))) return false;
    if (noted.get(scope) === position) noted.delete(scope);
    return true;
  };

  return {
    note: (scope, position) => {
      if (position === undefined) return;
      if (newest === undefined || position > newest) newest = position;
      const earlier = noted.get(scope);
      if (earlier !== undefined && earlier >= position) return;
      noted.set(scope, position);
    },
    settleAll: async () => {
      const position = newest;
      if (position === undefined || !(await projections.waitFor(position, { timeoutMs: WAIT_MS })))
        return position;
      if (newest === position) newest = undefined;
      return undefined;
    },
    forget: () => {
      noted.clear();
      newest = undefined;
    },
    settle: async (scope) => {
      const position = noted.get(scope);
      return position === undefined || (await isThere(position, scope)) ? undefined : position;
    },
  };
};
