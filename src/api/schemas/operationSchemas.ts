import { ratedOperation } from '../../../domain/account/messages.ts';
import { z } from 'zod';
import {
  creditsOut,
  fromBoundary,
  instantOut,
  pageOf,
  listQuery,
  plainText,
  tagFilter,
  tagsOut,
  tenantIdText,
} from './basics.ts';
import { operationsOfTenant } from '../../../projections/operations.ts';

export const operationStatus = z
  .enum(['queued', 'running', 'succeeded', 'partial', 'needs_review', 'failed', 'cancelled'])
  .meta({
    description:
      '`partial`: it succeeded, but its data fits the schema only in part. `needs_review`: it succeeded, was billed, ' +
      'and a person has to look at the result; once the person has decided, it is `succeeded` or `partial`. If ' +
      'nobody decides in time, or the document is erased, it is what it was before, and its result is gone.',
  });

const kind = ratedOperation;

const facts = {
  operation_id: z.string(),
  operation: kind,
  tenant_id: z.string(),
  project_id: z.string(),
  task_id: z.string(),
  document_id: z.string(),
  status: operationStatus,
  accepted_at: instantOut,
  started_at: instantOut.nullable(),
  finished_at: instantOut.nullable(),
};

export const errorOut = z
  .looseObject({ code: z.string(), status: z.int(), title: z.string(), detail: z.string() })
  .nullable()
  .meta({ description: 'The problem that the synchronous call would have answered.' });

export const costOut = z
  .strictObject({
    credits_used: creditsOut,
    pages: z.int(),
    balance_remaining: creditsOut.nullable(),
  })
  .nullable()
  .meta({ description: 'null until it is billed; it is billed only if it succeeds.' });

export const operationBody = z
  .strictObject({
    ...facts,
    tags: tagsOut,
    pages: z.strictObject({ done: z.int(), total: z.int() }).meta({ id: 'OperationPages' }),
    result: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: 'The answer of the synchronous call; kept for 24 hours after the end.' }),
    error: errorOut,
    cost: costOut,
    review_id: z
      .string()
      .nullable()
      .meta({ description: 'ID of the review that it needs, or needed; else null.' }),
  })
  .meta({ id: 'Operation' });
export type OperationBody = z.input<typeof operationBody>;

export const cancelledOperation = operationBody
  .extend({ cancelled: z.boolean().meta({ description: 'false if it had already ended.' }) })
  .meta({ id: 'CancelledOperation' });

export const operationParams = z.object({ operation_id: plainText(1, 128) });

export const operationsQuery = z.object({
  tenant_id: tenantIdText,
  status: operationStatus.optional(),
  operation: kind.optional(),
  project_id: plainText(1, 128).optional(),
  task_id: plainText(1, 128).optional(),
  tag: tagFilter.optional(),
  accepted_after: fromBoundary.optional(),
  ...listQuery(operationsOfTenant),
});

export const operationList = pageOf(
  z
    .strictObject({
      ...facts,
      tags: tagsOut,
      operation: z.string(),
      status: z.string(),
      pages: z.int(),
      problem_code: z.string().nullable(),
      credits_used: creditsOut.nullable(),
    })
    .meta({ id: 'OperationItem' }),
  'OperationList',
);
