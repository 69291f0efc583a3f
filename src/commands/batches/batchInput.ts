import { z } from 'zod';
import { sha256 } from '../../../domain/kernel/chain.ts';
import { secretObjectKey } from '../../../domain/ports/secretBox.ts';
import {
  LostInput,
  operationInputKeyOf,
  operationSecrets,
  operationTask,
  withoutKeys,
  type OperationInputDeps,
  type OperationSecrets,
} from '../operations/operationInput.ts';
import type { BatchName } from './batches.ts';

const batchInput = z.object({
  task: operationTask,
  pages: z.string().optional(),
  at: z.array(z.string()),
  has_secrets: z.boolean(),
});

/** What is to be done with each document of a batch. */
export type BatchInput = z.input<typeof batchInput>;

/** Requests lie beside those of operations, and are swept as they are where nobody accepted them. */
export const batchInputKeyOf = operationInputKeyOf;

/** Requests of batches in object storage; what is secret in them is sealed. */
export const batchInputs = ({ objects, secrets }: OperationInputDeps) => ({
  /** Gives the digest of the request, by which the event names it. */
  put: async (
    { batch_id, tenant_id }: BatchName,
    { task, ...input }: Omit<BatchInput, 'has_secrets'>,
    secret: OperationSecrets | null,
  ): Promise<string> => {
    if (secret !== null) {
      if (secrets === undefined) throw new Error('there is nothing to seal keys with');
      const sealed = secrets.seal(JSON.stringify(secret), { tenant_id, secret_id: batch_id });
      await objects.put(secretObjectKey(batch_id), sealed);
    }
    const stored = { ...input, task: withoutKeys(task), has_secrets: secret !== null };
    const bytes = new TextEncoder().encode(JSON.stringify(stored));
    const digest = sha256(bytes);
    await objects.put(batchInputKeyOf(batch_id, digest), bytes);
    return digest;
  },

  /** Throws LostInput when it is missing or another, or its secrets cannot be opened any more. */
  load: async ({ batch_id, tenant_id }: BatchName, digest: string) => {
    const bytes = await objects.get(batchInputKeyOf(batch_id, digest));
    if (bytes === undefined || sha256(bytes) !== digest)
      throw new LostInput(`the request of ${batch_id} is missing or was changed`);
    const input = batchInput.parse(JSON.parse(new TextDecoder().decode(bytes)));
    if (!input.has_secrets) return { ...input, secrets: {} };
    const sealed = await objects.get(secretObjectKey(batch_id));
    const opened = sealed && secrets?.open(sealed, { tenant_id, secret_id: batch_id });
    if (opened?.kind !== 'opened') throw new LostInput(`the keys of ${batch_id} cannot be opened`);
    return { ...input, secrets: operationSecrets.parse(JSON.parse(opened.text)) };
  },

  /** A batch that ended needs none of it any more. */
  drop: async (batchId: string, digest: string): Promise<void> => {
    await objects.remove(secretObjectKey(batchId));
    await objects.remove(batchInputKeyOf(batchId, digest));
  },
});
