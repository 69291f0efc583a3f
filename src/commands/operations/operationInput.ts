import { z } from 'zod';
import { sha256 } from '../../../domain/kernel/chain.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { ObjectStore } from '../../../domain/ports/objectStore.ts';
import { secretObjectKey, type SecretBox } from '../../../domain/ports/secretBox.ts';

const channel = z.object({
  provider_model: z.string().optional(),
  api_key: z.string().optional(),
  api_base: z.string().optional(),
  max_tokens: z.number().optional(),
  temperature: z.number().optional(),
  num_retries: z.number().optional(),
});

const extractTask = z.object({
  kind: z.literal('extract'),
  schema: z.record(z.string(), z.unknown()).transform((value) => value as JsonObject),
  mode: z.enum(['fast', 'standard', 'robust']),
  allow_partial: z.boolean(),
  citations: z.boolean(),
  min_confidence: z.number().optional(),
  config: z.object({ config_id: z.string(), version: z.number() }).nullable(),
  artifact_id: z.string().nullable(),
  llm: channel,
  ocr: channel,
});

const convertTask = z.object({
  kind: z.literal('to_markdown'),
  mode: z.enum(['default', 'fast']),
  form: z.object({
    blocks: z.boolean().optional(),
    pageMarkdown: z.boolean().optional(),
    proposedSchema: z.boolean().optional(),
    tables: z.enum(['markdown', 'html']).optional(),
  }),
  ocr: channel,
});

export const operationTask = z.discriminatedUnion('kind', [extractTask, convertTask]);

/** What is to be done. Keys are in it while a process has it, and never where it is stored. */
export type OperationTask = z.input<typeof operationTask>;

const operationInput = z.object({
  task: operationTask,
  file: z.object({ sha256: z.string(), bytes: z.number(), file_name: z.string().nullable() }),
  source: z.enum(['upload', 'canonical']).nullable(),
  pages: z.string().optional(),
  at: z.array(z.string()),
  has_secrets: z.boolean(),
});
export type OperationInput = z.output<typeof operationInput>;

export const operationSecrets = z.object({
  llm: z.string().optional(),
  ocr: z.string().optional(),
  password: z.string().optional(),
});
export type OperationSecrets = z.output<typeof operationSecrets>;

/** Where the requests and files of operations lie until these have ended. */
export const OPERATIONS_PREFIX = 'operations/';

export const operationInputKeyOf = (operationId: string, digest: string): string =>
  `${OPERATIONS_PREFIX}${operationId}/${digest}`;
export const operationFileKeyOf = (operationId: string): string => `${OPERATIONS_PREFIX}${operationId}/file`;

/** The stored request is not what was accepted, or is gone. */
export class LostInput extends Error {
  override readonly name = 'LostInput';
}

export interface OperationInputDeps {
  readonly objects: ObjectStore;
  /** undefined where no key to encrypt fields with is configured. */
  readonly secrets: SecretBox | undefined;
}

interface Kept {
  readonly operation_id: string;
  readonly tenant_id: string;
}

const withoutKey = ({ api_key: _, ...rest }: z.input<typeof channel>) => rest;

export const withoutKeys = (task: OperationTask): OperationTask =>
  task.kind === 'extract'
    ? { ...task, llm: withoutKey(task.llm), ocr: withoutKey(task.ocr) }
    : { ...task, ocr: withoutKey(task.ocr) };

/** Keys of the caller's own models, and the password of the document. */
export const secretsIn = (task: OperationTask, password: string | undefined): OperationSecrets | null => {
  const llm = task.kind === 'extract' ? task.llm.api_key : undefined;
  const given = { llm, ocr: task.ocr.api_key, password };
  const some = Object.entries(given).filter(([, value]) => value !== undefined);
  return some.length === 0 ? null : Object.fromEntries(some);
};

/** Requests and files of operations in object storage; what is secret in them is sealed, each under its name. */
export const operationInputs = ({ objects, secrets }: OperationInputDeps) => ({
  /** The file and the secrets first: an operation that is known is whole. Gives the digest of the request. */
  put: async (
    { operation_id, tenant_id }: Kept,
    input: Omit<OperationInput, 'has_secrets' | 'task'> & { readonly task: OperationTask },
    { path, secret }: { readonly path: string; readonly secret: OperationSecrets | null },
  ): Promise<string> => {
    await objects.putFile(operationFileKeyOf(operation_id), path);
    if (secret !== null) {
      if (secrets === undefined) throw new Error('there is nothing to seal keys with');
      const sealed = secrets.seal(JSON.stringify(secret), { tenant_id, secret_id: operation_id });
      await objects.put(secretObjectKey(operation_id), sealed);
    }
    const stored = { ...input, task: withoutKeys(input.task), has_secrets: secret !== null };
    const bytes = new TextEncoder().encode(JSON.stringify(stored));
    const digest = sha256(bytes);
    await objects.put(operationInputKeyOf(operation_id, digest), bytes);
    return digest;
  },

  /** Throws LostInput when it is missing or another, or its secrets cannot be opened any more. */
  load: async (
    { operation_id, tenant_id }: Kept,
    digest: string,
  ): Promise<OperationInput & { readonly secrets: OperationSecrets }> => {
    const bytes = await objects.get(operationInputKeyOf(operation_id, digest));
    if (bytes === undefined || sha256(bytes) !== digest)
      throw new LostInput(`the request of ${operation_id} is missing or was changed`);
    const input = operationInput.parse(JSON.parse(new TextDecoder().decode(bytes)));
    if (!input.has_secrets) return { ...input, secrets: {} };
    const sealed = await objects.get(secretObjectKey(operation_id));
    const opened = sealed && secrets?.open(sealed, { tenant_id, secret_id: operation_id });
    if (opened?.kind !== 'opened') throw new LostInput(`the keys of ${operation_id} cannot be opened`);
    return { ...input, secrets: operationSecrets.parse(JSON.parse(opened.text)) };
  },

  /** An operation that ended needs none of it any more. */
  drop: async (operationId: string, digest: string): Promise<void> => {
    await objects.remove(secretObjectKey(operationId));
    await objects.remove(operationFileKeyOf(operationId));
    await objects.remove(operationInputKeyOf(operationId, digest));
  },
});
