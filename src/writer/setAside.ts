import { type ObjectStore, secretObjectKey } from '../../domain/ports/services.ts';

const ENDING = '.aside';

/** Where an object lies that no event seemed to name, until it is certain that none does. */
export const asideKeyOf = (key: string): string => `${key}${ENDING}`;

/** The key that an object had before it was set aside; undefined: it was not. */
export const keyBeforeAside = (key: string): string | undefined =>
  key.endsWith(ENDING) ? key.slice(0, -ENDING.length) : undefined;

/** An object that may have been set aside as an event was written that names it. */
export const getOrAside = async (
  objects: Pick<ObjectStore, 'get'>,
  key: string,
): Promise<Uint8Array | undefined> => (await objects.get(key)) ?? objects.get(asideKeyOf(key));

/**
 * Takes an object away that no event names, and keeps its bytes: whoever found it there, or put it again meanwhile,
 * may be about to write an event that names it. What was erased meanwhile is not kept.
 */
export const setAside = async (
  objects: Pick<ObjectStore, 'get' | 'put' | 'remove'>,
  key: string,
): Promise<void> => {
  const bytes = await objects.get(key);
  if (bytes === undefined) return;
  const aside = asideKeyOf(key);
  await objects.put(aside, bytes);
  const isErased = (await objects.get(key)) === undefined;
  await objects.remove(isErased ? aside : key);
};

/** What a sweeper is told of the secrets of something: the live ones stay; undefined: it is gone for good. */
export const fateOfSecrets = (live: readonly string[] | undefined) => {
  if (live === undefined) return { kind: 'unknown' } as const;
  const named = new Set(live.map(secretObjectKey));
  return { kind: 'open', stays: 'hours', isNamed: (key: string) => named.has(key) } as const;
};
