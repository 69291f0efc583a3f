import { post } from '../../defineRoute.ts';
import { cancelBatchOf } from '../../documents/batches.ts';
import { batchParams, cancelledBatch } from '../../wire/batches.ts';

export const cancelBatch = post('/v1/batches/{batch_id}/cancel', {
  summary: 'Cancel what of a batch has not begun',
  description:
    'Documents that wait are cancelled and their holds given back; those that are worked on are finished and ' +
    'billed. It is `cancelled` once all have their outcome.',
  access: 'any',
  params: batchParams,
  reply: { status: 200, schema: cancelledBatch },
  problems: ['batch_not_found', 'busy'],
  handle: (request, deps) => cancelBatchOf(deps, request, request.params.batch_id),
});
