import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** What the service says of a key; `busy`: too many keys are asked about at this moment. */
export type KeyVerdict = 'good' | 'wrong' | 'away' | 'busy';

/** Keys that are asked about at once. */
const ASKED_MAX = 32;
const REMEMBERED_MAX = 10_000;
/** How long an answer counts, ms. A revoked key opens no more than this door: the service asks again at each call. */
const KEPT_MS = { good: 60_000, wrong: 5_000 } as const;

const digestOf = (key: string): string => createHash('sha256').update(key).digest('base64');

/** Asks about a key once, however many requests send it, and remembers the answer. `ask` never rejects. */
export const callerKeys = (ask: (key: string) => Promise<Exclude<KeyVerdict, 'busy'>>) => {
  const known = new LRUCache<string, 'good' | 'wrong'>({ max: REMEMBERED_MAX });
  const asked = new Map<string, Promise<KeyVerdict>>();

  const asking = async (digest: string, key: string): Promise<KeyVerdict> => {
    const verdict = await ask(key);
    asked.delete(digest);
    if (verdict !== 'away') known.set(digest, verdict, { ttl: KEPT_MS[verdict] });
    return verdict;
  };

  return (key: string): Promise<KeyVerdict> => {
    const digest = digestOf(key);
    const before = known.get(digest);
    if (before !== undefined) return Promise.resolve(before);
    const running = asked.get(digest);
    if (running !== undefined) return running;
    if (asked.size >= ASKED_MAX) return Promise.resolve('busy');
    const verdict = asking(digest, key);
    asked.set(digest, verdict);
    return verdict;
  };
};
