import { canonicalJson, sha256 } from './chain.ts';
import type { Json } from './json.ts';

/**
 * Digest of what a caller asked for: equal for equal requests, whatever the order of members. Only
 * members that the caller supplied belong in it, never an ID or a time made here.
 */
export const fingerprintOf = (request: Json): string => sha256(canonicalJson(request));
