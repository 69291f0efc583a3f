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
  /** The fault of an append by its number from 1, where none is queued. */
  appendFaultAt: ((nth: number) => AppendFault | undefined) | undefined;
  /** How many are queued that no append has met. */
  readonly left: () => number;
  /** ServerFeatures answers UNIMPLEMENTED, so that the client appends by single calls. */
  refuseFeatures: boolean;
  /** Every read is UNAUTHENTICATED: the user or the password is not the server's. */
  refuseLogin: boolean;
  /** What the user may not do: `read` or `append`, and the stream, as in `read $all`. */
  readonly denied: Set<string>;
  /** Appends to streams that match are refused for want of rights. */
  refuseAppendsTo: RegExp | undefined;
  /** Delays every answer to an append. */
  delayMs: number;
  /**
   * Reads and subscriptions send so many events and then nothing more, not even their end, until this is
   * called again with another number or without one. Their connections stay.
   */
  readonly haltReads: (afterEvents?: number) => void;
  /** Resolves when a read that has sent so many events may send the next message. */
  readonly mayGoOn: (sentEvents: number) => Promise<void>;
}

export const faults = (): Faults => {
  const queue: AppendFault[] = [];
  let haltAfter = Infinity;
  let halted: (() => void)[] = [];
  let appends = 0;
  const switches: Faults = {
    nextAppend: (...more) => void queue.push(...more),
    takeAppendFault: () => {
      appends += 1;
      return queue.shift() ?? switches.appendFaultAt?.(appends);
    },
    appendFaultAt: undefined,
    left: () => queue.length,
    refuseFeatures: false,
    refuseLogin: false,
    denied: new Set(),
    refuseAppendsTo: undefined,
    delayMs: 0,
    haltReads: (afterEvents = Infinity) => {
      haltAfter = afterEvents;
      for (const lookAgain of halted) lookAgain();
      halted = [];
    },
    mayGoOn: async (sentEvents) => {
      while (sentEvents >= haltAfter) await new Promise<void>((resolve) => halted.push(resolve));
    },
  };
  return switches;
};
