import {
  operationOfKind,
  type WorkCompletedType,
  type WorkFailedType,
  workOfUsage,
  type WorkRequestedType,
} from '../../domain/workEvents.ts';
import { runs, runTags } from '../../projections/runs.ts';
import {
  type AuditedEventOf,
  byType,
  type Emit,
  type ExpectedModel,
  type ExpectedRow,
  keptRows,
  noneOf,
} from './auditedEvent.ts';
import { emitTags } from './expectedRows.ts';

type Run = ExpectedRow<typeof runs>;
type Requested = AuditedEventOf<WorkRequestedType>;
type Completed = AuditedEventOf<WorkCompletedType>;
type Failed = AuditedEventOf<WorkFailedType>;

const idOf = ({ data }: Requested | Completed | Failed): string => workOfUsage(data).id;

/** How work ends that a person gave up. */
const CANCELLED = { ended_as: 'cancelled', problem_code: 'request_aborted' };

/** Rows of runs; the first event of a run begins its row, and a later one fills what was left open. */
const runBook = (emit: Emit) => {
  const rows = keptRows(runs, emit);
  return {
    begin: (
      run_id: string,
      { data, position }: Requested | AuditedEventOf<'OperationAccepted' | 'TrainingJobCreated'>,
      columns: Pick<Run, 'kind' | 'requested_at'> & Partial<Run>,
    ): void => {
      const { tenant_id, project_id, task_id, api_key_id, tags = null } = data;
      if (rows.get(run_id) !== undefined) return;
      const first = { run_id, tenant_id, position, project_id, task_id, api_key_id, tags };
      rows.set(run_id, { ...noneOf(runs.columns), ...first, ...columns });
      emitTags(emit, runTags, { tenant_id, tags: data.tags, work: run_id });
    },
    learn: (run_id: string | undefined, columns: Partial<Run>): void => {
      const known = Object.entries(columns).filter(([, value]) => value != null);
      rows.change(run_id ?? '', Object.fromEntries(known));
    },
    /** Completed work never changes again: its row is emitted and dropped. */
    close: (run_id: string): void => {
      const run = rows.take(run_id);
      if (run !== undefined) emit(runs, run);
    },
    finish: rows.emitAll,
  };
};

type RunBook = ReturnType<typeof runBook>;

/** What usage events tell of work on documents. */
const usageIn = ({ begin, learn, close }: RunBook) => {
  const requested = (event: Requested): void => {
    const run_id = idOf(event);
    const { document_id, mode, model, pages, requested_at } = event.data;
    const kind = operationOfKind(workOfUsage(event.data).kind);
    begin(run_id, event, { kind, requested_at, document_id });
    learn(run_id, { mode, model, pages, began_at: requested_at });
    if (event.type !== 'ExtractionRequested') return;
    const { config_id = null, config_version = null } = event.data;
    learn(run_id, { config_id, config_version });
  };
  const completed = (event: Completed): void => {
    const { status, pages, duration_ms, completed_at: finished_at, result_sha256 = null } = event.data;
    const ended_as = status === 'success' ? 'succeeded' : 'partial';
    learn(idOf(event), { ended_as, pages, duration_ms, finished_at, result_sha256 });
    close(idOf(event));
  };
  const failed = (event: Failed): void => {
    const { code, failed_at: finished_at } = event.data;
    const as = code === CANCELLED.problem_code ? CANCELLED : { ended_as: 'failed', problem_code: code };
    learn(idOf(event), { ...as, finished_at });
  };
  return byType({
    ExtractionRequested: requested,
    ConversionRequested: requested,
    ClassificationRequested: requested,
    SplitRequested: requested,
    ExtractionCompleted: completed,
    ConversionCompleted: completed,
    ClassificationCompleted: completed,
    SplitCompleted: completed,
    ExtractionFailed: failed,
    ConversionFailed: failed,
    ClassificationFailed: failed,
    SplitFailed: failed,
    CreditsBurned: ({ data: { operation_id, credits, free_pages, balance_after, delivered } }) => {
      const result_sha256 = delivered?.result_sha256 ?? null;
      learn(operation_id, { credits, free_pages, balance_after, result_sha256 });
    },
  });
};

/** What operations tell of work that nobody waits for. */
const operationsIn = ({ begin, learn }: RunBook) => {
  const runOf = new Map<string, string>();
  return byType({
    OperationAccepted: (event) => {
      const { work_id, operation_id, kind, document_id, mode, pages, accepted_at } = event.data;
      const known = { operation_id, document_id, mode, pages };
      begin(work_id, event, { kind, requested_at: accepted_at, ...known });
      runOf.set(operation_id, work_id);
    },
    OperationFailed: ({ data: { operation_id, code, failed_at: finished_at } }) =>
      learn(runOf.get(operation_id), { ended_as: 'failed', problem_code: code, finished_at }),
    OperationCancelled: ({ data: { operation_id, cancelled_at: finished_at } }) =>
      learn(runOf.get(operation_id), { ...CANCELLED, finished_at }),
  });
};

const trainingIn = ({ begin, learn }: RunBook) =>
  byType({
    TrainingJobCreated: (event) => {
      const { job_id, mode, created_at } = event.data;
      begin(job_id, event, { kind: 'training', requested_at: created_at, mode });
    },
    TrainingJobStarted: ({ data: { job_id, started_at: began_at } }) => learn(job_id, { began_at }),
    TrainingJobSucceeded: ({ data: { job_id, succeeded_at: finished_at } }) =>
      learn(job_id, { ended_as: 'succeeded', finished_at }),
    TrainingJobFailed: ({ data: { job_id, code, failed_at: finished_at } }) =>
      learn(job_id, { ended_as: 'failed', problem_code: code, finished_at }),
    TrainingJobCancelled: ({ data: { job_id, cancelled_at: finished_at } }) =>
      learn(job_id, { ...CANCELLED, finished_at }),
  });

/** Billed work of any kind. A later event fills what an earlier one left open. */
export const runRows: ExpectedModel = {
  name: 'runs',
  tables: [runs, runTags],
  start: (emit) => {
    const book = runBook(emit);
    const told = [usageIn(book), operationsIn(book), trainingIn(book)];
    return {
      apply: (event) => {
        for (const tell of told) tell(event);
      },
      finish: book.finish,
    };
  },
};
