import {
  actsForAll,
  CANONICAL_OPERATIONS,
  DOCUMENTED_ENVELOPE,
} from '../../canonical/canonicalOperations.ts';
import { KEPT_A_DAY, post } from '../../defineRoute.ts';
import { problem } from '../../problems.ts';
import { canonicalEnvelope, canonicalResponse } from '../../wire/canonical.ts';
import { PIPELINE_PROBLEMS } from '../../pipelines/problems.ts';
import { CONVERSION_PROBLEMS, EXTRACTION_PROBLEMS, FETCH_PROBLEMS } from '../../documents/workProblems.ts';

const SCHEMA_VERSION = '1.0' as const;

const HEAVY = 'inference.extract';

const operationIn = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'operation' in body ? body.operation : undefined;

export const canonical = post('/v1/canonical', {
  summary: 'One envelope for all operations',
  description: `Operations: ${Object.keys(CANONICAL_OPERATIONS)
    .map((name) => `\`${name}\``)
    .join(', ')}. \`result\` is what the plain endpoint answers.`,
  access: 'any',
  tenant: 'scope',
  serviceActsForAll: true,
  bucketOf: (body) => (operationIn(body) === HEAVY ? 'heavy' : 'general'),
  idempotency: KEPT_A_DAY,
  respondsAsync: true,
  body: canonicalEnvelope,
  documentedBody: DOCUMENTED_ENVELOPE,
  reply: { status: 200, schema: canonicalResponse },
  problems: [
    'unknown_operation',
    'unsupported_schema_version',
    ...EXTRACTION_PROBLEMS,
    ...CONVERSION_PROBLEMS,
    ...FETCH_PROBLEMS,
    ...PIPELINE_PROBLEMS,
  ],
  handle: async (request, deps) => {
    const { schema_version, operation } = request.body;
    if (schema_version !== SCHEMA_VERSION)
      throw problem('unsupported_schema_version', `Send schema_version "${SCHEMA_VERSION}".`);
    const run = Object.hasOwn(CANONICAL_OPERATIONS, operation) ? CANONICAL_OPERATIONS[operation] : undefined;
    if (run === undefined)
      throw problem(
        'unknown_operation',
        `There is no such operation. Choose from: ${Object.keys(CANONICAL_OPERATIONS).join(', ')}.`,
      );
    const { caller, tenant_id } = request;
    if (caller.role === 'service' && caller.tenant_id !== tenant_id && !actsForAll(operation))
      throw problem('tenant_mismatch', 'The API key belongs to another tenant.');
    const result = await run({ deps, request });
    return {
      schema_version: SCHEMA_VERSION,
      operation,
      request_id: request.meta.correlation_id,
      result: result as Record<string, unknown>,
    };
  },
});
