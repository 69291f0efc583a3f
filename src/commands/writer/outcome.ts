/**
 * What became of a command. `contended`: others kept writing first. `busy`: nothing was done, there was
 * no room or no log. `unknown`: it may or may not have taken effect; asking again with the same identity
 * tells.
 */
export type Outcome<State, Event, Rejection> =
  | {
      readonly kind: 'done';
      /** What it appended; empty for a repeat. */
      readonly events: readonly Event[];
      /** The state right after the command. */
      readonly state: State;
      /** Where a reader has to be to see it. */
      readonly position: bigint | undefined;
    }
  | { readonly kind: 'rejected'; readonly rejection: Rejection; readonly state: State }
  | { readonly kind: 'contended' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'unknown' };

/** The outcomes that carry nothing. */
export const CONTENDED = { kind: 'contended' } as const;
export const BUSY = { kind: 'busy' } as const;
export const UNKNOWN = { kind: 'unknown' } as const;
