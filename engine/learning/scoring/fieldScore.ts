import { z } from 'zod';

/** A share of right fields, 0 to 1, on the examples that were held out. */
export const score = z.number().min(0).max(1);

/** How one field fared before and after training. */
export const fieldScore = z.strictObject({ path: z.string(), baseline: score, best: score });
