import { z } from 'zod';
import { CannotSeal, sealLog, type SealDeps } from '../commands/sealing/sealLog.ts';
import { OperatorError, type Operation } from './protocol.ts';

const sealInput = z.strictObject({ retain_days: z.number().int().min(1).max(36_500).nullable() });
export type SealInput = z.output<typeof sealInput>;

/** Seals the log now, and answers with the seal. Throws OperatorError where it cannot. */
export const sealNow =
  (deps: SealDeps): Operation =>
  async (input, { send, signal }) => {
    const { retain_days: retainDays } = sealInput.parse(input);
    try {
      const sealed = await sealLog(deps, { retainDays, signal });
      if (sealed === undefined) throw new OperatorError('The log is empty: there is nothing to seal.');
      await send(sealed);
    } catch (error) {
      if (error instanceof CannotSeal) throw new OperatorError(error.message);
      throw error;
    }
  };
