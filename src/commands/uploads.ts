import { open, rm, stat, type FileHandle } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  datasetIdOf,
  document,
  documentEvent,
  documentStream,
  isDocumentId,
  uploadKeyOf,
  type DocumentCommand,
  type DocumentEvent,
  type DocumentKind,
  type DocumentState,
  type UploadPresigned,
} from '../../domain/document.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { Clock, EventStore } from '../../domain/ports/log.ts';
import { streamsOf, type HandlerOptions } from '../writer/commandHandler.ts';
import { withTexts } from '../writer/vault.ts';
import type {
  Bucket,
  ObjectStore,
  RateLimiter,
  SignedUpload,
  UploadSignatures,
  UploadTarget,
  UploadTargets,
} from '../../domain/ports/services.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import { fileTooLarge, rateLimited, tooMuchInFlight, workProblem, type WorkProblem } from './workProblem.ts';
import type { BytesInFlight, UploadStock } from './slots.ts';

/**
 * Makes a new file, readable only by its owner, that `write` fills. It is closed when this settles, and removed if
 * that fails. A file removed while it is still being opened would be created after that, and stay: so the
 * opening is waited for, whatever has failed meanwhile. Throws if there is a file of that name.
 */
const newFile = async <T>(path: string, write: (file: FileHandle) => Promise<T>): Promise<T> => {
  const file = await open(path, 'wx', 0o600);
  try {
    try {
      return await write(file);
    } finally {
      await file.close();
    }
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
};

/** The streams of documents. */
export type Documents = ReturnType<typeof documents>;

const rules = { decider: document, codec: eventCodec(documentEvent), streamOf: documentStream };

export const documents = (store: EventStore, options?: HandlerOptions) => {
  const { handle, stateOf } = streamsOf<DocumentKind>(rules, store, options);
  return {
    record: (data: DocumentEvent, meta: CommandMeta, type: DocumentCommand['type'] = 'Record') =>
      handle(data.data.document_id, { type, data, meta }, data.data.tenant_id),
    /** From the log, with the names that it has. */
    stateOf: async (documentId: string) => withTexts(store, await stateOf(documentId)),
  };
};

/** The object store failed; the work that needed it was undone. */
export class ObjectStoreFailed extends Error {
  override readonly name = 'ObjectStoreFailed';
}

const guarded = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw new ObjectStoreFailed('the object store failed', { cause: error });
  }
};

async function* guardedItems<T>(items: AsyncIterable<T>): AsyncIterable<T> {
  try {
    yield* items;
  } catch (error) {
    throw new ObjectStoreFailed('the object store failed', { cause: error });
  }
}

/** The same store, whose failures have one name whatever it is made of. */
export const guardedObjects = ({ link, ...objects }: ObjectStore): ObjectStore => ({
  put: (key, bytes) => guarded(objects.put(key, bytes)),
  putFile: (key, path) => guarded(objects.putFile(key, path)),
  get: (key) => guarded(objects.get(key)),
  open: async (key) => {
    const stream = await guarded(objects.open(key));
    return stream && guardedItems(stream);
  },
  ...(link && { link: (key: string, path: string) => guarded(link(key, path)) }),
  list: (prefix) => guardedItems(objects.list(prefix)),
  remove: (key) => guarded(objects.remove(key)),
  check: () => guarded(objects.check()),
});

/** How long an upload URL holds, seconds. */
const UPLOAD_SECONDS = 3600;

interface PresignDeps {
  readonly documents: Documents;
  readonly targets: UploadTargets;
  readonly clock: Pick<Clock, 'newId'>;
  /** Most bytes of one file. */
  readonly bytesMax: number;
  readonly stock: Pick<UploadStock, 'check' | 'take'>;
  /** Clients send their files to another service: this is the last place where they can be counted. */
  readonly isSentElsewhere: boolean;
}

/** The upload that a client wants; scope and name are the document's from then on. */
type PresignRequest = Pick<
  UploadPresigned['data'],
  'tenant_id' | 'project_id' | 'task_id' | 'file_name' | 'content_type' | 'bytes' | 'kind'
>;

interface PresignedUpload {
  readonly kind: 'ok';
  readonly target: UploadTarget;
  readonly upload: UploadPresigned['data'];
  /** Where a reader has to be to see it. */
  readonly position: bigint | undefined;
}

