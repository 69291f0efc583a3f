import type { RecordedEvent } from '../../../domain/ports/eventStore.ts';
import type { Arrival } from './arrivals.ts';

/** An event by which a log is known again: it must still stand where it stood, unchanged. */
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
const hashOf = ({ id, metadata }: RecordedEvent): string =>
  typeof metadata['hash'] === 'string' ? metadata['hash'] : id;

export const witnessOf = (event: RecordedEvent): Witness => {
  const { stream, revision, position } = event;
  return { stream, revision, position, hash: hashOf(event) };
};

/** Whether an event is the one that was seen. */
export const isSame = (witness: Witness, event: RecordedEvent | undefined): boolean =>
  event !== undefined && event.position === witness.position && hashOf(event) === witness.hash;

/** The last event among arrivals, whatever it is about; undefined where only places were reached. */
export const lastDelivered = (arrivals: readonly Arrival[]): Witness | undefined => {
  const last = arrivals.findLast(({ delivered }) => delivered !== undefined)?.delivered;
  return last && witnessOf(last);
};

/** As it is kept beside a checkpoint, which it names: only with that one it says anything. */
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
