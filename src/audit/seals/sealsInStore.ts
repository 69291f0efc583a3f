import type { ObjectStore } from '../../../domain/ports/services.ts';
import { digestOfSeal, type ShortSeal } from '../../../domain/finding.ts';
import { parseShortSeal, UnreadableSeal, type GivenSeal } from './seal.ts';

interface Kept {
  readonly key: string;
  readonly seal: ShortSeal;
}

/** Keys begin with the time of the seal. */
const keysUnder = async ({ list }: Pick<ObjectStore, 'list'>, prefix: string): Promise<readonly string[]> => {
  const keys: string[] = [];
  for await (const { key } of list(prefix)) keys.push(key);
  return keys.sort();
};

/** undefined for an object that is no seal. */
const readSeal = async ({ get }: Pick<ObjectStore, 'get'>, key: string): Promise<ShortSeal | undefined> => {
  const bytes = await get(key);
  try {
    return parseShortSeal(Buffer.from(bytes ?? []).toString());
  } catch (error) {
    if (error instanceof UnreadableSeal) return undefined;
    throw error;
  }
};

/** A seal names the one before it; if that is missing, it was removed. The first may name one of the log. */
const brokenLinks = (kept: readonly Kept[]): readonly string[] => {
  const known = new Set(kept.map(({ seal }) => digestOfSeal(seal)));
  return kept
    .slice(1)
    .filter(({ seal }) => seal.previous !== null && !known.has(seal.previous))
    .map(({ key }) => `${key} names a seal before it that is not in the object store.`);
};

/** Every seal under a prefix of the object store, and the flaws of their files. */
export const sealsInStore = async (
  objects: Pick<ObjectStore, 'list' | 'get'>,
  prefix: string,
): Promise<{
  readonly seals: readonly GivenSeal[];
  readonly keys: readonly string[];
  readonly flaws: readonly string[];
}> => {
  const kept: Kept[] = [];
  const flaws: string[] = [];
  const keys = await keysUnder(objects, prefix);
  for (const key of keys) {
    const seal = await readSeal(objects, key);
    if (seal === undefined)
      flaws.push(`${key} in the object store is no seal: it was changed, or put there by another.`);
    else kept.push({ key, seal });
  }
  const seals = kept.map(({ seal }) => ({ seal, from: 'the object store' }));
  return { seals, keys, flaws: [...flaws, ...brokenLinks(kept)] };
};
