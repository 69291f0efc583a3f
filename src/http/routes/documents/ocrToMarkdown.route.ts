import { runConversion } from '../../documents/conversion.ts';
import { KEPT_A_DAY, post } from '../../defineRoute.ts';
import { onJsonFile } from '../../documents/sourceFile.ts';
import { invalid } from '../../problems.ts';
import { ocrToMarkdownRequest } from '../../wire/canonical.ts';
import { CHANNEL_MEMBERS } from '../../wire/channels.ts';
import { markdownResponse, conversionFormOf } from '../../wire/documents.ts';
import { looseChannel, workOf } from '../../documents/workFields.ts';
import { CONVERSION_PROBLEMS, FETCH_PROBLEMS } from '../../documents/workProblems.ts';

const inOcr = (member: string) => ['body', 'ocr', member];

export const ocrToMarkdown = post('/v1/ocr/to-markdown', {
  summary: 'An uploaded document as markdown and plain text',
  description:
    'The document is the one of a `file_uri` that presign gave and that was uploaded since, or lies at `source_url`.',
  access: 'any',
  tenant: 'body',
  serviceActsForAll: true,
  bucket: 'heavy',
  idempotency: KEPT_A_DAY,
  respondsAsync: true,
  body: ocrToMarkdownRequest,
  reply: { status: 200, schema: markdownResponse },
  problems: [...CONVERSION_PROBLEMS, ...FETCH_PROBLEMS],
  handle: (request, deps) => {
    const { tenant_id, project_id, task_id, file_uri, source_url, file_name, mode, ocr } = request.body;
    if (file_uri === undefined && source_url === undefined)
      throw invalid({
        loc: ['body', 'file_uri'],
        msg: 'Name the document by its file_uri or its source_url.',
        type: 'missing',
      });
    const named = {
      tenant_id,
      file_uri,
      source_url,
      file_name,
      source: 'upload',
      project_id,
      task_id,
    } as const;
    return onJsonFile(deps, { request, named: { ...named, at: ['body'] } }, (subject) =>
      runConversion(deps, request, {
        ...workOf(request, request.body, subject),
        mode,
        form: conversionFormOf(request.body),
        ocr: looseChannel(ocr ?? {}, { members: CHANNEL_MEMBERS, at: inOcr }),
        channelPaths: (_, member) => inOcr(member),
      }),
    );
  },
});
