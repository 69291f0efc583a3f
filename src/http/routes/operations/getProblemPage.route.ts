import { z } from 'zod';
import { get } from '../../defineRoute.ts';
import { problemPage, problemPageAsHtml, PROBLEM_PAGE_POLICY } from '../../openapi/problemPages.ts';
import { PAGE_HEADERS } from '../../server/safeHeaders.ts';
import { WIRE_CODES } from '../../../problemTable.ts';
import { problem } from '../../problems.ts';

const MARKDOWN = 'text/markdown';
const HTML = 'text/html';

export const getProblemPage = get('/docs/problems/{code}', {
  summary: 'What a problem means and what to do',
  description: 'The page that the `type` of a problem names: HTML for a browser, else markdown.',
  access: 'public',
  always: true,
  params: z.object({ code: z.enum(WIRE_CODES) }),
  reply: { status: 200, contentType: MARKDOWN, alsoContentTypes: [HTML] },
  problems: ['not_found'],
  handle: async ({ params, prefers, answer }) => {
    answer.header('Vary', 'Accept');
    const isHtml = prefers([MARKDOWN, HTML]) === HTML;
    const body = await (isHtml ? problemPageAsHtml(params.code) : problemPage(params.code));
    if (body === undefined) throw problem('not_found', 'This problem has no page here.');
    if (!isHtml) return { contentType: `${MARKDOWN}; charset=utf-8`, body };
    answer.header('Content-Security-Policy', PROBLEM_PAGE_POLICY);
    for (const [name, value] of Object.entries(PAGE_HEADERS)) answer.header(name, value);
    return { contentType: `${HTML}; charset=utf-8`, body };
  },
});
