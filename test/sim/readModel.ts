import type { Leaving } from '../../src/commands/money/transfers.ts';
import { paymentStream } from '../../domain/account/messages.ts';
import { operationIdOfDocument } from '../../domain/batch.ts';
import { witnessOf } from '../../domain/kernel/witness.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { textOfWitness } from '../../projections/engine/arrivals.ts';
import type { ProjectedEvent, ProjectedEventOf } from '../../projections/engine/ports.ts';
import type { DeliveryRow, WebhookRow } from '../../projections/webhookRows.ts';
import { applyEvent } from '../../projections/webhooks.ts';
import type { Row } from '../../projections/engine/table.ts';
import type { openHolds } from '../../projections/balances.ts';
import type { unrecordedWork } from '../../projections/usageEvents.ts';

/** What waits, is worked on and ends: an operation or a training job. */
export interface WorkRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly position: bigint;
  readonly hold_id: string | null;
  readonly pages: number;
  readonly file_bytes: number;
  readonly expires_at: string;
  /** What its burn names. */
  readonly work_id: string;
  readonly document_id: string;
  status: string;
  attempt: number;
  ready_at: string;
  finished_at: string | null;
  credits_charged: number | null;
}

export interface DocumentRow {
  readonly index: number;
  readonly document_id: string;
  readonly operation_id: string;
  begun_at: string | null;
  problem_code: string | null;
}

/** A document that was registered. */
export interface DocumentHeld {
  readonly tenant_id: string;
  readonly position: bigint;
}

export interface BatchRow {
  readonly batch_id: string;
  readonly tenant_id: string;
  readonly position: bigint;
  readonly documents: readonly DocumentRow[];
  begun: number;
  cancelled_at: string | null;
  finished_at: string | null;
  readonly measured: boolean;
  scored: boolean;
}

export type HoldRow = Row<typeof openHolds>;
type Unrecorded = Row<typeof unrecordedWork>;

export const DONE: ReadonlySet<string> = new Set(['succeeded', 'partial']);

type Handlers<Result> = {
  readonly [Type in ProjectedEvent['type']]?: (event: ProjectedEventOf<Type>) => Result;
};

/** Does with an event what is to be done with its type; nothing with any other. */
export const byType =
  <Result>(handlers: Handlers<Result>) =>
  (event: ProjectedEvent): Result | undefined =>
    (handlers[event.type] as ((event: ProjectedEvent) => Result) | undefined)?.(event);

type Moved = Partial<Pick<WorkRow, 'status' | 'attempt' | 'ready_at' | 'finished_at'>>;

type Move = readonly [string, Moved];

const startOf = (
  id: string,
  { attempt, lease_until }: { readonly attempt: number; readonly lease_until: string },
): Move => [id, { status: 'running', attempt, ready_at: lease_until }];

const progressOf = (
  id: string,
  { gave_up, lease_until }: { readonly gave_up: string | null; readonly lease_until: string },
): Move => [id, { status: gave_up === null ? 'running' : 'queued', ready_at: lease_until }];

const endOf = (id: string, status: string, finished_at: string): Move => [id, { status, finished_at }];

/** What an event of an operation or job changes, and of which. */
const moveOf = byType<Move>({
  OperationStarted: ({ data }) => startOf(data.operation_id, data),
  TrainingJobStarted: ({ data }) => startOf(data.job_id, data),
  OperationProgressed: ({ data }) => progressOf(data.operation_id, data),
  TrainingJobProgressed: ({ data }) => progressOf(data.job_id, data),
  OperationSucceeded: ({ data }) =>
    endOf(data.operation_id, data.outcome === 'partial' ? 'partial' : 'succeeded', data.succeeded_at),
  TrainingJobSucceeded: ({ data }) => endOf(data.job_id, 'succeeded', data.succeeded_at),
  OperationFailed: ({ data }) => endOf(data.operation_id, 'failed', data.failed_at),
  TrainingJobFailed: ({ data }) => endOf(data.job_id, 'failed', data.failed_at),
  OperationCancelled: ({ data }) => endOf(data.operation_id, 'cancelled', data.cancelled_at),
  TrainingJobCancelled: ({ data }) => endOf(data.job_id, 'cancelled', data.cancelled_at),
});

