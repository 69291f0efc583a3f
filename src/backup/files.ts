import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, opendir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Check, Finding } from '../audit/findings.ts';
import { sha256 } from '../../domain/kernel/chain.ts';
import { absentAsUndefined, jsonIn } from '../../domain/kernel/json.ts';
import { artifactKeyOf } from '../../domain/deployment.ts';
import { uploadKeyOf } from '../../domain/document.ts';
import { secretObjectKey } from '../../domain/ports/services.ts';
import { type ConfigVersion, liveSecrets } from '../../domain/savedConfig.ts';
import { secretsOfWebhook, type Webhook, webhookAfter, type WebhookEvent } from '../../domain/webhook.ts';
import { type AuditedEventOf, byType } from '../audit/auditedEvent.ts';
import type { EvaluationSetVersion } from '../../domain/evaluation.ts';
import { runIdOfBatch } from '../../domain/evaluation.ts';
import { tableKeyOf, type TableVersion } from '../../domain/rules/masterTable.ts';
import { expectedKeyOf, reportKeyOf } from '../commands/evaluations.ts';
import type { Watcher } from '../audit/auditLog.ts';
import { operationFileKeyOf, operationInputKeyOf } from '../commands/operationInput.ts';
import { trainingInputKeyOf } from '../commands/training.ts';

/** What says that the log is not the one that was written; all else is about what was written. */
const OF_THE_LOG: ReadonlySet<Check> = new Set<Check>(['chain', 'order', 'seal']);

/** Findings that say that the log itself is damaged: its chains, its positions, or what was sealed of it. */
export const damageIn = (findings: readonly Finding[]): readonly Finding[] =>
  findings.filter(({ check }) => OF_THE_LOG.has(check));

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
    /** The findings of an audit of the log. */
    findings: z.int().min(0),
  }),
  /** null where objects lie in another service and are not part of the backup. */
  objects: z.strictObject({ count: z.int().min(0), bytes: z.int().min(0) }).nullable(),
  /** Objects that events refer to and that the data folder did not have. */
  missing: z.array(missingObject),
  files: z.array(backedUpFile),
});

/** A backup's description and contents. It is written last, so a folder without one is not a backup. */
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

/** Why an object has to be there. */
export interface Need {
  readonly stream: string;
  /** Of its bytes; null where events do not say. */
  readonly sha256: string | null;
}

const secretsOf = (latest: ConfigVersion): readonly string[] =>
  liveSecrets({ latest, revoked: false }).map(secretObjectKey);

type SeeWebhook = (event: WebhookEvent & { readonly stream: string }) => void;

/** Follows webhooks, and says of each which secrets it needs now. */
const webhookSecrets = (replace: (stream: string, keys: readonly string[]) => void): SeeWebhook => {
  const webhooks = new Map<string, Webhook>();
  return ({ stream, ...event }) => {
    const webhook = webhookAfter(webhooks.get(stream) ?? null, event);
    if (webhook === null) webhooks.delete(stream);
    else webhooks.set(stream, webhook);
    replace(stream, webhook === null ? [] : secretsOfWebhook(webhook).map(secretObjectKey));
  };
};

/** Work that was accepted and has not ended needs its request, and an operation its file. */
const openWork = (needs: Map<string, Need>) => {
  const open = new Map<string, string>();
  const files = new Map<string, string>();
  const accept = (stream: string, id: string, sha256: string): void => {
    needs.set(operationInputKeyOf(id, sha256), { stream, sha256 });
    open.set(id, sha256);
  };
  const end = (id: string): void => {
    needs.delete(operationInputKeyOf(id, open.get(id) ?? ''));
    needs.delete(files.get(id) ?? '');
    open.delete(id);
    files.delete(id);
  };
  /** `of`: the operation beside whose request the file lies, where that is another one. */
  const needFile = (
    stream: string,
    id: string,
    { sha256, of = id }: { sha256: string | undefined; of?: string },
  ): void => {
    const file = operationFileKeyOf(of, sha256);
    needs.set(file, { stream, sha256: sha256 ?? null });
    files.set(id, file);
  };
  return {
    end,
    accept: ({ stream, data }: AuditedEventOf<'OperationAccepted'>): void => {
      accept(stream, data.operation_id, data.input_sha256);
      needFile(stream, data.operation_id, { sha256: data.file_sha256 });
    },
    acceptBatch: ({ stream, data }: AuditedEventOf<'BatchAccepted'>): void => {
      accept(stream, data.batch_id, data.input_sha256);
      if (data.split === undefined) return;
      const { operation_id: of, file_sha256: sha256 } = data.split;
      end(of);
      needFile(stream, data.batch_id, { sha256, of });
    },
    /** Parts of a stack are the documents of a batch, which begins with the request and the file of their split. */
    succeed: ({ data }: AuditedEventOf<'OperationSucceeded'>): void => {
      if (data.then_batch_id === undefined) end(data.operation_id);
    },
  };
};

