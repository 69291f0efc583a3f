import { conversionEvent, conversionStream, type ConversionEvent } from '../../domain/conversion/events.ts';
import { documentEvent, documentStream, type DocumentEvent } from '../../domain/document/events.ts';
import { extractionEvent, extractionStream, type ExtractionEvent } from '../../domain/extraction/events.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { recorder } from '../../domain/kernel/recorder.ts';
import type { Clock } from '../../domain/ports/clock.ts';
import type { EventStore } from '../../domain/ports/eventStore.ts';
import { metaOf, type WorkToBill } from './billedWork.ts';
import { commandHandler } from './commandHandler.ts';
import type { ReceivedFile, WorkPlan, WorkRequest } from './deliverWork.ts';

interface RequestedWork {
  readonly request: WorkRequest;
  readonly plan: WorkPlan;
  readonly bill: WorkToBill;
  readonly document_id: string;
  readonly hold_id: string | null;
  readonly mime_type: string;
}

export interface WorkEnd {
  readonly status: 'success' | 'partial';
  readonly free_pages: number;
  readonly duration_ms: number;
}

/** The usage events of extractions and conversions: measured work, without prices. */
export interface UsageLog {
  /** Also registers the document. */
  readonly requested: (work: RequestedWork) => Promise<void>;
  readonly completed: (work: WorkToBill, end: WorkEnd) => Promise<void>;
  readonly failed: (work: WorkToBill, code: string) => Promise<void>;
}

export interface UsageLogDeps {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly wrote: (tenantId: string, position: bigint) => void;
}

const documentOf = (work: RequestedWork, file: ReceivedFile, created_at: string): DocumentEvent => ({
  type: 'DocumentRegistered',
  data: {
    document_id: work.document_id,
    tenant_id: work.bill.tenant_id,
    project_id: work.request.project_id,
    task_id: work.request.task_id,
    file_name: file.file_name,
    mime_type: work.mime_type,
    bytes: file.bytes,
    pages: work.bill.pages,
    sha256: file.sha256,
    source: work.plan.operation,
    created_at,
  },
});

const requestedMembers = (
  { request, plan, bill, document_id, hold_id }: RequestedWork,
  requested_at: string,
) => ({
  tenant_id: bill.tenant_id,
  project_id: request.project_id,
  task_id: request.task_id,
  document_id,
  document_sha256: request.file.sha256,
  mode: bill.mode,
  billing_type: bill.billing_type,
  model: plan.models.model,
  ocr_model: plan.models.ocr_model,
  pages: bill.pages,
  hold_id,
  api_key_id: bill.caller.key_id,
  requested_at,
});

export const usageLog = (deps: UsageLogDeps): UsageLog => {
  const { store } = deps;
  const rules = {
    store,
    tenantOf: ({ data }: { data: { data: { tenant_id: string } } }) => data.data.tenant_id,
  };
  const extractions = commandHandler({
    ...rules,
    decider: recorder<ExtractionEvent>(({ type }) => type === 'ExtractionCompleted'),
    codec: eventCodec(extractionEvent),
  });
  const conversions = commandHandler({
    ...rules,
    decider: recorder<ConversionEvent>(({ type }) => type === 'ConversionCompleted'),
    codec: eventCodec(conversionEvent),
  });
  const documents = commandHandler({
    ...rules,
    decider: recorder<DocumentEvent>(() => true),
    codec: eventCodec(documentEvent),
  });

  const record = async (
    { caller, correlation_id, tenant_id }: WorkToBill,
    append: (meta: ReturnType<typeof metaOf>) => Promise<{ kind: string; position?: bigint | undefined }>,
  ): Promise<void> => {
    const outcome = await append(metaOf(deps, caller, correlation_id));
    if (outcome.position !== undefined) deps.wrote(tenant_id, outcome.position);
  };

  const recordWork = (
    work: WorkToBill,
    events: {
      readonly extract: (now: string) => ExtractionEvent;
      readonly to_markdown: (now: string) => ConversionEvent;
    },
  ) =>
    record(work, (meta) =>
      work.operation === 'extract'
        ? extractions(extractionStream(work.operation_id), {
            type: 'Record',
            data: events.extract(meta.now),
            meta,
          })
        : conversions(conversionStream(work.operation_id), {
            type: 'Record',
            data: events.to_markdown(meta.now),
            meta,
          }),
    );

  return {
    requested: async (work) => {
      const id = work.bill.operation_id;
      await record(work.bill, (meta) =>
        documents(documentStream(work.document_id), {
          type: 'Record',
          data: documentOf(work, work.request.file, meta.now),
          meta,
        }),
      );
      await recordWork(work.bill, {
        extract: (now) => ({
          type: 'ExtractionRequested',
          data: { extraction_id: id, ...requestedMembers(work, now) },
        }),
        to_markdown: (now) => ({
          type: 'ConversionRequested',
          data: { conversion_id: id, ...requestedMembers(work, now) },
        }),
      });
    },
    completed: ({ operation_id: id, ...work }, end) => {
      const members = (now: string) => ({
        tenant_id: work.tenant_id,
        pages: work.pages,
        ...end,
        completed_at: now,
      });
      return recordWork(
        { operation_id: id, ...work },
        {
          extract: (now) => ({ type: 'ExtractionCompleted', data: { extraction_id: id, ...members(now) } }),
          to_markdown: (now) => ({
            type: 'ConversionCompleted',
            data: { conversion_id: id, ...members(now) },
          }),
        },
      );
    },
    failed: ({ operation_id: id, ...work }, code) => {
      const members = (now: string) => ({ tenant_id: work.tenant_id, code, failed_at: now });
      return recordWork(
        { operation_id: id, ...work },
        {
          extract: (now) => ({ type: 'ExtractionFailed', data: { extraction_id: id, ...members(now) } }),
          to_markdown: (now) => ({ type: 'ConversionFailed', data: { conversion_id: id, ...members(now) } }),
        },
      );
    },
  };
};