/** Gives a new document an ID and a URL to send its bytes to. Nothing is stored but that it was asked for. */
export const presignUpload =
  (deps: PresignDeps) =>
  async (request: PresignRequest, meta: CommandMeta): Promise<PresignedUpload | WorkProblem> => {
    const { clock, bytesMax, stock, isSentElsewhere } = deps;
    if (request.bytes !== null && request.bytes > bytesMax) return fileTooLarge(bytesMax);
    const document_id = clock.newId('doc');
    const { tenant_id, bytes } = request;
    const room = isSentElsewhere
      ? await stock.take(tenant_id, document_id, { bytes: bytes ?? bytesMax, lastsMs: UPLOAD_SECONDS * 1000 })
      : await stock.check(tenant_id, bytes ?? 1);
    if (room !== undefined && typeof room !== 'function') return room;
    let isGiven = false;
    try {
      const presigned = await presignedAs(deps, { request, document_id }, meta);
      isGiven = presigned.kind === 'ok';
      return presigned;
    } finally {
      if (!isGiven) room?.();
    }
  };

interface NamedPresign {
  readonly request: PresignRequest;
  readonly document_id: string;
}

const presignedAs = async (
  { documents, targets, bytesMax }: PresignDeps,
  { request, document_id }: NamedPresign,
  meta: CommandMeta,
): Promise<PresignedUpload | WorkProblem> => {
  const upload: UploadPresigned['data'] = {
    ...request,
    document_id,
    dataset_id: request.kind === 'dataset' ? datasetIdOf(document_id) : null,
    expires_at: laterBy(meta.now, UPLOAD_SECONDS * 1000),
    created_at: meta.now,
  };
  const { content_type, bytes } = upload;
  const target = await targets.presign({
    document_id,
    content_type,
    bytes,
    bytes_max: bytesMax,
    key: uploadKeyOf(document_id),
    signed_at: meta.now,
    expires_seconds: UPLOAD_SECONDS,
  });
  const outcome = await documents.record({ type: 'UploadPresigned', data: upload }, meta);
  if (outcome.kind !== 'done')
    return workProblem('busy', 'The event log did not take it in time. Send the request again in a moment.');
  return { kind: 'ok', target, upload, position: outcome.position };
};

interface ReceiveDeps {
  readonly documents: Documents;
  readonly objects: ObjectStore;
  /** undefined where clients send their files to another service. */
  readonly signatures: UploadSignatures | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly limiter: Pick<RateLimiter, 'take'>;
  readonly inFlight: BytesInFlight;
  readonly stock: UploadStock;
  /** Told of each document whose file was stored. */
  readonly onStored: (documentId: string) => void;
}

/** How many bytes may come. `release` is called once the file is stored, or given up. */
interface Admission {
  readonly kind: 'ok';
  readonly bytes_max: number;
  readonly release: () => void;
}

/** What the headers say about the coming file. */
interface UploadHeaders {
  /** '' when it was not sent. */
  readonly content_type: string;
  /** undefined when it was not sent. */
  readonly content_length: number | undefined;
}

/** What takes the files of upload URLs that this service answers itself. */
export interface UploadReceiver {
  /** Before anything of the body is read. */
  readonly admit: (upload: SignedUpload, headers: UploadHeaders) => Promise<Admission | WorkProblem>;
  /** Stores what was received; a file that was sent before and not used yet is replaced. */
  readonly store: (
    documentId: string,
    file: { readonly path: string; readonly bytes: number },
  ) => Promise<{ readonly kind: 'ok' } | WorkProblem>;
}

/** Files that one tenant may send. */
const UPLOAD_BUCKET: Bucket = { rate_per_second: 10, burst: 100 };

const refused = (detail: string): WorkProblem => workProblem('tenant_mismatch', detail);

const alreadyUsed = (): WorkProblem =>
  workProblem(
    'version_conflict',
    'The file of this document was used already and stays as it is. Ask for a new upload URL.',
  );

const alreadyRemoved = (): WorkProblem =>
  workProblem('version_conflict', 'This upload was removed. Ask for a new upload URL.');

/** Why the document takes no file any more. */
const closed = ({ registered, removed }: DocumentState): WorkProblem | undefined => {
  if (removed !== null) return alreadyRemoved();
  return registered === null ? undefined : alreadyUsed();
};

const alreadySending = (): WorkProblem =>
  workProblem(
    'request_in_progress',
    'A file is being sent to this upload URL at this moment: one at a time. Wait until it has ended.',
  );

const sameType = (given: string, due: string): boolean =>
  due === '' || given.trim().toLowerCase() === due.trim().toLowerCase();

/** Most bytes that the signed URL lets in, or why it lets in none. */
const signedBytes = (
  { signatures, clock }: ReceiveDeps,
  upload: SignedUpload,
  content_type: string,
): number | WorkProblem => {
  const verdict = signatures?.check(upload, clock.now()) ?? { kind: 'invalid' };
  if (verdict.kind === 'expired')
    return refused('The upload URL has expired. Ask for a new one, with a new Idempotency-Key.');
  if (verdict.kind === 'invalid' || !isDocumentId(upload.document_id))
    return refused(
      'The signature of the upload URL does not hold. Send the file to the URL as it was given.',
    );
  if (!sameType(content_type, upload.content_type))
    return workProblem(
      'unsupported_media_type',
      `Send the header Content-Type: ${upload.content_type}, as the upload was asked for.`,
    );
  return verdict.bytes_max;
};

