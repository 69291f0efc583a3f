import { runConversion } from '../../documents/conversion.ts';
import { KEPT_A_DAY, post } from '../../defineRoute.ts';
import { withFetched } from '../../../commands/uploads/fetchedFile.ts';
import { workFailure } from '../../doneOrProblem.ts';
import { ocrToMarkdownRequest } from '../../wire/canonical.ts';
import { CHANNEL_MEMBERS } from '../../wire/channels.ts';
import { markdownResponse, renderFormOf } from '../../wire/documents.ts';
import { looseChannel, workOf } from '../../documents/workFields.ts';
import { CONVERSION_PROBLEMS, FETCH_PROBLEMS } from '../../documents/workProblems.ts';

const inOcr = (member: string) => ['body', 'ocr', member];

export const ocrToMarkdown = post('/v1/ocr/to-markdown', {
  summary: 'An uploaded document as markdown and plain text',
  description: 'The document is the one of a `file_uri` that presign gave and that was uploaded since.',
  access: 'any',
  tenant: 'body',
  serviceActsForAll: true,
  bucket: 'heavy',
  idempotency: KEPT_A_DAY,
  respondsAsync: true,
  body: ocrToMarkdownRequest,
  reply: { status: 200, schema: markdownResponse },
  problems: [...CONVERSION_PROBLEMS, ...FETCH_PROBLEMS],
  handle: async (request, deps) => {
    const { tenant_id, project_id, task_id, file_uri, file_name, mode, ocr } = request.body;
    const fetch = { tenant_id, file_uri, file_name, source: 'upload', project_id, task_id } as const;
    const done = await withFetched(deps.uploads, fetch, (subject) =>
      runConversion(deps, request, {
        ...workOf(request, request.body, subject),
        mode,
        form: renderFormOf(request.body),
        ocr: looseChannel(ocr ?? {}, { members: CHANNEL_MEMBERS, at: inOcr }),
        channelPaths: (_, member) => inOcr(member),
      }),
    );
    if ('kind' in done) throw workFailure(done);
    return done;
  },
});
