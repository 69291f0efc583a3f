import { type DocumentState, isDocumentId, uploadKeyOf } from '../../../domain/document.ts';
import type { Clock } from '../../../domain/ports/log.ts';
import type {
  Bucket,
  ObjectStore,
  RateLimiter,
  SignedUpload,
  UploadSignatures,
} from '../../../domain/ports/services.ts';
import type { BytesInFlight } from '../work/bytesInFlight.ts';
import type { Documents } from './documents.ts';
import type { UploadStock } from './uploadStock.ts';
import {
  fileTooLarge,
  rateLimited,
  tooMuchInFlight,
  workProblem,
  type WorkProblem,
} from '../work/workProblem.ts';

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

/** What the headers say of the file that is to come. */
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

/** What the tenant may send now. Gives what takes its bytes back. */
const takeRoom = async (
  { limiter, inFlight, stock }: ReceiveDeps,
  tenantId: string,
  bytes: number,
): Promise<(() => void) | WorkProblem> => {
  const { allowed, retryAfterMs } = await limiter.take(`upload:${tenantId}`, UPLOAD_BUCKET);
  if (!allowed) return rateLimited('upload', UPLOAD_BUCKET, retryAfterMs);
  const full = await stock.check(tenantId, bytes);
  if (full !== undefined) return full;
  return inFlight.take(tenantId, bytes) ?? tooMuchInFlight(inFlight.max);
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
    return takeRoom(deps, state.presigned?.tenant_id ?? '', content_length ?? bytes_max);
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
