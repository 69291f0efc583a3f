import { z } from 'zod';
import { sha256 } from '../../domain/kernel/chain.ts';
import { jsonIn } from '../../domain/kernel/json.ts';

/** Names of what a backup holds beside the data themselves. */
export const MANIFEST = 'manifest.json';
export const MANIFEST_SUM = 'manifest.json.sha256';
export const SEAL = 'seal.json';
/** Under it everything lies as it does in a data folder. */
export const DATA = 'data';

const digest = z.string().regex(/^[0-9a-f]{64}$/);

const backedUpFile = z.strictObject({
  /** From the backup's folder, with `/`, and never out of it. */
  path: z.string().refine((path) => path.split('/').every((part) => !['', '.', '..'].includes(part))),
  bytes: z.int().min(0),
  sha256: digest,
});
export type BackedUpFile = z.output<typeof backedUpFile>;

const missingObject = z.strictObject({
  key: z.string(),
  /** `changed`: it is there, and is not what the event says. */
  why: z.enum(['absent', 'changed']),
  /** The stream whose events refer to it. */
  stream: z.string(),
});
export type MissingObject = z.output<typeof missingObject>;

const manifest = z.strictObject({
  format: z.literal('quire-backup-1'),
  quire_version: z.string(),
  made_at: z.string(),
  log: z.strictObject({
    /** Which log it is, as its first event says; null of a log without a name, left out by older releases. */
    log_id: z.string().nullable().optional(),
    /** Of the last event; null of an empty log. */
    position: z.string().nullable(),
    events: z.int().min(0),
    streams: z.int().min(0),
    /** Of the seal: over the last revision and hash of every stream. */
    seal_digest: digest,
    /** What an audit of the log found. */
    findings: z.int().min(0),
  }),
  /** null where objects lie in another service and are not part of the backup. */
  objects: z.strictObject({ count: z.int().min(0), bytes: z.int().min(0) }).nullable(),
  /** Objects that events refer to and that the data folder did not have. */
  missing: z.array(missingObject),
  files: z.array(backedUpFile),
});

/** What a backup is and holds. It is written last, so what has none is no backup. */
export type Manifest = z.output<typeof manifest>;

export const manifestText = (made: Manifest): string => `${JSON.stringify(made, undefined, 1)}\n`;

/** As `sha256sum -c` reads it. */
export const manifestSum = (text: string): string => `${sha256(text)}  ${MANIFEST}\n`;

/** A manifest, or why there is none. */
type ReadManifest =
  | { readonly kind: 'manifest'; readonly manifest: Manifest }
  | { readonly kind: 'unreadable'; readonly reason: string };

const unreadable = (reason: string): ReadManifest => ({ kind: 'unreadable', reason });

/** Reads a manifest and the digest beside it. */
export const readManifest = (text: string, sum: string | undefined): ReadManifest => {
  if (sum === undefined) return unreadable(`${MANIFEST_SUM} is missing`);
  if (sum !== manifestSum(text))
    return unreadable(`${MANIFEST} does not have the digest in ${MANIFEST_SUM}: one of the two was changed`);
  const read = manifest.safeParse(jsonIn(text));
  return read.success
    ? { kind: 'manifest', manifest: read.data }
    : unreadable(`${MANIFEST} is of a format that this release does not know`);
};