const NEW = { status: 'queued', attempt: 0, finished_at: null, credits_charged: null };

const operationRow = ({ data, position }: ProjectedEventOf<'OperationAccepted'>): WorkRow => ({
  ...NEW,
  id: data.operation_id,
  position,
  ready_at: data.accepted_at,
  tenant_id: data.tenant_id,
  hold_id: data.hold_id,
  pages: data.pages,
  file_bytes: data.file_bytes ?? 0,
  expires_at: data.expires_at,
  work_id: data.work_id,
  document_id: data.document_id,
});

const jobRow = ({ data, position }: ProjectedEventOf<'TrainingJobCreated'>): WorkRow => ({
  ...NEW,
  id: data.job_id,
  position,
  ready_at: data.created_at,
  tenant_id: data.tenant_id,
  hold_id: data.hold_id,
  pages: 0,
  file_bytes: 0,
  expires_at: data.expires_at,
  work_id: data.job_id,
  document_id: '',
});

const batchRow = ({ data, position }: ProjectedEventOf<'BatchAccepted'>): BatchRow => ({
  batch_id: data.batch_id,
  tenant_id: data.tenant_id,
  position,
  begun: 0,
  cancelled_at: null,
  finished_at: null,
  measured: data.evaluated !== undefined,
  scored: false,
  documents: data.document_ids.map((document_id, index) => ({
    index,
    document_id,
    begun_at: null,
    problem_code: null,
    operation_id: operationIdOfDocument({ ...data, index }),
  })),
});

/** Rows of all read models that processes ask, up to some event of the log. */
const emptyRows = () => ({
  operations: new Map<string, WorkRow>(),
  jobs: new Map<string, WorkRow>(),
  holds: new Map<string, HoldRow>(),
  batches: new Map<string, BatchRow>(),
  unrecorded: new Map<string, Unrecorded>(),
  running: new Map<string, UsageRow>(),
  /** Of all work that was ever begun: its document. */
  begun: new Map<string, string | null>(),
  documents: new Map<string, DocumentHeld>(),
  erased: new Set<string>(),
  /** By the operation of a split: the batch that its parts are to be. */
  parts: new Map<string, string>(),
  webhooks: new Map<string, WebhookRow>(),
  deliveries: new Map<string, DeliveryRow>(),
  /** By the stream of the payment: when it was claimed. */
  claims: new Map<string, string>(),
  transfers: new Map<string, Leaving & { readonly created_at: string }>(),
  freePagesUsed: new Map<string, number>(),
  freePages: 0,
  /** Credits used, by tenant and UTC day. */
  uses: new Map<string, Map<string, number>>(),
});
export type Rows = ReturnType<typeof emptyRows>;

const webhookRowsOf = (rows: Rows): Parameters<typeof applyEvent>[0] => ({
  webhook: (id) => rows.webhooks.get(id),
  putWebhook: (row) => void rows.webhooks.set(row.webhook_id, row),
  ofTenant: (tenant) => [...rows.webhooks.values()].filter(({ tenant_id }) => tenant_id === tenant),
  forOperators: () => [...rows.webhooks.values()].filter((row) => row.for_operators),
  delivery: (id) => rows.deliveries.get(id),
  putDelivery: (row) => void rows.deliveries.set(row.delivery_id, row),
  freePagesUsed: (tenant) => rows.freePagesUsed.get(tenant) ?? 0,
  putFreePagesUsed: (tenant, used) => void rows.freePagesUsed.set(tenant, used),
  freePages: () => rows.freePages,
  putFreePages: (pages) => (rows.freePages = pages),
  usesOf: (tenant) => rows.uses.get(tenant) ?? [],
  addUse: (tenant, day, credits) => {
    const days = rows.uses.get(tenant) ?? new Map<string, number>();
    rows.uses.set(tenant, days.set(day, (days.get(day) ?? 0) + credits));
  },
});

const prune = (
  { deliveries }: Rows,
  { before, pruned_at, tenant_id: whose }: ProjectedEventOf<'DeliveriesPruned'>['data'],
): void => {
  for (const { delivery_id, tenant_id, created_at, delivered, retry_until } of [...deliveries.values()]) {
    const isSettled = delivered || retry_until <= pruned_at;
    if (created_at < before && isSettled && tenant_id === (whose ?? tenant_id))
      deliveries.delete(delivery_id);
  }
};

