import { z } from 'zod';
import type { ObjectStore } from '../../../domain/ports/services.ts';
import { nameOfFact, workFact, type WorkFact } from './workFact.ts';

/** Where facts lie that the log does not have yet. Only who has written one to the log removes it. */
export const UNFINISHED_PREFIX = 'unfinished/';

const stored = z.strictObject({ version: z.literal(1), fact: workFact });

const keyOf = (fact: WorkFact): string => `${UNFINISHED_PREFIX}${nameOfFact(fact)}`;

/** Facts in the object store, until the log has them. */
export const factShelf = (objects: Pick<ObjectStore, 'put' | 'get' | 'list' | 'remove'>) => ({
  put: (fact: WorkFact): Promise<void> =>
    objects.put(keyOf(fact), new TextEncoder().encode(JSON.stringify({ version: 1, fact }))),

  remove: (fact: WorkFact): Promise<void> => objects.remove(keyOf(fact)),

  keys: async function* (): AsyncGenerator<string> {
    for await (const { key } of objects.list(UNFINISHED_PREFIX)) yield key;
  },

  /** undefined when it was removed meanwhile; throws for one that a newer release wrote, or nobody. */
  read: async (key: string): Promise<WorkFact | undefined> => {
    const bytes = await objects.get(key);
    if (bytes === undefined) return undefined;
    const parsed = stored.safeParse(JSON.parse(new TextDecoder().decode(bytes)));
    if (parsed.success) return parsed.data.fact;
    throw new Error(`${key} is no fact that this release can read`);
  },
});

export type FactShelf = ReturnType<typeof factShelf>;
