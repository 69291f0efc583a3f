import { accountOf, type AuditedEvent, type AuditedEventOf } from '../log/auditedEvent.ts';
import { documents } from '../../../projections/documents/documents.schema.ts';
import { unrecordedWork, usageEvents } from '../../../projections/usageEvents/usageEvents.schema.ts';
import {
  change,
  emitAll,
  type Emit,
  type ExpectedModel,
  type ExpectedRow,
  type ExpectedRows,
} from './expectedRows.ts';

type Works = ExpectedRows<typeof usageEvents>;
type Burned = ExpectedRows<typeof unrecordedWork>;

type Requested = AuditedEventOf<'ExtractionRequested' | 'ConversionRequested'>;

const requestedRow = ({ position, data }: Requested): ExpectedRow<typeof usageEvents> => {
  const isExtraction = 'extraction_id' in data;
  return {
    id: isExtraction ? data.extraction_id : data.conversion_id,
    kind: isExtraction ? 'extraction' : 'conversion',
    tenant_id: data.tenant_id,
    position,
    project_id: data.project_id,
    task_id: data.task_id,
    document_id: data.document_id,
    document_sha256: data.document_sha256,
    mode: data.mode,
    billing_type: data.billing_type,
    model: data.model,
    ocr_model: data.ocr_model,
    pages: data.pages,
    free_pages: null,
    hold_id: data.hold_id,
    api_key_id: data.api_key_id,
    state: 'running',
    problem_code: null,
    duration_ms: null,
    requested_at: data.requested_at,
    finished_at: null,
  };
};

const idOf = (data: { extraction_id: string } | { conversion_id: string }): string =>
  'extraction_id' in data ? data.extraction_id : data.conversion_id;

/** Completed work never changes again: its row is emitted and forgotten. */
const workMoves = (works: Works, event: AuditedEvent, emit: Emit): void => {
  switch (event.type) {
    case 'ExtractionRequested':
    case 'ConversionRequested':
      works.set(idOf(event.data), requestedRow(event));
      return;
    case 'ExtractionCompleted':
    case 'ConversionCompleted': {
      const { status, pages, free_pages, duration_ms, completed_at } = event.data;
      const work = works.get(idOf(event.data));
      works.delete(idOf(event.data));
      const end = {
        state: status,
        pages,
        free_pages,
        problem_code: null,
        duration_ms,
        finished_at: completed_at,
      };
      if (work !== undefined) emit(usageEvents, { ...work, ...end });
      return;
    }
    case 'ExtractionFailed':
    case 'ConversionFailed': {
      const { code, failed_at } = event.data;
      change(works, idOf(event.data), {
        state: 'failed',
        free_pages: null,
        problem_code: code,
        duration_ms: null,
        finished_at: failed_at,
      });
      return;
    }
    default:
  }
};

/** Work is billed as its burn says, whatever it was held as when it began. */
const settle = (works: Works, event: AuditedEvent): void => {
  if (event.type !== 'CreditsBurned') return;
  const { operation_id, hold_id, billing_type } = event.data;
  if (hold_id !== null) change(works, operation_id, { billing_type, hold_id });
};

/** A burn that says how its work ended waits for the usage event. */
const burnMoves = (burned: Burned, event: AuditedEvent): void => {
  if (event.type === 'ExtractionCompleted' || event.type === 'ConversionCompleted')
    burned.delete(idOf(event.data));
  if (event.type !== 'CreditsBurned' || event.data.delivered === undefined) return;
  const { operation_id, operation, pages, free_pages, delivered, created_at } = event.data;
  burned.set(operation_id, {
    operation_id,
    operation,
    tenant_id: accountOf(event.stream) ?? '',
    pages,
    free_pages,
    status: delivered.status,
    duration_ms: delivered.duration_ms,
    burned_at: created_at,
  });
};

/** Extractions and conversions. */
export const usageEventRows: ExpectedModel = {
  name: 'usage_events',
  tables: [usageEvents, unrecordedWork],
  start: () => {
    const works: Works = new Map();
    const burned: Burned = new Map();
    return {
      apply: (event, emit) => {
        workMoves(works, event, emit);
        settle(works, event);
        burnMoves(burned, event);
      },
      finish: (emit) => {
        emitAll(works, usageEvents, emit);
        emitAll(burned, unrecordedWork, emit);
      },
    };
  },
};

/**
 * Documents: what a stream registers first, at its beginning or right after the upload that it was
 * presigned for. A second registration would change nothing.
 */
export const documentRows: ExpectedModel = {
  name: 'documents',
  tables: [documents],
  start: () => {
    /** Presigned and not used yet. */
    const presigned = new Set<string>();
    /** Used uploads that are still kept. */
    const kept: ExpectedRows<typeof documents> = new Map();
    return {
      apply: (event, emit) => {
        const { stream } = event;
        if (event.type === 'UploadPresigned' && event.revision === 0n) presigned.add(stream);
        if (event.type === 'UploadRemoved') {
          const row = kept.get(stream);
          if (row !== undefined) emit(documents, { ...row, removed_at: event.data.removed_at });
          kept.delete(stream);
        }
        if (event.type !== 'DocumentRegistered') return;
        const row = { ...event.data, position: event.position, removed_at: null };
        if (presigned.delete(stream)) kept.set(stream, row);
        else if (event.revision === 0n) emit(documents, row);
      },
      finish: (emit) => emitAll(kept, documents, emit),
    };
  },
};
