import { get } from '../../defineRoute.ts';
import { operationStatus } from '../../documents/operations.ts';
import { operationBody, operationParams } from '../../wire/operations.ts';

export const getOperation = get('/v1/operations/{operation_id}', {
  summary: 'How far an operation is, and what came of it',
  description: 'Results are kept for 24 hours. Until then `result` is what the synchronous call answers.',
  access: 'any',
  params: operationParams,
  reply: { status: 200, schema: operationBody },
  problems: ['operation_not_found'],
  handle: (request, deps) => operationStatus(deps, request, request.params.operation_id),
});