/** Reserves what the tenant sends now. Gives the function that frees these bytes. */
const takeRoom = async (
  { limiter, inFlight, stock }: ReceiveDeps,
  { tenantId, documentId }: { readonly tenantId: string; readonly documentId: string },
  bytes: number,
): Promise<(() => void) | WorkProblem> => {
  const { allowed, retryAfterMs } = await limiter.take(`upload:${tenantId}`, UPLOAD_BUCKET);
  if (!allowed) return rateLimited('upload', UPLOAD_BUCKET, retryAfterMs);
  const room = await stock.take(tenantId, documentId, { bytes });
  if (typeof room !== 'function') return room;
  const sent = inFlight.take(tenantId, bytes);
  if (sent === undefined) {
    room();
    return tooMuchInFlight(inFlight.max);
  }
  return () => {
    sent();
    room();
  };
};

const stored = async (
  { documents, objects, stock, onStored }: ReceiveDeps,
  documentId: string,
  { path, bytes }: Parameters<UploadReceiver['store']>[1],
): ReturnType<UploadReceiver['store']> => {
  const state = await documents.stateOf(documentId);
  // It may have been used or removed while the file came in.
  const refused = closed(state);
  if (refused !== undefined) return refused;
  const { presigned } = state;
  await objects.putFile(uploadKeyOf(documentId), path);
  if (presigned !== null) stock.note(presigned.tenant_id, documentId, bytes);
  onStored(documentId);
  return { kind: 'ok' };
};

export const uploadReceiver = (deps: ReceiveDeps): UploadReceiver => {
  /** Documents whose file comes in, each with the request that sends it. */
  const sending = new Map<string, object>();
  const admitted = async (
    document_id: string,
    { bytes_max, content_length }: Pick<UploadHeaders, 'content_length'> & { readonly bytes_max: number },
  ): Promise<(() => void) | WorkProblem> => {
    const state = await deps.documents.stateOf(document_id);
    const refused = closed(state);
    if (refused !== undefined) return refused;
    if (content_length !== undefined && content_length > bytes_max) return fileTooLarge(bytes_max);
    const of = { tenantId: state.presigned?.tenant_id ?? '', documentId: document_id };
    return takeRoom(deps, of, content_length ?? bytes_max);
  };
  return {
    admit: async (upload, { content_type, content_length }) => {
      const { document_id } = upload;
      const bytes_max = signedBytes(deps, upload, content_type);
      if (typeof bytes_max !== 'number') return bytes_max;
      if (sending.has(document_id)) return alreadySending();
      const own = {};
      sending.set(document_id, own);
      const leave = () => {
        if (sending.get(document_id) === own) sending.delete(document_id);
      };
      const room = await admitted(document_id, { bytes_max, content_length }).catch((error: unknown) => {
        leave();
        throw error;
      });
      if (typeof room !== 'function') {
        leave();
        return room;
      }
      const release = () => {
        leave();
        room();
      };
      return { kind: 'ok', bytes_max, release };
    },
    store: async (documentId, { path, bytes }) => {
      try {
        return await stored(deps, documentId, { path, bytes });
      } finally {
        // Before the answer: its reader may send the next at once.
        sending.delete(documentId);
      }
    },
  };
};

/** A stream, or a file, had more bytes than it may have. */
export class TooManyBytes extends Error {
  override readonly name = 'TooManyBytes';
}

/** A file that was written, and what identifies it. */
export interface DigestedFile {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** What identifies a file that lies on the disk already. Throws TooManyBytes before it reads one. */
export const digestFile = async (path: string, bytesMax: number): Promise<DigestedFile> => {
  const { size: bytes } = await stat(path);
  if (bytes > bytesMax) throw new TooManyBytes(`more than ${bytesMax} bytes`);
  const digest = createHash('sha256');
  await pipeline(createReadStream(path), digest);
  return { path, sha256: digest.digest('hex'), bytes };
};

/**
 * Streams to a new file, digesting on the way: it is never in memory as a whole. Throws TooManyBytes, and what
 * `chunks` throw; the file is gone then.
 */
export const writeDigested = (
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  bytesMax: number = Number.POSITIVE_INFINITY,
): Promise<DigestedFile> => {
  // It may break off before it is read: then its reader gets the error.
  if (chunks instanceof Readable) chunks.on('error', () => undefined);
  return newFile(path, async (file) => {
    const digest = createHash('sha256');
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new TooManyBytes(`more than ${bytesMax} bytes`);
      digest.update(chunk);
      await file.writeFile(chunk);
    }
    return { path, sha256: digest.digest('hex'), bytes };
  });
};
