import type { z } from 'zod';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import { checkSchemaRules } from '../../../domain/extraction/schemaRules.ts';
import type { ApiDeps } from '../apiDeps.ts';
import { defineRoute, KEPT_A_DAY } from '../defineRoute.ts';
import { workFailure } from '../doneOrProblem.ts';
import { channelOf, workOf } from '../formFields.ts';
import { problem } from '../problems.ts';
import { extractForm, extractResponse } from '../wire/documents.ts';
import type { ExtractForm } from '../wire/documents.ts';

/** No artifact or config exists in this version of the service, so none is found. */
const checkReferences = ({ artifact_id, config_id }: ExtractForm): void => {
  if (artifact_id !== undefined) throw problem('artifact_not_found', 'There is no such artifact.');
  if (config_id !== undefined) throw problem('config_not_found', 'There is no such saved config.');
};

const schemaIn = ({ schema }: ExtractForm): JsonObject => {
  if (schema === undefined) throw problem('missing_schema', 'Send the field schema: a JSON Schema.');
  let parsed: unknown;
  try {
    parsed = JSON.parse(schema);
  } catch {
    throw problem('invalid_schema', 'The field schema is not JSON.');
  }
  const verdict = checkSchemaRules(parsed);
  if (verdict.kind === 'invalid_schema') throw problem('invalid_schema', verdict.detail);
  return verdict.schema;
};

export const extract = (deps: ApiDeps) =>
  defineRoute({
    method: 'post',
    path: '/v1/extract',
    operationId: 'extract',
    summary: 'Data from a document, by a JSON Schema',
    description: 'Nothing is invented: an optional value that is not in the document is left out.',
    tag: 'Documents',
    access: 'any',
    tenant: 'body',
    serviceActsForAll: true,
    bucket: 'heavy',
    idempotency: KEPT_A_DAY,
    body: extractForm,
    upload: true,
    reply: { status: 200, schema: extractResponse },
    problems: [
      'missing_schema',
      'invalid_schema',
      'unsupported_file_type',
      'unreadable_file',
      'too_many_pages',
      'unknown_model_provider',
      'artifact_not_found',
      'config_not_found',
      'insufficient_credits',
      'output_schema_mismatch',
      'extraction_failed',
      'storage_error',
      'busy',
    ],
    handle: async (request) => {
      const { body } = request;
      checkReferences(body);
      const answer = await deps.extract({
        ...workOf(request),
        schema: schemaIn(body),
        mode: body.mode === 'balanced' ? 'standard' : body.mode,
        allow_partial: body.allow_partial,
        citations: body.citations,
        llm: channelOf(body.llm_provider_model, body.llm_api_key),
        ocr: channelOf(body.ocr_provider_model, body.ocr_api_key),
      });
      if (answer.kind === 'problem') throw workFailure(answer);
      // The work is billed by now: its shape is held by specs, never by a refusal here.
      return answer.body as unknown as z.input<typeof extractResponse>;
    },
  });