/** The expected values of the documents in the latest version of each set. */
const expectedOfSets = (needs: Map<string, Need>) => {
  /** By set, the key of each document's. */
  const expected = new Map<string, ReadonlyMap<string, string>>();
  const forget = (set_id: string, document_ids: Iterable<string>): void => {
    for (const id of document_ids) needs.delete(expected.get(set_id)?.get(id) ?? '');
  };
  return {
    forget,
    need: (stream: string, set: Pick<EvaluationSetVersion, 'set_id' | 'examples'>): void => {
      forget(set.set_id, expected.get(set.set_id)?.keys() ?? []);
      const named = set.examples.map(({ document_id, expected_sha256: sha256 }) => {
        const key = expectedKeyOf(set.set_id, document_id, sha256);
        needs.set(key, { stream, sha256 });
        return [document_id, key] as const;
      });
      expected.set(set.set_id, new Map(named));
    },
  };
};

/** The rows of every version of each table. */
const rowsOfTables = (needs: Map<string, Need>) => {
  const kept = new Map<string, Set<string>>();
  return {
    need: (stream: string, { table_id, sha256 }: Pick<TableVersion, 'table_id' | 'sha256'>): void => {
      const key = tableKeyOf(table_id, sha256);
      needs.set(key, { stream, sha256 });
      kept.set(table_id, (kept.get(table_id) ?? new Set()).add(key));
    },
    forget: (table_id: string): void => {
      for (const key of kept.get(table_id) ?? []) needs.delete(key);
      kept.delete(table_id);
    },
  };
};

interface Scored {
  readonly run_id: string;
  readonly tenant_id: string;
  readonly report_sha256: string;
}

/** What training and runs made, and what it was made of: an erased tenant needs neither. */
const learnedNeeds = (needs: Map<string, Need>) => {
  /** What is kept of the examples of a job: the last that the log names. */
  const inputs = new Map<string, string>();
  /** Keys of artifacts and reports, and IDs of jobs and runs, by tenant. */
  const learned = new Map<string, Set<string>>();
  const erased = new Set<string>();
  const learn = (tenant_id: string, name: string): void =>
    void learned.set(tenant_id, (learned.get(tenant_id) ?? new Set()).add(name));
  return {
    learn,
    forget: (tenant_id: string): void => {
      for (const name of learned.get(tenant_id) ?? []) {
        needs.delete(name);
        needs.delete(inputs.get(name) ?? '');
        erased.add(name);
      }
      learned.delete(tenant_id);
    },
    needReport: (stream: string, { run_id, tenant_id, report_sha256: sha256 }: Scored): void => {
      if (erased.has(run_id)) return;
      needs.set(reportKeyOf(run_id, sha256), { stream, sha256 });
      learn(tenant_id, reportKeyOf(run_id, sha256));
    },
    needExamples: (
      stream: string,
      { job_id, input_sha256: sha256 }: { readonly job_id: string; readonly input_sha256: string },
    ): void => {
      needs.delete(inputs.get(job_id) ?? '');
      if (erased.has(job_id)) return;
      inputs.set(job_id, trainingInputKeyOf(job_id, sha256));
      needs.set(trainingInputKeyOf(job_id, sha256), { stream, sha256 });
    },
  };
};

/** The files of uploads. Those that came with a request are not kept, unless they become uploads later. */
const uploadNeeds = (needs: Map<string, Need>) => {
  const presigned = new Set<string>();
  return {
    presign: (stream: string, { document_id }: { readonly document_id: string }, isFirst: boolean): void => {
      if (isFirst) presigned.add(document_id);
      else needs.set(uploadKeyOf(document_id), { stream, sha256: null });
    },
    register: (
      stream: string,
      { document_id, sha256 }: { readonly document_id: string; readonly sha256: string },
    ): void => {
      if (presigned.delete(document_id)) needs.set(uploadKeyOf(document_id), { stream, sha256 });
    },
  };
};

