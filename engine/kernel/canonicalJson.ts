import { hash as digest } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Json } from './json.ts';

/** Canonical JSON by RFC 8785: one text for one value, whatever the order of its members. */
export const canonicalJson = (value: Json): string => {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('only JSON values have a canonical form');
  return text;
};

/** SHA-256, hex. */
export const sha256 = (text: string | Uint8Array): string => digest('sha256', text);
