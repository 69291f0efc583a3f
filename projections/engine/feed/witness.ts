import {
  witnessFromJson,
  witnessOf,
  witnessToJson,
  type Witness,
  type WitnessText,
} from '../../../domain/eventLog/witness.ts';
import type { Arrival } from './arrivals.ts';

/**
 * The last event that was delivered up to a checkpoint. null: none was. undefined: not known, for a release
 * without witnesses moved the checkpoint.
 */
export type LastDelivered = Witness | null | undefined;

/** The last event among arrivals, of any type; undefined where there are only checkpoints. */
export const lastDelivered = (arrivals: readonly Arrival[]): Witness | undefined => {
  const last = arrivals.findLast(({ delivered }) => delivered !== undefined)?.delivered;
  return last && witnessOf(last);
};

/** The text that is stored beside a checkpoint. It names that checkpoint and is void beside any other. */
export const textOfWitness = (at: bigint, witness: LastDelivered): string | null =>
  witness === undefined
    ? null
    : JSON.stringify({ at: at.toString(), event: witness && witnessToJson(witness) });

interface Kept {
  readonly at: string;
  readonly event: WitnessText | null;
}

export const witnessAt = (position: bigint | null, text: string | null): LastDelivered => {
  if (position === null) return null;
  if (text === null) return undefined;
  const { at, event } = JSON.parse(text) as Kept;
  if (BigInt(at) !== position) return undefined;
  return event && witnessFromJson(event);
};
