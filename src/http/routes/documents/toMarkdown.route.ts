import { runConversion } from '../../documents/conversion.ts';
import { KEPT_A_DAY, post } from '../../defineRoute.ts';
import { markdownResponse, conversionFormOf, toMarkdownForm } from '../../wire/documents.ts';
import { onFormFile } from '../../documents/sourceFile.ts';
import { channelOf, workOf } from '../../documents/workFields.ts';
import { CONVERSION_PROBLEMS } from '../../documents/workProblems.ts';

export const toMarkdown = post('/v1/to-markdown', {
  summary: 'A document as markdown and plain text',
  description:
    'Headings, lists, tables and text in reading order. ' +
    'Pages without text are recognised unless `conversion_mode` is `fast`.',
  access: 'any',
  tenant: 'body',
  serviceActsForAll: true,
  bucket: 'heavy',
  idempotency: KEPT_A_DAY,
  respondsAsync: true,
  body: toMarkdownForm,
  upload: true,
  reply: { status: 200, schema: markdownResponse },
  problems: CONVERSION_PROBLEMS,
  handle: async (request, deps) => {
    const { project_id, task_id, conversion_mode: mode, ...fields } = request.body;
    return onFormFile(deps, request, (file) =>
      runConversion(deps, request, {
        ...workOf(request, fields, { file, project_id, task_id }),
        mode,
        form: conversionFormOf(fields),
        ocr: channelOf('ocr', fields),
      }),
    );
  },
});