/** Whose account a stream is. */
export const tenantIn = (stream: string): string => stream.slice('account-'.length);

const burned = (rows: Rows, { stream, data }: ProjectedEventOf<'CreditsBurned'>): void => {
  const { hold_id, operation_id, credits, operation, pages, free_pages, delivered, created_at } = data;
  const tenant_id = tenantIn(stream);
  if (hold_id !== null) rows.holds.delete(`${tenant_id} ${hold_id}`);
  const kind = operation === 'training' ? rows.jobs : rows.operations;
  for (const row of kind.values()) if (row.work_id === operation_id) row.credits_charged = credits;
  if (delivered === undefined || rows.unrecorded.has(operation_id)) return;
  const done = { status: delivered.status, duration_ms: delivered.duration_ms, burned_at: created_at };
  rows.unrecorded.set(operation_id, { operation_id, operation, tenant_id, pages, free_pages, ...done });
};

const released = (rows: Rows, { stream, data }: ProjectedEventOf<'HoldReleased'>): void => {
  rows.holds.delete(`${tenantIn(stream)} ${data.hold_id}`);
};

/** Work that was asked for and has not ended. */
export interface UsageRow {
  readonly id: string;
  readonly operation: 'extract' | 'split';
  readonly tenant_id: string;
  readonly pages: number;
  readonly hold_id: string | null;
  readonly requested_at: string;
}

const usageRow = (
  named: Pick<UsageRow, 'id' | 'operation'>,
  { data }: ProjectedEventOf<'ExtractionRequested' | 'SplitRequested'>,
): UsageRow => ({
  ...named,
  tenant_id: data.tenant_id,
  pages: data.pages,
  hold_id: data.hold_id,
  requested_at: data.requested_at,
});

const batchHandlers = (rows: Rows) => ({
  BatchAccepted: (event: ProjectedEventOf<'BatchAccepted'>): void => {
    if (!rows.batches.has(event.data.batch_id)) rows.batches.set(event.data.batch_id, batchRow(event));
  },
  BatchDocumentsBegun: ({ data }: ProjectedEventOf<'BatchDocumentsBegun'>): void => {
    const batch = rows.batches.get(data.batch_id);
    if (batch === undefined) return;
    batch.begun = data.first + data.count;
    for (const one of batch.documents.slice(data.first, batch.begun)) one.begun_at = data.begun_at;
  },
  BatchDocumentsRefused: ({ data }: ProjectedEventOf<'BatchDocumentsRefused'>): void => {
    for (const { index, code } of data.refused) {
      const one = rows.batches.get(data.batch_id)?.documents[index];
      if (one !== undefined) one.problem_code = code;
    }
  },
  BatchCancelled: ({ data }: ProjectedEventOf<'BatchCancelled'>): void => {
    const batch = rows.batches.get(data.batch_id);
    if (batch !== undefined) batch.cancelled_at = data.cancelled_at;
  },
  BatchEnded: ({ data }: ProjectedEventOf<'BatchEnded'>): void => {
    const batch = rows.batches.get(data.batch_id);
    if (batch !== undefined) batch.finished_at = data.ended_at;
  },
  EvaluationScored: ({ data }: ProjectedEventOf<'EvaluationScored'>): void => {
    const batch = rows.batches.get(data.batch_id);
    if (batch !== undefined) batch.scored = true;
  },
});

