import { z } from 'zod';
import { billingType } from '../../../domain/account/words.ts';
import { sha256 } from '../../../domain/kernel/chain.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { ObjectStore } from '../../../domain/ports/objectStore.ts';

/** The identity that a caller gave its request, and the digest of what it asked for. */
export interface WorkIdentity {
  readonly tenant_id: string;
  readonly endpoint: string;
  readonly idempotency_key: string;
  readonly fingerprint: string;
}

const storedResult = z.object({
  operation_id: z.string(),
  document_id: z.string(),
  usage_id: z.string(),
  hold_id: z.string().nullable(),
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

/** As long as a replay is promised, ms. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** Where results lie in object storage. */
export const RESULTS_PREFIX = 'results/';

const keyOf = ({ tenant_id, endpoint, idempotency_key }: WorkIdentity): string =>
  `${RESULTS_PREFIX}${sha256([tenant_id, endpoint, idempotency_key].join('\u001f'))}`;

/** Results that a retry after a crash may find; kept outside Postgres, for they must outlive it. */
export const resultShelf = (objects: ObjectStore) => ({
  put: (identity: WorkIdentity, result: StoredResult): Promise<void> =>
    objects.put(keyOf(identity), new TextEncoder().encode(JSON.stringify(result))),

  /** undefined when there is none, it is older than a day, or it answers another request. */
  find: async (identity: WorkIdentity, now: string): Promise<StoredResult | undefined> => {
    const bytes = await objects.get(keyOf(identity));
    if (bytes === undefined) return undefined;
    const parsed = storedResult.safeParse(JSON.parse(new TextDecoder().decode(bytes)));
    if (!parsed.success || parsed.data.fingerprint !== identity.fingerprint) return undefined;
    return Date.parse(now) - Date.parse(parsed.data.stored_at) < KEPT_MS ? parsed.data : undefined;
  },

  remove: (identity: WorkIdentity): Promise<void> => objects.remove(keyOf(identity)),
});
