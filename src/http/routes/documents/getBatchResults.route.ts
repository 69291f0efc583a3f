import { get } from '../../defineRoute.ts';
import { batchResults } from '../../documents/batches.ts';
import { batchParams, batchResultsQuery } from '../../wire/batches.ts';

export const getBatchResults = get('/v1/batches/{batch_id}/results', {
  summary: 'What became of each document of a batch',
  description:
    'NDJSON in the order of the request: `{index, file_uri, document_id, operation_id, status, result, error, ' +
    'cost}`, where the last four are those of an operation. A document that has not ended has its status. A result ' +
    'is kept for 24 hours after its own end.',
  access: 'any',
  params: batchParams,
  query: batchResultsQuery,
  reply: { status: 200, contentType: 'application/x-ndjson' },
  problems: ['batch_not_found'],
  handle: async (request, deps) => ({
    contentType: 'application/x-ndjson',
    body: await batchResults(deps, request, {
      batchId: request.params.batch_id,
      from: request.query.from,
    }),
  }),
});
