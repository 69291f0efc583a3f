import {
  conversionEvent,
  conversionStream,
  type ConversionEvent,
} from '../../../domain/conversion/events.ts';
import type { DocumentEvent } from '../../../domain/document/events.ts';
import {
  extractionEvent,
  extractionStream,
  type ExtractionEvent,
} from '../../../domain/extraction/events.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { CommandMeta } from '../../../domain/kernel/command.ts';
import { uuidOfName } from '../../../domain/kernel/eventId.ts';
import { recorder } from '../../../domain/kernel/recorder.ts';
import type { Clock } from '../../../domain/ports/clock.ts';
import { LogUnavailable, type EventStore } from '../../../domain/ports/eventStore.ts';
import { metaOf, type WorkToBill } from './billedWork.ts';
import { commandHandler, type HandlerOptions } from '../writer/commandHandler.ts';
import { documents } from '../uploads/documents.ts';
import type { ChosenModels } from '../models/models.ts';
import type { WorkEndFact } from '../unfinished/workFact.ts';
import type { ReceivedFile, WorkPlan, WorkRequest } from './work.ts';

type EndOf<Kind> = Extract<WorkEndFact['end'], { readonly kind: Kind }>;

interface RequestedWork {
  readonly request: WorkRequest;
  readonly plan: WorkPlan;
  readonly models: ChosenModels;
  readonly bill: WorkToBill;
  readonly document_id: string;
  readonly hold_id: string | null;
  readonly mime_type: string;
}

/**
 * The usage events of extractions and conversions: measured work, without prices. Throws LogUnavailable
 * when an event was not written, or may not have been.
 */
export interface UsageLog {
  /** Also registers the document. */
  readonly requested: (work: RequestedWork) => Promise<void>;
  readonly ended: (end: WorkEndFact) => Promise<void>;
}

export interface UsageLogDeps {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly wrote: (tenantId: string, position: bigint) => void;
  readonly options?: HandlerOptions;
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
    source: work.request.document?.source ?? work.plan.operation,
    created_at,
  },
});

const requestedMembers = (
  { request, models, bill, document_id, hold_id }: RequestedWork,
  requested_at: string,
) => ({
  tenant_id: bill.tenant_id,
  project_id: request.project_id,
  task_id: request.task_id,
  document_id,
  document_sha256: request.file.sha256,
  mode: bill.mode,
  billing_type: bill.billing_type,
  model: models.model,
  ocr_model: models.ocr_model,
  pages: bill.pages,
  hold_id,
  api_key_id: bill.caller.key_id,
  requested_at,
});

const tenantOf = ({ data }: { readonly data: { readonly data: { readonly tenant_id: string } } }): string =>
  data.data.tenant_id;

/** The three streams that work is recorded in. */
const recorders = ({ store, options = {} }: UsageLogDeps) => ({
  extractions: commandHandler({
    store,
    options,
    tenantOf,
    decider: recorder<ExtractionEvent>(({ type }) => type === 'ExtractionCompleted'),
    codec: eventCodec(extractionEvent),
  }),
  conversions: commandHandler({
    store,
    options,
    tenantOf,
    decider: recorder<ConversionEvent>(({ type }) => type === 'ConversionCompleted'),
    codec: eventCodec(conversionEvent),
  }),
  documents: documents(store, options),
});

type Recorders = ReturnType<typeof recorders>;

/** One fact about work, in the words of an extraction and of a conversion. */
interface Fact {
  readonly extract: (now: string) => ExtractionEvent;
  readonly to_markdown: (now: string) => ConversionEvent;
}

const recordFact =
  (
    { extractions, conversions }: Recorders,
    work: Pick<WorkEndFact, 'operation' | 'operation_id'>,
    fact: Fact,
  ) =>
  (meta: CommandMeta) =>
    work.operation === 'extract'
      ? extractions(extractionStream(work.operation_id), {
          type: 'Record',
          data: fact.extract(meta.now),
          meta,
        })
      : conversions(conversionStream(work.operation_id), {
          type: 'Record',
          data: fact.to_markdown(meta.now),
          meta,
        });

const requestedFact = (work: RequestedWork): Fact => {
  const id = work.bill.operation_id;
  return {
    extract: (now) => ({
      type: 'ExtractionRequested',
      data: { extraction_id: id, ...requestedMembers(work, now) },
    }),
    to_markdown: (now) => ({
      type: 'ConversionRequested',
      data: { conversion_id: id, ...requestedMembers(work, now) },
    }),
  };
};

const completedFact = (fact: WorkEndFact, end: EndOf<'completed'>): Fact => {
  const { operation_id: id, tenant_id, pages, ended_at: completed_at } = fact;
  const { status, free_pages, duration_ms } = end;
  const members = { tenant_id, pages, status, free_pages, duration_ms, completed_at };
  return {
    extract: () => ({ type: 'ExtractionCompleted', data: { extraction_id: id, ...members } }),
    to_markdown: () => ({ type: 'ConversionCompleted', data: { conversion_id: id, ...members } }),
  };
};

const failedFact = (fact: WorkEndFact, { code }: EndOf<'failed'>): Fact => {
  const { operation_id: id, tenant_id, ended_at: failed_at } = fact;
  const members = { tenant_id, code, failed_at };
  return {
    extract: () => ({ type: 'ExtractionFailed', data: { extraction_id: id, ...members } }),
    to_markdown: () => ({ type: 'ConversionFailed', data: { conversion_id: id, ...members } }),
  };
};

const endedFact = (fact: WorkEndFact): Fact =>
  fact.end.kind === 'completed' ? completedFact(fact, fact.end) : failedFact(fact, fact.end);

export const usageLog = (deps: UsageLogDeps): UsageLog => {
  const streams = recorders(deps);
  const record = async (
    { meta, tenant_id }: { readonly meta: CommandMeta; readonly tenant_id: string },
    append: (meta: CommandMeta) => Promise<{ readonly kind: string; readonly position?: bigint | undefined }>,
  ): Promise<void> => {
    const { kind, position } = await append(meta);
    if (kind !== 'done') throw new LogUnavailable(`a usage event was not written: ${kind}`);
    if (position !== undefined) deps.wrote(tenant_id, position);
  };
  return {
    requested: async (work) => {
      const { caller, correlation_id, tenant_id } = work.bill;
      const metaNow = () => metaOf(deps, caller, correlation_id);
      await record({ meta: metaNow(), tenant_id }, (meta) =>
        streams.documents.record(documentOf(work, work.request.file, meta.now), meta),
      );
      await record({ meta: metaNow(), tenant_id }, recordFact(streams, work.bill, requestedFact(work)));
    },
    ended: (fact) => {
      // The same end is the same command: what the log has already is not written again.
      const command_id = uuidOfName(`${fact.end.kind} ${fact.operation_id}`);
      const meta = { ...metaOf(deps, fact.actor, fact.correlation_id), command_id };
      return record({ meta, tenant_id: fact.tenant_id }, recordFact(streams, fact, endedFact(fact)));
    },
  };
};
