import type { Arrival, Delivered } from './arrivals.ts';

/** An event that identifies a log: the log is the same while this event is at its place, unchanged. */
export interface Witness {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly hash: string;
}

/**
 * The last event that was delivered up to a checkpoint. null: none was. undefined: not known, for a release
 * without witnesses moved the checkpoint.
 */
export type LastDelivered = Witness | null | undefined;

/** The hash that an event carries; one without any is known by its ID. */
const hashOf = ({ id, metadata }: Delivered): string =>
  typeof metadata['hash'] === 'string' ? metadata['hash'] : id;

export const witnessOf = (event: Delivered): Witness => {
  const { stream, revision, position } = event;
  return { stream, revision, position, hash: hashOf(event) };
};

/** Whether an event is the one that was seen. */
export const isSame = (witness: Witness, event: Delivered | undefined): boolean =>
  event !== undefined && event.position === witness.position && hashOf(event) === witness.hash;

/** The last event among arrivals, of any type; undefined where there are only checkpoints. */
export const lastDelivered = (arrivals: readonly Arrival[]): Witness | undefined => {
  const last = arrivals.findLast(({ delivered }) => delivered !== undefined)?.delivered;
  return last && witnessOf(last);
};

/** The text that is stored beside a checkpoint. It names that checkpoint and is void beside any other. */
export const textOfWitness = (at: bigint, witness: LastDelivered): string | null => {
  if (witness === undefined) return null;
  const event = witness && {
    ...witness,
    revision: witness.revision.toString(),
    position: witness.position.toString(),
  };
  return JSON.stringify({ at: at.toString(), event });
};

interface Kept {
  readonly at: string;
  readonly event: {
    readonly stream: string;
    readonly revision: string;
    readonly position: string;
    readonly hash: string;
  } | null;
}

export const witnessAt = (position: bigint | null, text: string | null): LastDelivered => {
  if (position === null) return null;
  if (text === null) return undefined;
  const { at, event } = JSON.parse(text) as Kept;
  if (BigInt(at) !== position) return undefined;
  return event && { ...event, revision: BigInt(event.revision), position: BigInt(event.position) };
};
