import { KEPT_A_DAY, post } from '../../defineRoute.ts';
import { runExtraction } from '../../documents/extraction.ts';
import { problem } from '../../problems.ts';
import { extractForm, extractResponse } from '../../wire/documents.ts';
import { onFormFile } from '../../documents/sourceFile.ts';
import { channelOf, workOf } from '../../documents/workFields.ts';
import { EXTRACTION_PROBLEMS } from '../../documents/workProblems.ts';

const parsed = (schema: string | undefined): unknown => {
  if (schema === undefined) return undefined;
  try {
    return JSON.parse(schema);
  } catch {
    throw problem('invalid_schema', 'The field schema is not JSON.');
  }
};

export const extract = post('/v1/extract', {
  summary: 'Data from a document, by a JSON Schema',
  description:
    'Nothing is invented: a value that is not in the document is null where the schema ' +
    'allows null, and left out where it is optional.',
  access: 'any',
  tenant: 'body',
  serviceActsForAll: true,
  bucket: 'heavy',
  idempotency: KEPT_A_DAY,
  body: extractForm,
  upload: true,
  respondsAsync: true,
  reply: { status: 200, schema: extractResponse },
  problems: EXTRACTION_PROBLEMS,
  handle: async (request, deps) => {
    const { project_id, task_id, schema, ...fields } = request.body;
    return onFormFile(deps, request, (file) =>
      runExtraction(deps, request, {
        fields: {
          schema: parsed(schema),
          mode: fields.mode,
          artifact_id: fields.artifact_id,
          config_id: fields.config_id,
          allow_partial: fields.allow_partial,
          citations: fields.citations,
          min_confidence: fields.min_confidence,
          llm: channelOf('llm', fields),
          ocr: channelOf('ocr', fields),
        },
        work: workOf(request, fields, { file, project_id, task_id }),
      }),
    );
  },
});
