import { type FileHandle, mkdir, open, readdir, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { accountStream } from '../../domain/account/messages.ts';
import { categoryOfStream } from '../../domain/catalogue.ts';
import { artifactKeyOf, ARTIFACTS_PREFIX } from '../../domain/deployment.ts';
import { UPLOADS_PREFIX, uploadKeyOf } from '../../domain/document.ts';
import { TABLES_PREFIX } from '../../domain/rules/masterTable.ts';
import { batchIdOfRun } from '../../domain/evaluation.ts';
import { absentAsUndefined } from '../../domain/kernel/json.ts';
import type { EventFeed, EventStore, TextVault } from '../../domain/ports/log.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import { operationIdOfReview } from '../../domain/review.ts';
import { EVALUATIONS_PREFIX } from '../commands/evaluations.ts';
import { OPERATIONS_PREFIX } from '../commands/operationInput.ts';
import { REVIEWS_PREFIX } from '../commands/reviews.ts';
import { RESULTS_PREFIX } from '../commands/storedResult.ts';
import { TRAINING_PREFIX } from '../commands/training.ts';
import { writeDigested } from '../commands/uploads.ts';
import { withTexts } from '../writer/vault.ts';
import { exportedEvents, replayedStream } from './log.ts';
import { OperatorError } from '../clientConfig.ts';

/** A file of an export. */
interface ExportedFile {
  /** In the folder, with `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** What it is, for people. */
  readonly what: string;
}

/** `manifest.json`: it is written last, so a folder without one is not whole. */
export interface ExportManifest {
  readonly tenant_id: string;
  readonly made_at: string;
  readonly events: number;
  /** Of the last event of the log that was looked at, as text; null where there was none. */
  readonly position: string | null;
  readonly files: readonly ExportedFile[];
}

export interface ExportDeps {
  readonly log: EventStore & EventFeed;
  readonly objects: Pick<ObjectStore, 'open' | 'list'>;
  /** What people wrote, beside the log. */
  readonly vault: TextVault | undefined;
  readonly now: () => string;
}

interface ExportRequest {
  readonly tenant_id: string;
  readonly folder: string;
  readonly signal: AbortSignal;
}

const MANIFEST = 'manifest.json';

/** Whose an event is stands in its metadata; of reference data for one tenant in its data. */
const isOf = (tenantId: string, { stream, metadata, data }: RecordedEvent): boolean =>
  metadata['tenant_id'] === tenantId || data['tenant_id'] === tenantId || stream === accountStream(tenantId);

/** Members that open nothing, but prove that somebody has a key: nobody needs them to read what was done. */
const HIDDEN = ['key_hash', 'secret_id', 'old_secret_id'];

const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (HIDDEN.includes(name) ? [] : [[name, plain(one)]])),
  );
};

const lineOf = ({ id, stream, revision, position, type, data, metadata }: RecordedEvent): string =>
  `${JSON.stringify({
    id,
    stream,
    revision: revision.toString(),
    position: position.toString(),
    type,
    data: plain(data),
    metadata: plain(metadata),
  })}\n`;

/** Events that make something a tenant's, with the member that names it. Others may name what callers chose. */
const OWNING: Readonly<Record<string, string>> = {
  UploadPresigned: 'document_id',
  DocumentRegistered: 'document_id',
  ExtractionRequested: 'extraction_id',
  ConversionRequested: 'conversion_id',
  ClassificationRequested: 'classification_id',
  SplitRequested: 'split_id',
  OperationAccepted: 'operation_id',
  BatchAccepted: 'batch_id',
  TrainingJobCreated: 'job_id',
  EvaluationSetPublished: 'set_id',
  TablePublished: 'table_id',
};

/** What objects are a tenant's, as its events name them. */
const ownObjects = () => {
  const ids = new Set<string>();
  const artifacts = new Map<string, string>();
  return {
    ids,
    artifacts,
    note: ({ type, data }: RecordedEvent): void => {
      const id = data[OWNING[type] ?? ''];
      if (typeof id === 'string') ids.add(id);
      const { artifact_id: artifact, sha256 } = data;
      if (type === 'ArtifactPublished' && typeof artifact === 'string' && typeof sha256 === 'string')
        artifacts.set(artifact, sha256);
    },
  };
};

