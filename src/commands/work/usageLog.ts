import {
  conversionEvent,
  conversionStream,
  extractionEvent,
  extractionStream,
  usage,
  type UsageFact,
  type UsageKind,
  type UsageState,
} from '../../../domain/workEvents.ts';
import type { DocumentEvent } from '../../../domain/document.ts';
import { eventCodec, type Codec } from '../../../domain/kernel/codec.ts';
import type { CommandMeta, DomainEvent } from '../../../domain/kernel/decider.ts';
import { type Clock, type EventStore, LogUnavailable } from '../../../domain/ports/log.ts';
import type { ChosenModels } from '../models/models.ts';
import type { WorkEndFact } from '../unfinished/workFact.ts';
import { documents } from '../uploads/documents.ts';
import type { HandlerOptions } from '../writer/commandHandler.ts';
import { metaOf } from '../writer/commandMeta.ts';
import type { NotNow } from '../writer/outcome.ts';
import { streamsOf } from '../writer/streams.ts';
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
}

/** Which work, by the name of its stream. */
type WorkName = Pick<WorkEndFact, 'operation' | 'operation_id'>;

/**
 * The usage events of extractions and conversions: measured work, without prices. What writes throws LogUnavailable
 * when an event was not written, or may not have been.
 */
export interface UsageLog {
  /** Also registers the document. False: the work has ended already, and nobody is to do it. */
  readonly requested: (work: RequestedWork) => Promise<boolean>;
  readonly ended: (end: WorkEndFact) => Promise<void>;
  /** From the log. */
  readonly stateOf: (work: WorkName) => Promise<UsageState>;
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
): UsageFact => ({
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

const endedFact = ({ tenant_id, pages, ended_at, end }: WorkEndFact): UsageFact => {
  if (end.kind === 'failed')
    return { happened: 'Failed', data: { tenant_id, code: end.code, failed_at: ended_at } };
  const { kind: _, ...done } = end;
  return { happened: 'Completed', data: { tenant_id, pages, ...done, completed_at: ended_at } };
};

export const usageLog = (deps: UsageLogDeps): UsageLog => {
  const { store, options } = deps;
  const registered = documents(store, options);
  const streamsFor = ({ operation, operation_id }: WorkName) => {
    const { event, id, stream, codec: own } = WORDS[operation];
    const codec: Codec<DomainEvent> = own;
    const eventOf = ({ happened, data }: UsageFact): DomainEvent => ({
      type: `${event}${happened}`,
      data: { [id]: operation_id, ...data },
    });
    return streamsOf<UsageKind>({ decider: usage(eventOf), codec, streamOf: stream }, store, options);
  };
  const written = async <State>(
    tenantId: string,
    append: Promise<
      { readonly kind: 'done'; readonly position: bigint | undefined; readonly state: State } | NotNow
    >,
  ): Promise<State> => {
    const outcome = await append;
    if (outcome.kind !== 'done') throw new LogUnavailable(`a usage event was not written: ${outcome.kind}`);
    if (outcome.position !== undefined) deps.wrote(tenantId, outcome.position);
    return outcome.state;
  };
  const record = (work: WorkName, data: UsageFact, meta: CommandMeta) =>
    written(
      data.data.tenant_id,
      neverRejected(
        streamsFor(work).handle(work.operation_id, { type: 'Record', data, meta }, data.data.tenant_id),
      ),
    );
  return {
    requested: async (work) => {
      const { caller, correlation_id, tenant_id } = work.bill;
      const first = metaOf(deps, caller, correlation_id);
      await written(tenant_id, neverRejected(registered.record(documentOf(work, first.now), first)));
      const meta = metaOf(deps, caller, correlation_id);
      return (await record(work.bill, requestedFact(work, meta.now), meta)).end === null;
    },
    ended: async (fact) => {
      await record(fact, endedFact(fact), metaOf(deps, fact.actor, fact.correlation_id));
    },
    stateOf: (work) => streamsFor(work).stateOf(work.operation_id),
  };
};

/** Streams that record reject nothing. */
const neverRejected = async <Result extends { readonly kind: string }>(
  outcome: Promise<Result | { readonly kind: 'rejected' }>,
): Promise<Exclude<Result, { readonly kind: 'rejected' }>> => {
  const became = await outcome;
  if (became.kind === 'rejected') throw new Error('a usage event was rejected');
  return became as Exclude<Result, { readonly kind: 'rejected' }>;
};
