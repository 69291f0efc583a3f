import type { JsonObject } from '../kernel/json.ts';

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
