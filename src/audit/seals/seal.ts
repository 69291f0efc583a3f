import { z } from 'zod';
import { sha256 } from '../../../domain/kernel/chain.ts';
import { jsonIn } from '../../../domain/kernel/json.ts';
import { shortSeal, type ShortSeal } from '../../../domain/finding.ts';
import type { AuditedLog } from '../log/chainsCheck.ts';

const heads = z.array(z.tuple([z.string(), z.string(), z.string()]));

const headsSeal = {
  made_at: z.string(),
  /** Position of the last event; null of an empty log. */
  position: z.string().nullable(),
  events: z.number(),
  streams: z.number(),
  /** SHA-256 over the lines `stream revision hash`, sorted by stream. */
  digest: z.string(),
  heads,
};

const sealWithHeads = z.union([
  z.strictObject({ ...headsSeal, seal_version: z.literal(1) }),
  /** Version 2 also has the digest over the whole log. */
  z.strictObject({ ...headsSeal, seal_version: z.literal(2), log_digest: z.string() }),
]);

/** The end of every stream at a moment. Kept outside of the log, it later shows what was removed. */
export type Seal = z.output<typeof sealWithHeads>;

/** A seal of either kind, and where the audit has it from. */
export interface GivenSeal {
  readonly seal: Seal | ShortSeal;
  readonly from: string;
}

/** The file is no seal, or was changed. */
export class UnreadableSeal extends Error {
  override readonly name = 'UnreadableSeal';
}

const digestOf = (heads: Seal['heads']): string =>
  sha256(heads.map((head) => `${head.join(' ')}\n`).join(''));

/** Seals the log as it was audited. */
export const sealOf = ({ facts, heads, digest }: AuditedLog, made_at: string): Seal => {
  const sorted = [...heads()]
    .map(([stream, { revision, hash }]): Seal['heads'][number] => [stream, revision.toString(), hash])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const { position, events, streams } = facts;
  const head = { seal_version: 2, made_at, position, events, streams, log_digest: digest } as const;
  return { ...head, digest: digestOf(sorted), heads: sorted };
};

/** Reads a seal with the end of every stream. Throws UnreadableSeal when it is none, or not as it was made. */
export const parseSeal = (text: string): Seal => {
  const read = sealWithHeads.safeParse(jsonIn(text));
  if (!read.success) throw new UnreadableSeal('The file is not a seal.');
  if (digestOf(read.data.heads) === read.data.digest) return read.data;
  throw new UnreadableSeal('The seal does not have its own digest: the file was changed.');
};

/** Reads a short seal. Throws UnreadableSeal when it is none. */
export const parseShortSeal = (text: string): ShortSeal => {
  const read = shortSeal.safeParse(jsonIn(text));
  if (read.success) return read.data;
  throw new UnreadableSeal('The file is not a seal.');
};

/** Reads a file with a seal of `quire audit --seal`, or with a line for each seal of `quire seal --file`. */
export const parseSeals = (text: string): readonly (Seal | ShortSeal)[] => {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const isShort = lines.length > 0 && lines.every((line) => line.startsWith('{') && line.endsWith('}'));
  if (!isShort) return [parseSeal(text)];
  return lines.map((line) => (line.includes('"heads"') ? parseSeal(line) : parseShortSeal(line)));
};
