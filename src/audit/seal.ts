import { z } from 'zod';
import { sha256 } from '../../domain/kernel/chain.ts';
import type { AuditedLog, Watcher } from './auditLog.ts';
import type { Findings } from './findings.ts';

const seal = z.strictObject({
  seal_version: z.literal(1),
  made_at: z.string(),
  /** Position of the last event; null of an empty log. */
  position: z.string().nullable(),
  events: z.number(),
  streams: z.number(),
  /** SHA-256 over the lines `stream revision hash`, sorted by stream. */
  digest: z.string(),
  heads: z.array(z.tuple([z.string(), z.string(), z.string()])),
});

/** The end of every stream at a moment. Kept elsewhere, it shows later what is no longer there. */
export type Seal = z.output<typeof seal>;

/** The file is no seal, or was changed. */
export class UnreadableSeal extends Error {
  override readonly name = 'UnreadableSeal';
}

const digestOf = (heads: Seal['heads']): string =>
  sha256(heads.map((head) => `${head.join(' ')}\n`).join(''));

/** Seals the log as it was audited. */
export const sealOf = ({ facts, heads }: AuditedLog, made_at: string): Seal => {
  const sorted = [...heads()]
    .map(([stream, { revision, hash }]): Seal['heads'][number] => [stream, revision.toString(), hash])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const { position, events, streams } = facts;
  return { seal_version: 1, made_at, position, events, streams, digest: digestOf(sorted), heads: sorted };
};

/** Reads a seal. Throws UnreadableSeal when it is none, or does not have its own digest. */
export const parseSeal = (text: string): Seal => {
  try {
    const read = seal.parse(JSON.parse(text));
    if (digestOf(read.heads) === read.digest) return read;
  } catch {
    throw new UnreadableSeal('The file is not a seal.');
  }
  throw new UnreadableSeal('The seal does not have its own digest: the file was changed.');
};

/** Verifies that every sealed event is still in the log, as it was. */
export const sealCheck = (
  findings: Findings,
  { heads, made_at }: Seal,
): { readonly watcher: Watcher; readonly finish: (audited: AuditedLog) => void } => {
  const open = new Map(
    heads.map(([stream, revision, hash]) => [stream, { revision: BigInt(revision), hash }]),
  );
  findings.checked('seal', heads.length);
  return {
    watcher: {
      stored: ({ stream, revision, position }, hash) => {
        const sealed = open.get(stream);
        if (sealed?.revision !== revision) return;
        open.delete(stream);
        if (sealed.hash === hash) return;
        findings.add({
          check: 'seal',
          stream,
          revision: revision.toString(),
          position: position.toString(),
          message: `${stream} revision ${revision} is not the event that was sealed at ${made_at}: the stream was rewritten.`,
          expected: sealed.hash.slice(0, 16),
          found: hash.slice(0, 16),
        });
      },
    },
    finish: (audited) => {
      if (open.size === 0) return;
      const ends = new Map<string, bigint>();
      for (const [stream, { revision }] of audited.heads()) if (open.has(stream)) ends.set(stream, revision);
      for (const [stream, { revision }] of open) {
        const end = ends.get(stream);
        findings.add({
          check: 'seal',
          stream,
          revision: revision.toString(),
          message: `${stream} has lost events: it had revision ${revision} when it was sealed at ${made_at}.`,
          expected: `revision ${revision}`,
          found: end === undefined ? 'no such stream' : `ends at revision ${end}`,
        });
      }
    },
  };
};
