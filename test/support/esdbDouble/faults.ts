/**
 * What can go wrong with one append. `die_after_commit` writes and then cuts every connection (as a
 * process of its own, it kills itself); `silence` neither writes nor answers; `commit_silently` writes
 * and never answers; `late` writes at once and answers after a delay.
 */
export type AppendFault =
  | { readonly kind: 'die_after_commit' }
  | { readonly kind: 'silence' }
  | { readonly kind: 'commit_silently' }
  | { readonly kind: 'late'; readonly ms: number }
  | { readonly kind: 'twice' }
  | { readonly kind: 'not_ready' }
  | { readonly kind: 'no_position' };

/** Switches of the double. Queued faults meet the next appends, one each. */
export interface Faults {
  readonly nextAppend: (...faults: readonly AppendFault[]) => void;
  readonly takeAppendFault: () => AppendFault | undefined;
  /** How many are queued that no append has met. */
  readonly left: () => number;
  /** ServerFeatures answers UNIMPLEMENTED, so that the client appends by single calls. */
  refuseFeatures: boolean;
  /** What the user may not do: `read` or `append`, and the stream, as in `read $all`. */
  readonly denied: Set<string>;
  /** Appends to streams that match are refused for want of rights. */
  refuseAppendsTo: RegExp | undefined;
  /** Delays every answer to an append. */
  delayMs: number;
}

export const faults = (): Faults => {
  const queue: AppendFault[] = [];
  return {
    nextAppend: (...more) => void queue.push(...more),
    takeAppendFault: () => queue.shift(),
    left: () => queue.length,
    refuseFeatures: false,
    denied: new Set(),
    refuseAppendsTo: undefined,
    delayMs: 0,
  };
};
