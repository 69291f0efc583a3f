import { identityOf } from '../../../domain/eventLog/identity.ts';
import type { KnownLog } from '../../../domain/ports/knownLog.ts';
import type { RunningSlot } from '../apply/applyBatch.ts';
import { divergenceOf, ReadModelsDiverged } from './divergence.ts';

/**
 * Makes sure that slots stand on the log that is there, and remembers which that is with their checkpoints.
 * Throws ReadModelsDiverged.
 */
export const compared = async (log: KnownLog, slots: readonly RunningSlot[]): Promise<void> => {
  const diverged = await divergenceOf(
    log,
    slots.map(({ generation }) => generation),
  );
  if (diverged !== undefined) throw new ReadModelsDiverged(diverged);
  const logId = (await identityOf(log)) ?? null;
  for (const slot of slots) slot.generation = { ...slot.generation, logId: slot.generation.logId ?? logId };
};
