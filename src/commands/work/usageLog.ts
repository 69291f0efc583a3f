import { conversionEvent, conversionStream } from '../../../domain/conversion/events.ts';
import type { DocumentEvent } from '../../../domain/document/events.ts';
import {
  extractionEvent,
  extractionStream,
  type ExtractionEvent,
} from '../../../domain/extraction/events.ts';
import { eventCodec, type Codec } from '../../../domain/kernel/codec.ts';
import type { CommandMeta } from '../../../domain/kernel/command.ts';
import type { DomainEvent } from '../../../domain/kernel/decider.ts';
import { uuidOfName } from '../../../domain/kernel/eventId.ts';
import { recorder } from '../../../domain/kernel/recorder.ts';
import type { Clock } from '../../../domain/ports/clock.ts';
import { LogUnavailable, type EventStore } from '../../../domain/ports/eventStore.ts';
import type { ChosenModels } from '../models/models.ts';
import type { WorkEndFact } from '../unfinished/workFact.ts';
import { documents } from '../uploads/documents.ts';
import { commandHandler, type HandlerOptions } from '../writer/commandHandler.ts';
import { metaOf } from '../writer/commandMeta.ts';
import type { WorkToBill } from './billedWork.ts';
import type { WorkPlan, WorkRequest } from './work.ts';

interface RequestedWork {
  readonly request: WorkRequest;
  readonly plan: WorkPlan;
  readonly models: ChosenModels;
  readonly bill: WorkToBill;
  readonly document_id: string;
  readonly hold_id: string | null;
  readonly mime_type: string;
  readonly document_pages: number;
  /** As in `NewWork`: what an earlier attempt wrote is not written again. */
  readonly attempt?: number | undefined;
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

interface UsageLogDeps {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly wrote: (tenantId: string, position: bigint) => void;
  readonly options?: HandlerOptions;
}

/** What extractions and conversions call the same events. Their codec checks each against its schema. */
const WORDS = {
  extract: {
    event: 'Extraction',
    id: 'extraction_id',
    stream: extractionStream,
    codec: eventCodec(extractionEvent),
  },
  to_markdown: {
    event: 'Conversion',
    id: 'conversion_id',
    stream: conversionStream,
    codec: eventCodec(conversionEvent),
  },
} as const;

/** What happened to work, and the members of its event that both kinds of work have. */
type Happened = 'Requested' | 'Completed' | 'Failed';
type Members<What extends Happened> = Omit<
  Extract<ExtractionEvent, { readonly type: `Extraction${What}` }>['data'],
  'extraction_id'
>;
type Fact = { [What in Happened]: { readonly happened: What; readonly data: Members<What> } }[Happened];

const documentOf = (work: RequestedWork, created_at: string): DocumentEvent => {
  const { request, plan, bill, document_id, mime_type, document_pages } = work;
  const { file_name, bytes, sha256 } = request.file;
  return {
    type: 'DocumentRegistered',
    data: {
      document_id,
      tenant_id: bill.tenant_id,
      project_id: request.project_id,
      task_id: request.task_id,
      file_name,
      mime_type,
      bytes,
      pages: document_pages,
      sha256,
      source: request.document?.source ?? plan.operation,
      created_at,
    },
  };
};

const requestedFact = (
  { request, models, bill, document_id, hold_id }: RequestedWork,
  requested_at: string,
): Fact => ({
  happened: 'Requested',
  data: {
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
  },
});

const endedFact = ({ tenant_id, pages, ended_at, end }: WorkEndFact): Fact => {
  if (end.kind === 'failed')
    return { happened: 'Failed', data: { tenant_id, code: end.code, failed_at: ended_at } };
  const { kind: _, ...done } = end;
  return { happened: 'Completed', data: { tenant_id, pages, ...done, completed_at: ended_at } };
};

/** Records in the stream of one piece of work. After it was completed nothing more is written. */
const recording = ({ store, options = {} }: UsageLogDeps) => {
  const decider = recorder<DomainEvent>(({ type }) => type.endsWith('Completed'));
  return (
    { operation, operation_id }: Pick<WorkEndFact, 'operation' | 'operation_id'>,
    { happened, data }: Fact,
    meta: CommandMeta,
  ) => {
    const { event, id, stream, codec: own } = WORDS[operation];
    const codec: Codec<DomainEvent> = own;
    const handle = commandHandler({ store, options, codec, decider, tenantOf: () => data.tenant_id });
    const recorded = { type: `${event}${happened}`, data: { [id]: operation_id, ...data } };
    return handle(stream(operation_id), { type: 'Record', data: recorded, meta });
  };
};

export const usageLog = (deps: UsageLogDeps): UsageLog => {
  const record = recording(deps);
  const registered = documents(deps.store, deps.options);
  const written = async (
    tenantId: string,
    append: Promise<{ readonly kind: string; readonly position?: bigint | undefined }>,
  ): Promise<void> => {
    const { kind, position } = await append;
    if (kind !== 'done') throw new LogUnavailable(`a usage event was not written: ${kind}`);
    if (position !== undefined) deps.wrote(tenantId, position);
  };
  return {
    requested: async (work) => {
      const { caller, correlation_id, tenant_id } = work.bill;
      const { operation_id } = work.bill;
      const again = (what: string) =>
        work.attempt === undefined ? {} : { command_id: uuidOfName(`${what} ${operation_id}`) };
      const first = { ...metaOf(deps, caller, correlation_id), ...again('registered') };
      await written(tenant_id, registered.record(documentOf(work, first.now), first));
      const meta = { ...metaOf(deps, caller, correlation_id), ...again('requested') };
      await written(tenant_id, record(work.bill, requestedFact(work, meta.now), meta));
    },
    ended: (fact) => {
      // The same end is the same command: what the log has already is not written again.
      const command_id = uuidOfName(`${fact.end.kind} ${fact.operation_id}`);
      const meta = { ...metaOf(deps, fact.actor, fact.correlation_id), command_id };
      return written(fact.tenant_id, record(fact, endedFact(fact), meta));
    },
  };
};
