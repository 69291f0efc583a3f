import { z } from 'zod';
import { get } from '../../defineRoute.ts';
import { problemPage } from '../../openapi/docsPages.ts';
import { WIRE_CODES } from '../../../problemTable.ts';
import { problem } from '../../problems.ts';

export const getProblemPage = get('/docs/problems/{code}', {
  summary: 'What a problem means and what to do',
  description: 'The page that the `type` of a problem names.',
  access: 'public',
  always: true,
  params: z.object({ code: z.enum(WIRE_CODES) }),
  reply: { status: 200, contentType: 'text/markdown' },
  problems: ['not_found'],
  handle: async ({ params }) => {
    const body = await problemPage(params.code);
    if (body === undefined) throw problem('not_found', 'This problem has no page here.');
    return { contentType: 'text/markdown; charset=utf-8', body };
  },
});
