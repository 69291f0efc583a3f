import { z } from 'zod';
import { accept, type Command, type Decider, event, type StreamKind } from '../kernel/decider.ts';
import { sha256 } from '../kernel/chain.ts';
import { instant, tenantId } from '../kernel/amounts.ts';
import type { Json, JsonObject } from '../kernel/json.ts';

/** By what documents are told to be the same: their bytes, or some of their values. */
const sameBy = z.enum(['file', 'values']);

/** A document was read that says what others may have said before. No text of it: the digest alone. */
const documentSighted = event('DocumentSighted', {
  tenant_id: tenantId,
  /** Of the tenant, the config, and the file with its pages or the values: equal for what is told to be the same. */
  key_sha256: z.string(),
  by: sameBy,
  document_id: z.string(),
  /** The extraction that has read it. */
  work_id: z.string(),
  /** The chosen ones, as a request chooses them; null: all. */
  pages: z.string().nullable(),
  sighted_at: instant,
});

export const sightingEvent = z.discriminatedUnion('type', [documentSighted]);
type SightingEvent = z.output<typeof sightingEvent>;
export type Sighting = SightingEvent['data'];

type Sight = Command<'Sight', Omit<Sighting, 'sighted_at'>>;

/** Sightings that are written: whatever comes later is a duplicate of these. */
const SIGHTINGS_MAX = 20;

export type SightingKind = StreamKind<readonly Sighting[], Sight, SightingEvent, never>;

/** Documents that are told to be the same, in the order of the log: the first one is no duplicate. */
export const sighting: Decider<SightingKind> = {
  initialState: [],
  decide: (seen, { data, meta: { now } }) =>
    seen.length >= SIGHTINGS_MAX || seen.some(({ work_id }) => work_id === data.work_id)
      ? accept()
      : accept({ type: 'DocumentSighted', data: { ...data, sighted_at: now } }),
  evolve: (seen, { data }) => [...seen, data],
};

export const sightingStream = (keySha256: string): string => `sighting-${keySha256}`;

/**
 * Those of the sightings that an extraction repeats: earlier ones, but for other readings of the same pages of the
 * same document, which are no duplicates.
 */
export const earlierSightings = (
  seen: readonly Sighting[],
  own: Pick<Sighting, 'document_id' | 'work_id' | 'pages'>,
): readonly Sighting[] => {
  const at = seen.findIndex(({ work_id }) => work_id === own.work_id);
  return (at < 0 ? seen : seen.slice(0, at)).filter(
    ({ document_id, pages }) => document_id !== own.document_id || pages !== own.pages,
  );
};

/** Letters and digits count: `INV-001` and `inv 001` are one number. */
const plain = (value: Json | undefined): string =>
  typeof value === 'string' || typeof value === 'number'
    ? String(value)
        .normalize('NFKC')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}]+/gu, '')
    : '';

/** The value at a JSON Pointer; undefined: there is none. */
const valueAt = (result: JsonObject, path: string): Json | undefined => {
  let value = result as Json | undefined;
  for (const part of path.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const members = value as JsonObject;
    value = Object.hasOwn(members, name) ? members[name] : undefined;
  }
  return value;
};

interface SameKey {
  readonly tenant_id: string;
  readonly config_id: string;
}

/** The key of a file and its pages. */
export const keyOfFile = ({ tenant_id }: SameKey, file_sha256: string, pages: string | null): string =>
  sha256(JSON.stringify(['file', tenant_id, file_sha256, pages]));

/** The key of some values; undefined: one of them is missing, so nothing is told by them. */
export const keyOfValues = (
  { tenant_id, config_id }: SameKey,
  paths: readonly string[],
  result: JsonObject,
): string | undefined => {
  const values = paths.map((path) => plain(valueAt(result, path)));
  if (values.length === 0 || values.includes('')) return undefined;
  return sha256(JSON.stringify(['values', tenant_id, config_id, ...values]));
};
