import {
  type WorkCompletedType,
  type WorkFailedType,
  workOfUsage,
  type WorkRequestedType,
} from '../../domain/workEvents.ts';
import { documents } from '../../projections/documents.ts';
import { unrecordedWork, usageEvents } from '../../projections/usageEvents.ts';
import {
  accountOf,
  type AuditedEventOf,
  byType,
  type ExpectedModel,
  type ExpectedRow,
  keptRows,
  noneOf,
} from './auditedEvent.ts';

type Requested = AuditedEventOf<WorkRequestedType>;
type Completed = AuditedEventOf<WorkCompletedType>;
type Failed = AuditedEventOf<WorkFailedType>;

const idOf = ({ data }: Requested | Completed | Failed): string => workOfUsage(data).id;

const requestedRow = (event: Requested): ExpectedRow<typeof usageEvents> => ({
  ...noneOf(usageEvents.columns),
  ...event.data,
  id: idOf(event),
  kind: workOfUsage(event.data).kind,
  position: event.position,
  state: 'running',
});

/** Extractions and conversions. */
export const usageEventRows: ExpectedModel = {
  name: 'usage_events',
  tables: [usageEvents, unrecordedWork],
  start: (emit) => {
    const works = keptRows(usageEvents, emit);
    /** Burns that say how their work ended, and wait for its usage event. */
    const burned = keptRows(unrecordedWork, emit);
    /** The first request stands. */
    const requested = (event: Requested): void => {
      if (works.get(idOf(event)) === undefined) works.set(idOf(event), requestedRow(event));
    };
    /** Completed work never changes again: its row is emitted and dropped. */
    const completed = (event: Completed): void => {
      const { status: state, pages, free_pages, duration_ms, completed_at: finished_at } = event.data;
      const work = works.take(idOf(event));
      const end = { state, pages, free_pages, problem_code: null, duration_ms, finished_at };
      if (work !== undefined) emit(usageEvents, { ...work, ...end });
      burned.take(idOf(event));
    };
    const failed = (event: Failed): void => {
      const { code: problem_code, failed_at: finished_at } = event.data;
      const end = { state: 'failed', free_pages: null, problem_code, duration_ms: null, finished_at };
      works.change(idOf(event), end);
    };
    const apply = byType({
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
      CreditsBurned: ({ stream, data }) => {
        const { operation_id, operation, hold_id, billing_type, pages, free_pages, delivered } = data;
        // Work is billed as its burn says, whatever it was held as when it began.
        if (hold_id !== null) works.change(operation_id, { billing_type, hold_id });
        if (delivered === undefined) return;
        const tenant_id = accountOf(stream) ?? '';
        const burn = { operation_id, operation, tenant_id, pages, free_pages, burned_at: data.created_at };
        const { status, duration_ms } = delivered;
        burned.set(operation_id, { ...burn, status, duration_ms });
      },
    });
    const finish = (): void => {
      works.emitAll();
      burned.emitAll();
    };
    return { apply, finish };
  },
};

/**
 * Documents: what a stream registers first, at its beginning or right after the upload that it was
 * presigned for. A second registration would change nothing. The file of one that came with a request may become an
 * upload later, and be removed then.
 */
export const documentRows: ExpectedModel = {
  name: 'documents',
  tables: [documents],
  start: (emit, erased) => {
    /** Presigned and not used yet. */
    const presigned = new Set<string>();
    /** Those that became uploads after the request that they came with. */
    const later = new Set<string>();
    /** Its row was emitted as it was: in the place of the right one stands none that could be. */
    const neverSaid = (data: { readonly document_id: string; readonly tenant_id: string }): void => {
      erased.add(data.document_id);
      emit(documents, { ...noneOf(documents.columns), ...data, ...NOTHING });
    };
    /** Those that may change: used uploads that are still kept, and what will be erased. */
    const kept = keptRows(documents, emit);
    const apply = byType({
      UploadPresigned: ({ stream, revision }) => {
        (revision === 0n ? presigned : later).add(stream);
      },
      UploadRemoved: ({ stream, data: { document_id, tenant_id, removed_at } }) => {
        kept.change(stream, { removed_at });
        if (erased.has(document_id)) return;
        const row = kept.take(stream);
        if (row !== undefined) emit(documents, row);
        else if (later.has(stream)) neverSaid({ document_id, tenant_id });
      },
      DocumentRegistered: ({ stream, revision, position, data }) => {
        const row = { ...data, position, removed_at: null, erased_at: null };
        const wasPresigned = presigned.delete(stream);
        if (wasPresigned || (revision === 0n && erased.has(data.document_id))) kept.set(stream, row);
        else if (revision === 0n) emit(documents, row);
      },
      DocumentErased: ({ stream, data }) => {
        const row = kept.take(stream);
        if (row !== undefined) emit(documents, { ...row, file_name: null, erased_at: data.erased_at });
        else if (!presigned.has(stream)) neverSaid(data);
      },
    });
    return { apply, finish: kept.emitAll };
  },
};

const NOTHING = {
  position: -1n,
  project_id: '',
  task_id: '',
  mime_type: '',
  bytes: 0,
  pages: 0,
  sha256: '',
  source: '',
  created_at: '',
};
