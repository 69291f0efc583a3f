import { isDocumentId, uploadKeyOf } from '../../../domain/document.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import type { Clock } from '../../../domain/ports/log.ts';
import type { ObjectStore } from '../../../domain/ports/services.ts';
import { metaOf } from '../writer/commandMeta.ts';
import type { JobName } from '../training/trainingJobs.ts';
import type { Documents } from './documents.ts';
import type { UploadStock } from './uploadStock.ts';
import { ownUpload, type OwnUpload, type UploadReader } from './uploads.ts';
import { workProblem, type WorkProblem } from '../work/workProblem.ts';

interface RemoveUploadDeps {
  readonly documents: Documents;
  readonly objects: Pick<ObjectStore, 'remove'>;
  readonly stock: Pick<UploadStock, 'forget'>;
  /** Training jobs that learn from a document and have not ended, as the read models know. */
  readonly learningFrom: (document: {
    readonly document_id: string;
    readonly tenant_id: string;
  }) => Promise<readonly JobName[]>;
  readonly cancelJob: (job: JobName, meta: CommandMeta) => Promise<unknown>;
  readonly clock: Pick<Clock, 'now' | 'uuid'>;
  /** Waits until the read models have what was written for the tenant up to there. */
  readonly settle: (tenantId: string, position: bigint | undefined) => Promise<void>;
}

const inUse = (): WorkProblem =>
  workProblem(
    'document_in_use',
    'A training job learns from this document. Remove it once the job has ended, or cancel the job.',
  );

/**
 * A job that is created at the same moment looks for removals once it is in the log, and this looks for jobs
 * once the removal is there: so one of both sees the other, and no job learns from what was removed.
 */
const recorded = async (
  { documents, learningFrom, cancelJob, settle, clock }: RemoveUploadDeps,
  { presigned: { document_id, tenant_id } }: OwnUpload,
  meta: CommandMeta,
): Promise<WorkProblem | undefined> => {
  await settle(tenant_id, undefined);
  if ((await learningFrom({ document_id, tenant_id })).length > 0) return inUse();
  const data = { document_id, tenant_id, reason: 'asked', removed_at: meta.now } as const;
  const outcome = await documents.record({ type: 'UploadRemoved', data }, meta);
  if (outcome.kind !== 'done')
    return workProblem('busy', 'The event log did not take it in time. Send the request again in a moment.');
  await settle(tenant_id, outcome.position);
  for (const job of await learningFrom({ document_id, tenant_id }))
    await cancelJob(job, metaOf({ clock }, meta.actor, meta.correlation_id));
  return undefined;
};

/**
 * Removes the file of an upload for good, or closes its URL when none came. It is written down first: what a
 * failure leaves in storage is refused to everybody, and removed by the repeat or by the sweeper. Work that
 * has the file already ends with it.
 */
export const removeUpload =
  (deps: RemoveUploadDeps) =>
  async (by: UploadReader, documentId: string, meta: CommandMeta): Promise<WorkProblem | undefined> => {
    const own = await ownUpload(deps.documents, by, isDocumentId(documentId) ? documentId : undefined);
    if (own.kind === 'problem') return own;
    const refused = own.removed === null ? await recorded(deps, own, meta) : undefined;
    if (refused !== undefined) return refused;
    await deps.objects.remove(uploadKeyOf(documentId));
    deps.stock.forget(own.presigned.tenant_id, documentId);
    return undefined;
  };
