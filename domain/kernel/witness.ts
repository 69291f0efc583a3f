import type { JsonObject } from './json.ts';

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

/** An event that identifies a log: the log is the same while this event is at its place, unchanged. */
export interface Witness {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly hash: string;
}

/** What an event is recognised by, of all that is recorded. */
interface Placed extends Omit<Witness, 'hash'> {
  readonly id: string;
  readonly metadata: JsonObject;
}

/** The hash that an event carries; one without any is known by its ID. */
export const markOf = ({ id, metadata }: Pick<Placed, 'id' | 'metadata'>): string =>
  typeof metadata['hash'] === 'string' ? metadata['hash'] : id;

export const witnessOf = (event: Placed): Witness => {
  const { stream, revision, position } = event;
  return { stream, revision, position, hash: markOf(event) };
};

/** Whether an event is the one that was seen, by what it says alone: a server may tell an append another position. */
export const isThere = (witness: Witness, event: Placed | undefined): boolean =>
  event !== undefined && markOf(event) === witness.hash;

/** Whether an event is the one that was seen, and where it was. */
export const isSame = (witness: Witness, event: Placed | undefined): boolean =>
  isThere(witness, event) && event?.position === witness.position;

/** As JSON can hold it. */
export interface WitnessText {
  readonly stream: string;
  readonly revision: string;
  readonly position: string;
  readonly hash: string;
}

export const witnessToJson = (witness: Witness): WitnessText => ({
  ...witness,
  revision: witness.revision.toString(),
  position: witness.position.toString(),
});

export const witnessFromJson = (text: WitnessText): Witness => ({
  ...text,
  revision: BigInt(text.revision),
  position: BigInt(text.position),
});
