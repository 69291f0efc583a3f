import { z } from 'zod';
import { canonicalJson, sha256 } from '../kernel/chain.ts';
import { event } from '../kernel/event.ts';
import { instant } from '../kernel/units.ts';

const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/);

/** What the whole log was up to a position: small, however long the log is. */
export const shortSeal = z.strictObject({
  seal_version: z.literal(2),
  made_at: instant,
  /** Position of the last event, as text. */
  position: z.string().regex(/^\d+$/),
  /** Events up to there. */
  events: z.number().int().min(1),
  /** Digest over positions and hashes of all events up to there (`logDigest.ts`). */
  log_digest: sha256Hex,
  /** `digestOfSeal` of the one before; null of the first. */
  previous: sha256Hex.nullable(),
});
export type ShortSeal = z.output<typeof shortSeal>;

/** SHA-256 over the canonical JSON of a seal: what the next one names. */
export const digestOfSeal = (seal: ShortSeal): string => sha256(canonicalJson(seal));

/** The log was sealed. The stream's own chain binds every seal to all earlier ones. */
const logSealed = event('LogSealed', {
  seal: shortSeal,
  /** Where the same seal lies in the object store, and until when nobody can change it there. */
  object: z.strictObject({ key: z.string(), retained_until: instant }).nullable(),
});

export const sealEvent = z.discriminatedUnion('type', [logSealed]);
export type SealEvent = z.output<typeof sealEvent>;
