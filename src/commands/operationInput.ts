import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { extractionSettings } from '@quire/engine/ports/extractionEngine';
import { sha256 } from '../../domain/kernel/chain.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { partsPolicy, reviewPolicy } from '../../domain/review.ts';
import { checks, duplicatesRule, pinnedLookup } from '../../domain/rules/checks.ts';
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
  checks: checks.optional(),
  lookups: z.array(pinnedLookup).optional(),
  duplicates: duplicatesRule.optional(),
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
    codes: z.boolean().optional(),
    chunks: z
      .object({
        by: z.enum(['heading', 'page', 'size']),
        maxCharacters: z.number().optional(),
        overlap: z.number().optional(),
      })
      .optional(),
    tableRows: z.boolean().optional(),
    tables: z.enum(['markdown', 'html']).optional(),
  }),
  ocr: channel,
});

const sortTask = z.object({
  kind: z.enum(['classify', 'split']),
  classes: z.array(
    z.object({
      name: z.string(),
      description: z.string().optional(),
      schema: z
        .record(z.string(), z.unknown())
        .transform((value) => value as JsonObject)
        .optional(),
      examples: z.array(z.string()).optional(),
    }),
  ),
  /** Of a split. */
  review: partsPolicy.optional(),
  /** What the parts of some classes get once the stack is split: the work, and the tags that it is billed with. */
  then: z
    .array(
      z.object({
        classes: z.array(z.string()),
        task: extractTask,
        tags: z.record(z.string(), z.string()).optional(),
      }),
    )
    .optional(),
});

const operationTask = z.discriminatedUnion('kind', [extractTask, convertTask, sortTask]);

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

const channelKeys = z.object({ llm: z.string().optional(), ocr: z.string().optional() });

const operationSecrets = channelKeys.extend({
  password: z.string().optional(),
  /** Of what the parts of a stack get, in its order. */
  then: z.array(channelKeys).optional(),
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

type ExtractTask = z.input<typeof extractTask>;
type SortTask = z.input<typeof sortTask>;

const extractWithoutKeys = (task: ExtractTask): ExtractTask => ({
  ...task,
  llm: withoutKey(task.llm),
  ocr: withoutKey(task.ocr),
});

const withoutKeys = (task: OperationTask): OperationTask => {
  if (task.kind === 'extract') return extractWithoutKeys(task);
  if (task.kind === 'to_markdown') return { ...task, ocr: withoutKey(task.ocr) };
  if (task.then === undefined) return task;
  return { ...task, then: task.then.map((one) => ({ ...one, task: extractWithoutKeys(one.task) })) };
};

/** The schemas of classes, and what their parts get, are those of saved configs: a request has the names alone. */
const namesOnly = ({ then, ...task }: SortTask) => ({
  ...task,
  classes: task.classes.map(({ schema: _, ...one }) => one),
  then: then?.map(({ classes, task: { config } }) => ({ classes, config })),
});

/** Bytes of a request with its quotes escaped, as it is kept: what is longer would hide the result behind it. */
const REQUEST_BYTES_MAX = 917_504;

/** A request as it is kept beside its result: without keys and passwords; undefined: it is too long to be kept. */
export const requestText = (task: OperationTask, pages: string | undefined): string | undefined => {
  const kept = 'classes' in task ? namesOnly(task) : withoutKeys(task);
  const text = JSON.stringify({ ...kept, pages });
  const bytes = text.length > REQUEST_BYTES_MAX ? Infinity : Buffer.byteLength(JSON.stringify(text));
  return bytes > REQUEST_BYTES_MAX ? undefined : text;
};

const keysIn = (task: OperationTask): z.output<typeof channelKeys> => ({
  llm: task.kind === 'extract' ? task.llm.api_key : undefined,
  ocr: 'ocr' in task ? task.ocr.api_key : undefined,
});

const keysAfter = (task: OperationTask): OperationSecrets['then'] => {
  const keys = 'then' in task ? (task.then ?? []).map((one) => keysIn(one.task)) : [];
  return keys.some(({ llm, ocr }) => llm !== undefined || ocr !== undefined) ? keys : undefined;
};

/** Keys of the caller's own models, and the password of the document. */
export const secretsIn = (task: OperationTask, password: string | undefined): OperationSecrets | null => {
  const given = { ...keysIn(task), password, then: keysAfter(task) };
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

/**
 * Work that a person has to look at, or whose parts are other work's documents, needs its file and its request, but no
 * longer its parts. `keys`: whether it needs its keys.
 */
export const dropUnreviewed = async (
  objects: Pick<ObjectStore, 'list' | 'remove'>,
  operationId: string,
  { keys = false } = {},
): Promise<void> => {
  await dropAll(objects, `${OPERATIONS_PREFIX}${operationId}/parts/`);
  if (!keys) await dropSecrets(objects, operationId);
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

/** What each document of a batch gets that is a part of a stack. */
const stackParts = z.object({
  file: operationInput.shape.file,
  source: operationInput.shape.source,
  /** Digests of the work for the parts, as `batchInputs` has it. */
  tasks: z.array(z.object({ input_sha256: z.string(), tags: z.record(z.string(), z.string()).optional() })),
  /** In the order of the batch; `task` is a place in `tasks`. */
  parts: z.array(z.object({ pages: z.string(), task: z.number() })),
});
export type StackParts = z.output<typeof stackParts>;

/** The parts of stacks, beside the requests of the batches that they are. */
export const stackPartsOn = (objects: Pick<ObjectStore, 'get' | 'put'>) => ({
  /** Gives the digest by which the event of the batch names them. */
  put: async (batchId: string, parts: StackParts): Promise<string> => {
    const bytes = new TextEncoder().encode(JSON.stringify(parts));
    await objects.put(operationInputKeyOf(batchId, sha256(bytes)), bytes);
    return sha256(bytes);
  },
  /** Throws LostInput when they are missing, or others. */
  load: async (batchId: string, digest: string): Promise<StackParts> => {
    const bytes = await objects.get(operationInputKeyOf(batchId, digest));
    if (bytes === undefined || sha256(bytes) !== digest)
      throw new LostInput(`the parts of ${batchId} are missing or were changed`);
    return stackParts.parse(JSON.parse(new TextDecoder().decode(bytes)));
  },
});

export const operationInputs = inputShelf(operationInput);
/** The work to do with each document of a batch. Stored beside those of operations. */
export const batchInputs = inputShelf(askedInput);