/** Collects the objects that the events of a log refer to, by key, while an audit reads them. */
export const objectNeeds = (): {
  readonly watcher: Watcher;
  readonly needs: () => ReadonlyMap<string, Need>;
} => {
  const needs = new Map<string, Need>();
  const uploads = uploadNeeds(needs);
  const secrets = new Map<string, readonly string[]>();
  const replaceSecrets = (stream: string, keys: readonly string[]): void => {
    for (const key of secrets.get(stream) ?? []) needs.delete(key);
    secrets.set(stream, keys);
    for (const key of keys) needs.set(key, { stream, sha256: null });
  };
  const seeWebhook = webhookSecrets(replaceSecrets);
  const work = openWork(needs);
  const { learn, forget, needExamples, needReport } = learnedNeeds(needs);
  const expected = expectedOfSets(needs);
  const tables = rowsOfTables(needs);
  const see = byType({
    UploadPresigned: ({ stream, revision, data }) => uploads.presign(stream, data, revision === 0n),
    DocumentRegistered: ({ stream, data }) => uploads.register(stream, data),
    UploadRemoved: ({ data }) => void needs.delete(uploadKeyOf(data.document_id)),
    ArtifactPublished: ({ stream, data: { sha256, tenant_id } }) => {
      needs.set(artifactKeyOf(sha256), { stream, sha256 });
      learn(tenant_id, artifactKeyOf(sha256));
    },
    TrainingJobCreated: ({ stream, data }) => {
      needExamples(stream, data);
      learn(data.tenant_id, data.job_id);
    },
    TenantErased: ({ data }) => forget(data.tenant_id),
    ExamplesErased: ({ stream, data }) => needExamples(stream, data),
    OperationAccepted: work.accept,
    EvaluationSetPublished: ({ stream, data }) => expected.need(stream, data),
    EvaluationSetReduced: ({ data: { set_id, document_ids } }) => expected.forget(set_id, document_ids),
    EvaluationSetRemoved: ({ stream, data: { set_id } }) => expected.need(stream, { set_id, examples: [] }),
    TablePublished: ({ stream, data }) => tables.need(stream, data),
    TableRemoved: ({ data }) => tables.forget(data.table_id),
    EvaluationScored: ({ stream, data }) => needReport(stream, data),
    BatchAccepted: (event) => {
      work.acceptBatch(event);
      const { evaluated, tenant_id, batch_id } = event.data;
      if (evaluated !== undefined) learn(tenant_id, runIdOfBatch(batch_id));
    },
    BatchEnded: ({ data }) => work.end(data.batch_id),
    OperationSucceeded: work.succeed,
    OperationFailed: ({ data }) => work.end(data.operation_id),
    OperationCancelled: ({ data }) => work.end(data.operation_id),
    ConfigPublished: ({ stream, data }) => replaceSecrets(stream, secretsOf(data)),
    ConfigRevoked: ({ stream }) => replaceSecrets(stream, []),
    WebhookCreated: seeWebhook,
    WebhookChanged: seeWebhook,
    WebhookSecretRotated: seeWebhook,
    WebhookDisabled: seeWebhook,
    WebhookTested: seeWebhook,
    WebhookRemoved: seeWebhook,
  });
  return { watcher: { decoded: see }, needs: () => needs };
};

const CHUNK_BYTES = 1024 * 1024;

/** Paths of the files below a folder, from it, with `/`; none of a folder that is not there. */
export async function* filesIn(folder: string, prefix = ''): AsyncGenerator<string, void, void> {
  const entries = await absentAsUndefined(opendir(join(folder, prefix)));
  if (entries === undefined) return;
  for await (const entry of entries) {
    const path = `${prefix}${entry.name}`;
    if (entry.isDirectory()) yield* filesIn(folder, `${path}/`);
    else yield path;
  }
}

export interface Digest {
  readonly bytes: number;
  readonly sha256: string;
}

/** Reads to the end, handing each piece on. */
const readThrough = async (
  from: FileHandle,
  each: (piece: Uint8Array) => Promise<unknown>,
): Promise<Digest> => {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await from.read(buffer, 0, CHUNK_BYTES);
    if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') };
    const piece = buffer.subarray(0, bytesRead);
    hash.update(piece);
    bytes += bytesRead;
    await each(piece);
  }
};

const closing = async <T>(handle: FileHandle, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } finally {
    await handle.close();
  }
};

/** undefined where there is no such file. */
export const digestOf = async (path: string): Promise<Digest | undefined> => {
  const from = await absentAsUndefined(open(path, 'r'));
  return from === undefined ? undefined : closing(from, () => readThrough(from, () => Promise.resolve()));
};

/**
 * Copies a file, durably, so that only its owner can read the copy. The opened file is copied whole,
 * even if another takes its place meanwhile. undefined if there is no such file.
 */
export const copyDigested = async (path: string, to: string): Promise<Digest | undefined> => {
  const from = await absentAsUndefined(open(path, 'r'));
  if (from === undefined) return undefined;
  return closing(from, async () => {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    const target = await open(to, 'w', 0o600);
    return closing(target, async () => {
      const digest = await readThrough(from, (piece) => target.writeFile(piece));
      await target.sync();
      return digest;
    });
  });
};

/** Makes the names in a folder durable. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  await closing(handle, () => handle.sync());
};

/** Makes the names in a folder and all below it durable. */
export const syncFolders = async (folder: string): Promise<void> => {
  for await (const entry of await opendir(folder))
    if (entry.isDirectory()) await syncFolders(join(folder, entry.name));
  await syncFolder(folder);
};

/** Writes a new file, durably, for its owner alone. */
export const writeDurably = (path: string, text: string): Promise<void> =>
  writeFile(path, text, { mode: 0o600, flush: true });

/** Does `work` for each item, at most `atOnce` at a time; the first error ends it. */
export const eachAtOnce = async <T>(
  items: AsyncIterable<T> | Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const running = new Set<Promise<void>>();
  try {
    for await (const item of items) {
      // What fails stays among the running, so that it is met whenever it fails.
      const one: Promise<void> = work(item).then(() => void running.delete(one));
      one.catch(() => undefined);
      running.add(one);
      if (running.size >= atOnce) await Promise.race(running);
    }
    await Promise.all(running);
  } finally {
    await Promise.allSettled(running);
  }
};