const appliedTo = (rows: Rows) => {
  const webhookRows = webhookRowsOf(rows);
  const handle = byType({
    ...batchHandlers(rows),
    OperationAccepted: (event) => {
      const { operation_id } = event.data;
      if (!rows.operations.has(operation_id)) rows.operations.set(operation_id, operationRow(event));
    },
    TrainingJobCreated: (event) => {
      if (!rows.jobs.has(event.data.job_id)) rows.jobs.set(event.data.job_id, jobRow(event));
    },
    DocumentRegistered: ({ data: { document_id, tenant_id }, position }) => {
      if (!rows.documents.has(document_id)) rows.documents.set(document_id, { tenant_id, position });
    },
    OperationSucceeded: ({ data: { operation_id, then_batch_id } }) =>
      void (then_batch_id !== undefined && rows.parts.set(operation_id, then_batch_id)),
    ReviewDecided: ({ data: { operation_id, then_batch_id } }) =>
      void (then_batch_id !== undefined && rows.parts.set(operation_id, then_batch_id)),
    ReviewReopened: ({ data: { operation_id } }) => void rows.parts.delete(operation_id),
    DocumentErased: ({ data }) => {
      if (rows.documents.has(data.document_id)) rows.erased.add(data.document_id);
    },
    CreditsHeld: ({ data, stream }) => {
      const tenant_id = tenantIn(stream);
      rows.holds.set(`${tenant_id} ${data.hold_id}`, { ...data, tenant_id });
    },
    PaymentClaimed: ({ stream, data }) => {
      if (data.again === true) rows.claims.delete(stream);
      else rows.claims.set(stream, data.claimed_at);
    },
    PaymentReleased: ({ stream }) => void rows.claims.delete(stream),
    CreditsGranted: ({ data }) => void rows.claims.delete(paymentStream(data)),
    CreditsRefunded: ({ data }) => void rows.claims.delete(paymentStream(data)),
    RefundReversed: ({ data }) => void rows.claims.delete(paymentStream(data)),
    CreditsTransferredOut: ({ data: { transfer_id, to_tenant_id, credits, created_at }, stream }) =>
      void rows.transfers.set(transfer_id, {
        transfer_id,
        from_tenant_id: tenantIn(stream),
        to_tenant_id,
        credits,
        created_at,
      }),
    CreditsTransferredIn: ({ data }) => void rows.transfers.delete(data.transfer_id),
    HoldReleased: (event) => released(rows, event),
    CreditsBurned: (event) => burned(rows, event),
    ExtractionRequested: (event) => {
      const { extraction_id: id, document_id } = event.data;
      if (rows.begun.has(id)) return;
      rows.running.set(id, usageRow({ id, operation: 'extract' }, event));
      rows.begun.set(id, document_id);
    },
    SplitRequested: (event) => {
      const { split_id: id, document_id } = event.data;
      if (rows.begun.has(id)) return;
      rows.running.set(id, usageRow({ id, operation: 'split' }, event));
      rows.begun.set(id, document_id);
    },
    SplitFailed: ({ data }) => void rows.running.delete(data.split_id),
    SplitCompleted: ({ data }) => {
      rows.running.delete(data.split_id);
      rows.unrecorded.delete(data.split_id);
    },
    ExtractionFailed: ({ data }) => void rows.running.delete(data.extraction_id),
    ExtractionCompleted: ({ data }) => {
      rows.running.delete(data.extraction_id);
      rows.unrecorded.delete(data.extraction_id);
    },
    ConversionCompleted: ({ data }) => void rows.unrecorded.delete(data.conversion_id),
  });
  return (event: ProjectedEvent): void => {
    if (event.type === 'DeliveriesPruned') prune(rows, event.data);
    else applyEvent(webhookRows, event);
    handle(event);
    const [id, move] = moveOf(event) ?? [];
    const row = rows.operations.get(id ?? '') ?? rows.jobs.get(id ?? '');
    if (row !== undefined) Object.assign(row, move);
  };
};

/** What read models know of a log: all events up to one of them. Held equal to the SQL by a spec. */
export const readModel = (log: () => readonly RecordedEvent[]) => {
  let rows = emptyRows();
  let [apply, applied_] = [appliedTo(rows), 0];
  return {
    /** Reads on, to the event before `end`. */
    advance: (end = log().length): void => {
      const events = log();
      for (; applied_ < Math.min(end, events.length); applied_ += 1)
        apply(events[applied_] as unknown as ProjectedEvent);
    },
    /** How many events it has. */
    applied: () => applied_,
    /** Begins anew: the log is another one. */
    forget: (): void => {
      [rows, applied_] = [emptyRows(), 0];
      apply = appliedTo(rows);
    },
    rows: () => rows,
  };
};

/** The row of the registry of read models that have all up to this event. */
export const registryRow = (last: RecordedEvent | undefined) => {
  const position = last?.position ?? null;
  return {
    name: 'all',
    version: 1,
    generation: 1,
    schema_name: 's',
    position,
    state: 'live',
    serves: true,
    reason: null,
    log_id: null,
    witness: last === undefined ? null : textOfWitness(last.position, witnessOf(last)),
  };
};
