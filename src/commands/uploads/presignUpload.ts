import { datasetIdOf, uploadKeyOf, type UploadPresigned } from '../../../domain/document.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import { laterBy } from '../../../domain/kernel/amounts.ts';
import type { Clock } from '../../../domain/ports/log.ts';
import type { UploadTarget, UploadTargets } from '../../../domain/ports/services.ts';
import type { Documents } from './documents.ts';
import type { UploadStock } from './uploadStock.ts';
import { fileTooLarge, workProblem, type WorkProblem } from '../work/workProblem.ts';

/** How long an upload URL holds, seconds. */
const UPLOAD_SECONDS = 3600;

interface PresignDeps {
  readonly documents: Documents;
  readonly targets: UploadTargets;
  readonly clock: Pick<Clock, 'newId'>;
  /** Most bytes of one file. */
  readonly bytesMax: number;
  readonly stock: Pick<UploadStock, 'check'>;
}

/** What a client wants to upload; scope and name are the document's from then on. */
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
  ({ documents, targets, clock, bytesMax, stock }: PresignDeps) =>
  async (request: PresignRequest, meta: CommandMeta): Promise<PresignedUpload | WorkProblem> => {
    if (request.bytes !== null && request.bytes > bytesMax) return fileTooLarge(bytesMax);
    const full = await stock.check(request.tenant_id, request.bytes ?? 1);
    if (full !== undefined) return full;
    const document_id = clock.newId('doc');
    const upload: UploadPresigned['data'] = {
      ...request,
      document_id,
      dataset_id: request.kind === 'dataset' ? datasetIdOf(document_id) : null,
      expires_at: laterBy(meta.now, UPLOAD_SECONDS * 1000),
      created_at: meta.now,
    };
    const { content_type, bytes } = upload;
    const target = await targets.presign({
      ...{ document_id, content_type, bytes, bytes_max: bytesMax },
      key: uploadKeyOf(document_id),
      signed_at: meta.now,
      expires_seconds: UPLOAD_SECONDS,
    });
    const outcome = await documents.record({ type: 'UploadPresigned', data: upload }, meta);
    if (outcome.kind !== 'done')
      return workProblem(
        'busy',
        'The event log did not take it in time. Send the request again in a moment.',
      );
    return { kind: 'ok', target, upload, position: outcome.position };
  };
