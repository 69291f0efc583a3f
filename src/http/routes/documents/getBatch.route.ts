import { get } from '../../defineRoute.ts';
import { batchAsItStands } from '../../documents/batches.ts';
import { batchBody, batchParams } from '../../wire/batches.ts';

export const getBatch = get('/v1/batches/{batch_id}', {
  summary: 'How far a batch is',
  description: 'Documents by what became of them, the pages that were delivered, and what they cost.',
  access: 'any',
  params: batchParams,
  reply: { status: 200, schema: batchBody },
  problems: ['batch_not_found'],
  handle: (request, deps) => batchAsItStands(deps, request, request.params.batch_id),
});
