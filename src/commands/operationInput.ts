import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { extractionSettings } from '@quire/engine/ports/extractionEngine';
import { sha256 } from '../../domain/kernel/chain.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { reviewPolicy } from '../../domain/review.ts';
import { type ObjectStore, type SecretBox, secretObjectKey } from '../../domain/ports/services.ts';

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
  ...extractionSettings.shape,
  review: reviewPolicy.optional(),
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

const operationTask = z.discriminatedUnion('kind', [extractTask, convertTask]);

/** The work to do. It has keys while a process holds it, and never in storage. */
export type OperationTask = z.input<typeof operationTask>;

/** The work to do, with any document. */
const askedInput = z.object({
  task: operationTask,
  pages: z.string().optional(),
  at: z.array(z.string()),
  has_secrets: z.boolean(),
  /** Names what is sealed; left out by older releases, which sealed it under the ID of the work. */
  secret_id: z.string().optional(),
});

const operationInput = askedInput.extend({
  file: z.object({ sha256: z.string(), bytes: z.number(), file_name: z.string().nullable() }),
  source: z.enum(['upload', 'canonical']).nullable(),
});
export type OperationInput = z.output<typeof operationInput>;

const operationSecrets = z.object({
  llm: z.string().optional(),
  ocr: z.string().optional(),
  password: z.string().optional(),
});
export type OperationSecrets = z.output<typeof operationSecrets>;

/** Where the requests and files of operations lie until these have ended. */
export const OPERATIONS_PREFIX = 'operations/';

export const operationInputKeyOf = (operationId: string, digest: string): string =>
  `${OPERATIONS_PREFIX}${operationId}/${digest}`;
/** `sha256`: undefined for one that an older release accepted. */
export const operationFileKeyOf = (operationId: string, sha256?: string): string =>
  `${OPERATIONS_PREFIX}${operationId}/${sha256 === undefined ? 'file' : `file-${sha256}`}`;

/** The stored request is not what was accepted, or is gone. */
export class LostInput extends Error {
  override readonly name = 'LostInput';
}

export interface OperationInputDeps {
  readonly objects: ObjectStore;
  /** undefined where no key to encrypt fields with is configured. */
  readonly secrets: SecretBox | undefined;
}

/** The owner of an input: an operation or a batch. */
interface InputOwner {
  readonly id: string;
  readonly tenant_id: string;
}

const withoutKey = ({ api_key: _, ...rest }: z.input<typeof channel>) => rest;

const withoutKeys = (task: OperationTask): OperationTask =>
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

/** Removes all objects under a prefix. */
export const dropAll = async (
  objects: Pick<ObjectStore, 'list' | 'remove'>,
  prefix: string,
): Promise<void> => {
  const keys: string[] = [];
  for await (const { key } of objects.list(prefix)) keys.push(key);
  for (const key of keys) await objects.remove(key);
};

/** Sealed keys of work that ended; those of older releases lay under its ID itself. */
export const dropSecrets = async (
  objects: Pick<ObjectStore, 'list' | 'remove'>,
  workId: string,
): Promise<void> => {
  await objects.remove(secretObjectKey(workId));
  await dropAll(objects, `${secretObjectKey(workId)}/`);
};

/** Ended work no longer needs its request, its file, its parts and its keys. */
export const dropInputs = async (
  objects: Pick<ObjectStore, 'list' | 'remove'>,
  workId: string,
): Promise<void> => {
  await dropAll(objects, `${OPERATIONS_PREFIX}${workId}/`);
  await dropSecrets(objects, workId);
};

/** Work that a person has to look at needs its file and its request, but no longer its parts and its keys. */
export const dropUnreviewed = async (
  objects: Pick<ObjectStore, 'list' | 'remove'>,
  operationId: string,
): Promise<void> => {
  await dropAll(objects, `${OPERATIONS_PREFIX}${operationId}/parts/`);
  await dropSecrets(objects, operationId);
};

/**
 * Requests of one kind of work in object storage, each under its digest, so that none takes another's place; what is
 * secret in them is sealed under a name that is used once.
 */
const inputShelf =
  <Schema extends typeof askedInput>(schema: Schema) =>
  ({ objects, secrets }: OperationInputDeps) => ({
    /** The secrets first: a request that is known is whole. Gives its digest, by which the event names it. */
    put: async (
      { id, tenant_id }: InputOwner,
      {
        task,
        ...input
      }: Omit<z.input<Schema>, 'has_secrets' | 'secret_id' | 'task'> & {
        readonly task: OperationTask;
      },
      secret: OperationSecrets | null,
    ): Promise<string> => {
      const secret_id = `${id}/${randomUUID()}`;
      if (secret !== null) {
        if (secrets === undefined) throw new Error('there is nothing to seal keys with');
        const sealed = secrets.seal(JSON.stringify(secret), { tenant_id, secret_id });
        await objects.put(secretObjectKey(secret_id), sealed);
      }
      const sealing = secret === null ? { has_secrets: false } : { has_secrets: true, secret_id };
      const bytes = new TextEncoder().encode(
        JSON.stringify({ ...input, task: withoutKeys(task), ...sealing }),
      );
      const digest = sha256(bytes);
      await objects.put(operationInputKeyOf(id, digest), bytes);
      return digest;
    },

    /** Throws LostInput when it is missing or another, or its secrets cannot be opened any more. */
    load: async (
      { id, tenant_id }: InputOwner,
      digest: string,
    ): Promise<z.output<Schema> & { readonly secrets: OperationSecrets }> => {
      const bytes = await objects.get(operationInputKeyOf(id, digest));
      if (bytes === undefined || sha256(bytes) !== digest)
        throw new LostInput(`the request of ${id} is missing or was changed`);
      const input = schema.parse(JSON.parse(new TextDecoder().decode(bytes)));
      if (!input.has_secrets) return { ...input, secrets: {} };
      const secret_id = input.secret_id ?? id;
      const sealed = await objects.get(secretObjectKey(secret_id));
      const opened = sealed && secrets?.open(sealed, { tenant_id, secret_id });
      if (opened?.kind !== 'opened') throw new LostInput(`the keys of ${id} cannot be opened`);
      return { ...input, secrets: operationSecrets.parse(JSON.parse(opened.text)) };
    },
  });

export const operationInputs = inputShelf(operationInput);
/** The work to do with each document of a batch. Stored beside those of operations. */
export const batchInputs = inputShelf(askedInput);
