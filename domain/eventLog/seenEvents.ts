import type { Witness } from './witness.ts';

/**
 * The furthest event that this process has read or written over each connection to its log since they were last
 * compared. A log that lost anything that this process knows has lost one of them. The furthest of all would not
 * tell: a log that was put back may have grown beyond what it lost.
 */
export interface SeenEvents {
  /** The connection that reads and appends go through now; see `EventStore.epoch`. */
  readonly epoch: () => number;
  /** An event that was read or written over that connection. */
  readonly note: (event: Witness, epoch: number) => void;
  readonly all: () => readonly Witness[];
  /** Forgets one that a later one stands for. */
  readonly drop: (event: Witness) => void;
  /** Forgets one that the log no longer has. */
  readonly lose: (event: Witness) => void;
  /** How many were lost. */
  readonly losses: () => number;
}

export const furthestOf = (events: readonly Witness[]): Witness | undefined => {
  const [first, ...others] = events;
  return first && others.reduce((far, one) => (one.position > far.position ? one : far), first);
};

export const seenEvents = (epoch: () => number): SeenEvents => {
  const byEpoch = new Map<number, Witness>();
  let losses = 0;
  const drop = (event: Witness): void => {
    for (const [over, one] of byEpoch) if (one === event) byEpoch.delete(over);
  };
  return {
    epoch,
    note: (event, over) => {
      const far = byEpoch.get(over);
      if (far === undefined || event.position >= far.position) byEpoch.set(over, event);
    },
    all: () => [...byEpoch.values()],
    drop,
    lose: (event) => {
      losses += 1;
      drop(event);
    },
    losses: () => losses,
  };
};