/** Files of lines, one for each name, and what identifies each. */
const lineFiles = (folder: string) => {
  const opened = new Map<
    string,
    { readonly file: FileHandle; readonly sum: ReturnType<typeof createHash> }
  >();
  const sizes = new Map<string, number>();
  const fileOf = async (path: string) => {
    const known = opened.get(path);
    if (known !== undefined) return known;
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    const fresh = { file: await open(join(folder, path), 'wx', 0o600), sum: createHash('sha256') };
    opened.set(path, fresh);
    return fresh;
  };
  return {
    add: async (path: string, text: string): Promise<void> => {
      const { file, sum } = await fileOf(path);
      const bytes = Buffer.from(text);
      sum.update(bytes);
      sizes.set(path, (sizes.get(path) ?? 0) + bytes.length);
      await file.writeFile(bytes);
    },
    /** Closes all, also where something failed. */
    close: async (): Promise<readonly Omit<ExportedFile, 'what'>[]> => {
      const done = [];
      for (const [path, { file, sum }] of opened) {
        await file.close();
        done.push({ path, bytes: sizes.get(path) ?? 0, sha256: sum.digest('hex') });
      }
      return done;
    },
  };
};

/** What the events of each kind of stream tell a person. */
const TOLD: Readonly<Record<string, string>> = {
  billingDetails: 'who the tenant is on its statements and receipts',
  topUp: 'consent to buy credits when the balance is low',
  tenantRetention: 'for how many days things are kept',
  account: 'credits: sales, refunds, corrections, holds and burns',
  payment: 'payments as they were claimed',
  apiKey: 'keys, without what opens anything',
  config: 'saved configs, without own keys of models',
  document: 'documents: names, pages, digests',
  extraction: 'usage: extractions',
  conversion: 'usage: conversions',
  classification: 'usage: classifications',
  split: 'usage: splits',
  operation: 'operations',
  batch: 'batches',
  trainingJob: 'training jobs',
  examples: 'examples that were erased',
  set: 'sets of documents that configs are measured by',
  table: 'tables of master data: their names, columns and digests',
  evaluation: 'what runs over sets have found, in figures',
  review: 'reviews: who looked at results, and what was decided, in figures',
  artifact: 'artifacts and their scores',
  deployment: 'deployments',
  webhook: 'webhooks, without their secrets',
  webhookDelivery: 'attempts to tell webhooks',
  rateLimits: 'limits',
  llmCost: 'costs of models',
  erasures: 'the erasure of the tenant',
};

const whatOf = (path: string): string => {
  if (path === 'ledger.csv') return 'each change of the balance, and the balance after it, in credits';
  if (path === 'balance.json') return 'the account as it stands, in credits';
  const kind = path.replace(/^events\/|\.jsonl$/g, '');
  return `events, a line each: ${TOLD[kind] ?? kind}`;
};

const csv = (fields: readonly (string | number)[]): string => `${fields.join(',')}\n`;

/** The ledger and the balance, from the account itself. */
const writeAccount = async (
  { log }: ExportDeps,
  tenantId: string,
  add: (path: string, text: string) => Promise<void>,
): Promise<void> => {
  let [balance, last]: [number, unknown] = [0, undefined];
  for await (const { revision, recorded_at, type, event_id, state } of replayedStream(
    log,
    accountStream(tenantId),
  )) {
    if (last === undefined)
      await add('ledger.csv', 'revision,recorded_at,event,event_id,credits,balance_credits\n');
    last = state;
    const now = Number((state as { readonly balance?: unknown }).balance ?? balance);
    if (now !== balance)
      await add('ledger.csv', csv([revision, recorded_at, type, event_id, now - balance, now]));
    balance = now;
  }
  if (last !== undefined) await add('balance.json', `${JSON.stringify(last, undefined, 2)}\n`);
};

/** Copies objects, as far as they are there still. */
const objectCopier = ({ objects }: ExportDeps, { folder, signal }: ExportRequest) => {
  const files: ExportedFile[] = [];
  return {
    files,
    copy: async (key: string, path: string, what: string): Promise<void> => {
      signal.throwIfAborted();
      const chunks = await objects.open(key);
      if (chunks === undefined) return;
      await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
      const { bytes, sha256 } = await writeDigested(chunks, join(folder, path));
      files.push({ path, bytes, sha256, what });
    },
  };
};

