import { operations } from '../../../projections/operations.ts';
import { byType } from '../log/auditedEvent.ts';
import { keptRows, noneOf, type ExpectedModel } from './expectedRows.ts';

/** Operations as they stand. */
export const operationRows: ExpectedModel = {
  name: 'operations',
  tables: [operations],
  start: (emit) => {
    const rows = keptRows(operations, emit);
    /** Operations by their work, which burns name. */
    const works = new Map<string, string>();
    const apply = byType({
      OperationAccepted: ({ data, position }) => {
        const waits = { status: 'queued', attempt: 0, ready_at: data.accepted_at, hold_closed: false };
        const file_bytes = data.file_bytes ?? 0;
        rows.set(data.operation_id, {
          ...noneOf(operations.columns),
          ...data,
          file_bytes,
          position,
          ...waits,
        });
        works.set(data.work_id, data.operation_id);
      },
      OperationStarted: ({ data: { operation_id, attempt, lease_until: ready_at, ...data } }) => {
        const started_at = rows.get(operation_id)?.started_at ?? data.started_at;
        rows.change(operation_id, { status: 'running', attempt, ready_at, started_at });
      },
      OperationProgressed: ({ data: { operation_id, gave_up, lease_until: ready_at } }) =>
        rows.change(operation_id, { status: gave_up === null ? 'running' : 'queued', ready_at }),
      OperationSucceeded: ({ data: { operation_id, outcome, succeeded_at: finished_at } }) =>
        rows.change(operation_id, { status: outcome === 'partial' ? outcome : 'succeeded', finished_at }),
      OperationFailed: ({ data: { operation_id, code: problem_code, failed_at: finished_at } }) =>
        rows.change(operation_id, { status: 'failed', problem_code, finished_at }),
      OperationCancelled: ({ data: { operation_id, cancelled_at: finished_at } }) =>
        rows.change(operation_id, { status: 'cancelled', finished_at }),
      CreditsBurned: ({ data: { operation_id, credits, free_pages, balance_after, created_at } }) =>
        rows.change(works.get(operation_id) ?? '', {
          ...{ credits_charged: credits, free_pages, balance_after, charged_at: created_at },
        }),
    });
    return { apply, finish: rows.emitAll };
  },
};
