import { z } from 'zod';
import { billingType } from '../../../../domain/account/messages.ts';
import { sha256 } from '../../../../domain/kernel/chain.ts';
import type { JsonObject } from '../../../../domain/kernel/json.ts';
import type { ObjectStore } from '../../../../domain/ports/services.ts';

const storedResult = z.object({
  operation_id: z.string(),
  document_id: z.string(),
  usage_id: z.string(),
  hold_id: z.string().nullable(),
  /** Digest of the request that it answers. */
  fingerprint: z.string(),
  stored_at: z.string(),
  pages: z.number(),
  status: z.enum(['success', 'partial']),
  /** Left out by releases that billed by what was sent. */
  billing_type: billingType.optional(),
  duration_ms: z.number(),
  body: z.record(z.string(), z.unknown()).transform((body) => body as JsonObject),
});

/** Work that was done and stored, and may or may not be settled yet. */
export type StoredResult = z.output<typeof storedResult>;

/** Where results lie in object storage. */
export const RESULTS_PREFIX = 'results/';

const folderOf = (workId: string): string => `${RESULTS_PREFIX}${workId}/`;

/** Where a result lies: under its work and its digest. */
export const resultKeyOf = (workId: string, digest: string): string => `${folderOf(workId)}${digest}`;

/** The work whose result lies under a key; undefined for one that an older release has put. */
export const workIdOfResult = (key: string): string | undefined =>
  /^results\/((?:ext|cnv)_[A-Za-z0-9-]+)\/[0-9a-f]{64}$/.exec(key)?.[1];

/** Where releases before this one put a result: by what its caller named it. */
export interface FormerPlace {
  readonly tenant_id: string;
  readonly endpoint: string;
  readonly idempotency_key: string;
}
export const formerKeyOf = ({ tenant_id, endpoint, idempotency_key }: FormerPlace): string =>
  `${RESULTS_PREFIX}${sha256([tenant_id, endpoint, idempotency_key].join('\u001f'))}`;

/**
 * Results of work, each under its digest: whoever does the same work again adds one, and replaces none. The burn and
 * the end of an operation name the one that was paid for. Outside Postgres, for they must outlive it.
 */
export const resultShelf = (objects: ObjectStore) => {
  const read = async (key: string): Promise<StoredResult | undefined> => {
    const bytes = await objects.get(key);
    if (bytes === undefined) return undefined;
    return storedResult.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data;
  };
  return {
    /** Gives the digest under which it lies. */
    put: async (result: StoredResult): Promise<string> => {
      const bytes = new TextEncoder().encode(JSON.stringify(result));
      const digest = sha256(bytes);
      await objects.put(resultKeyOf(result.operation_id, digest), bytes);
      return digest;
    },

    /** undefined when it was never stored, or is kept no more. */
    find: (workId: string, digest: string): Promise<StoredResult | undefined> =>
      read(resultKeyOf(workId, digest)),

    /** A result of the work, whoever has stored it, with its digest. */
    any: async (
      workId: string,
    ): Promise<{ readonly stored: StoredResult; readonly digest: string } | undefined> => {
      for await (const { key } of objects.list(folderOf(workId))) {
        const stored = await read(key);
        if (stored !== undefined) return { stored, digest: key.slice(folderOf(workId).length) };
      }
      return undefined;
    },

    /** What a release before this one has stored, and may not have settled. */
    former: (place: FormerPlace): Promise<StoredResult | undefined> => read(formerKeyOf(place)),
  };
};
