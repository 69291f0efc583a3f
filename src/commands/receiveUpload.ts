import { isDocumentId, uploadKeyOf } from '../../domain/document/uploads.ts';
import type { Clock } from '../../domain/ports/clock.ts';
import type { ObjectStore } from '../../domain/ports/objectStore.ts';
import type { SignedUpload, UploadSignatures } from '../../domain/ports/uploadTargets.ts';
import type { Documents } from './documents.ts';
import { workProblem, type WorkProblem } from './workProblem.ts';

export interface ReceiveDeps {
  readonly documents: Documents;
  readonly objects: ObjectStore;
  /** undefined where clients send their files to another service. */
  readonly signatures: UploadSignatures | undefined;
  readonly clock: Pick<Clock, 'now'>;
  /** Told of each document whose file was stored. */
  readonly onStored: (documentId: string) => void;
}

/** How many bytes may come. */
export interface Admission {
  readonly kind: 'ok';
  readonly bytes_max: number;
}

/** What takes the files of upload URLs that this service answers itself. */
export interface UploadReceiver {
  /** Before anything of the body is read. */
  readonly admit: (upload: SignedUpload, contentType: string) => Promise<Admission | WorkProblem>;
  /** Stores what was received; a file that was sent before and not used yet is replaced. */
  readonly store: (
    documentId: string,
    file: { readonly path: string },
  ) => Promise<{ readonly kind: 'ok' } | WorkProblem>;
}

const refused = (detail: string): WorkProblem => workProblem('tenant_mismatch', detail);

const alreadyUsed = (): WorkProblem =>
  workProblem(
    'version_conflict',
    'The file of this document was used already and stays as it is. Ask for a new upload URL.',
  );

const sameType = (given: string, due: string): boolean =>
  due === '' || given.trim().toLowerCase() === due.trim().toLowerCase();

export const uploadReceiver = (deps: ReceiveDeps): UploadReceiver => {
  const isUsed = async (documentId: string) => (await deps.documents.stateOf(documentId)).registered !== null;
  return {
    admit: async (upload, contentType) => {
      const verdict = deps.signatures?.check(upload, deps.clock.now()) ?? { kind: 'invalid' };
      if (verdict.kind === 'expired')
        return refused('The upload URL has expired. Ask for a new one, with a new Idempotency-Key.');
      if (verdict.kind === 'invalid' || !isDocumentId(upload.document_id))
        return refused(
          'The signature of the upload URL does not hold. Send the file to the URL as it was given.',
        );
      if (!sameType(contentType, upload.content_type))
        return workProblem(
          'unsupported_media_type',
          `Send the header Content-Type: ${upload.content_type}, as the upload was asked for.`,
        );
      if (await isUsed(upload.document_id)) return alreadyUsed();
      return { kind: 'ok', bytes_max: verdict.bytes_max };
    },
    store: async (documentId, { path }) => {
      // It may have been used while the file came in.
      if (await isUsed(documentId)) return alreadyUsed();
      await deps.objects.putFile(uploadKeyOf(documentId), path);
      deps.onStored(documentId);
      return { kind: 'ok' };
    },
  };
};
