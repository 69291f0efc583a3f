/** Hashed features share so many buckets; the places before them are of features that are always there. */
const BUCKETS = 1 << 15;
const RESERVED = 3;
/** How the shipped scorer likes a value. This and what it sees come last: older artifacts have no weight there. */
export const BY_SCORER = RESERVED + BUCKETS;
const SIGHTS = 1 << 12;
/** Length of a vector of weights. */
export const FEATURES = BY_SCORER + 1 + SIGHTS;

/** Features that are not hashed: what the rules found, how well the label names the field, that it is there. */
export const BY_RULES = 0;
export const LABEL_SCORE = 1;
export const BIAS = 2;

/** FNV-1a, 32 bits, over UTF-16 units. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** The place of a feature's weight. */
export const featureOf = (text: string): number => RESERVED + (hashOf(text) & (BUCKETS - 1));

/** The place of the weight of what the shipped scorer sees. */
export const sightOf = (text: string): number => BY_SCORER + 1 + (hashOf(text) & (SIGHTS - 1));
