import type { AnyKind } from '../../../domain/kernel/decider.ts';

/**
 * What became of a command. `contended`: others kept writing first. `busy`: nothing was done, there was
 * no room or no log. `unknown`: it may or may not have taken effect; asking again with the same identity
 * tells.
 */
export type Outcome<Kind extends AnyKind> =
  | {
      readonly kind: 'done';
      /** What it appended; empty for a repeat. */
      readonly events: readonly Kind['event'][];
      /** The state right after the command. */
      readonly state: Kind['state'];
      /** Where a reader has to be to see it. */
      readonly position: bigint | undefined;
    }
  | { readonly kind: 'rejected'; readonly rejection: Kind['rejection']; readonly state: Kind['state'] }
  | NotNow;

/** There is no result, and asking again may give one. */
export interface NotNow {
  readonly kind: 'contended' | 'busy' | 'unknown';
}

/** The outcomes that carry nothing. */
export const CONTENDED = { kind: 'contended' } as const;
export const BUSY = { kind: 'busy' } as const;
export const UNKNOWN = { kind: 'unknown' } as const;
