import { z } from 'zod';
import type { Snapshot } from '../ports/snapshotStore.ts';
import type { JsonObject } from './json.ts';

const storedSnapshot = z.strictObject({
  stream: z.string(),
  /** Text: JSON has no 64-bit integers. */
  revision: z.string().regex(/^\d{1,19}$/),
  hash: z.string(),
  reducer_version: z.int(),
  state: z.record(z.string(), z.unknown()),
  state_hash: z.string(),
});

/** A snapshot as logs keep it. */
export const snapshotToJson = (snapshot: Snapshot): JsonObject => ({
  ...snapshot,
  revision: snapshot.revision.toString(),
});

/** The inverse of `snapshotToJson`; throws on whatever else it is given. */
export const snapshotFromJson = (json: unknown): Snapshot => {
  const { revision, state, ...rest } = storedSnapshot.parse(json);
  return { ...rest, revision: BigInt(revision), state: state as JsonObject };
};
