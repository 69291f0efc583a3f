import { post } from '../../defineRoute.ts';
import { cancelOperationOf } from '../../documents/operations.ts';
import { cancelledOperation, operationParams } from '../../wire/operations.ts';

export const cancelOperation = post('/v1/operations/{operation_id}/cancel', {
  summary: 'Cancel an operation that has not ended',
  description: 'Its hold is given back. One that had ended stays as it is, with `cancelled: false`.',
  access: 'any',
  params: operationParams,
  reply: { status: 200, schema: cancelledOperation },
  problems: ['operation_not_found', 'busy'],
  handle: (request, deps) => cancelOperationOf(deps, request, request.params.operation_id),
});