const folderIn = (key: string): string => key.split('/')[1] ?? '';

const operationOf = (key: string): string => operationIdOfReview(folderIn(key));
const setOrBatchOf = (key: string): string => {
  const id = folderIn(key);
  return id.startsWith('evr_') ? batchIdOfRun(id) : id;
};

const WORK_OBJECTS = [
  [RESULTS_PREFIX, 'result of work on a document, with its request, or why it failed', folderIn],
  [TRAINING_PREFIX, 'schema and examples of a training job', folderIn],
  [OPERATIONS_PREFIX, 'request or file of work that waits', folderIn],
  [REVIEWS_PREFIX, 'what a person was asked of a result, or has decided', operationOf],
  [TABLES_PREFIX, 'rows of a table, as lines of JSON after the names of its columns', folderIn],
  [EVALUATIONS_PREFIX, 'what a document of a set is expected to say, or what a run found', setOrBatchOf],
] as const;

/** Whose objects an export copies. */
export const EXPORTED_FOLDERS: readonly string[] = [
  UPLOADS_PREFIX,
  ARTIFACTS_PREFIX,
  ...WORK_OBJECTS.map(([folder]) => folder),
];

/** A key is a path, whatever was put there. */
const SAFE = /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

const copyObjects = async (
  deps: ExportDeps,
  request: ExportRequest,
  { ids, artifacts }: ReturnType<typeof ownObjects>,
): Promise<readonly ExportedFile[]> => {
  const { files, copy } = objectCopier(deps, request);
  for (const id of ids)
    if (id.startsWith('doc_') && SAFE.test(id)) await copy(uploadKeyOf(id), `uploads/${id}`, 'uploaded file');
  for (const [prefix, what, idOf] of WORK_OBJECTS)
    for await (const { key } of deps.objects.list(prefix))
      if (ids.has(idOf(key)) && SAFE.test(key)) await copy(key, key, what);
  for (const [id, sha256] of artifacts) await copy(artifactKeyOf(sha256), `artifacts/${id}`, 'artifact');
  return files;
};

const emptyFolder = async (folder: string): Promise<void> => {
  const found = await absentAsUndefined(readdir(folder));
  if (found !== undefined && found.length > 0)
    throw new OperatorError(`${folder} is not empty: name a folder that is, or that does not exist yet.`, 2);
  await mkdir(folder, { recursive: true, mode: 0o700 });
};

/**
 * Writes all that there is of a tenant into an empty folder: its events, its ledger, and its files as far as they are
 * kept. From the log and the objects alone, so it works beside a running service. Throws OperatorError for a folder
 * that is not empty, and for a tenant that no event names.
 */
export const exportTenant = async (deps: ExportDeps, request: ExportRequest): Promise<ExportManifest> => {
  const { tenant_id, folder, signal } = request;
  await emptyFolder(folder);
  const own = ownObjects();
  const lines = lineFiles(folder);
  let events = 0;
  let position: string | null = null;
  let written: readonly Omit<ExportedFile, 'what'>[] = [];
  try {
    for await (const event of exportedEvents(deps.log, {}, signal)) {
      position = event.position.toString();
      if (!isOf(tenant_id, event)) continue;
      events += 1;
      own.note(event);
      await lines.add(`events/${categoryOfStream(event.stream)}.jsonl`, lineOf(await withTexts(deps, event)));
    }
    signal.throwIfAborted();
    if (events === 0) throw new OperatorError(`No event names the tenant ${tenant_id}.`);
    await writeAccount(deps, tenant_id, lines.add);
  } finally {
    written = await lines.close();
  }
  const told = written.map((file) => ({ ...file, what: whatOf(file.path) }));
  const files = [...told, ...(await copyObjects(deps, request, own))];
  const manifest = { tenant_id, made_at: deps.now(), events, position, files };
  await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, undefined, 2)}\n`, {
    flag: 'wx',
    mode: 0o600,
  });
  return manifest;
};
