import { get } from '../../defineRoute.ts';
import { DOCS_PAGE, DOCS_POLICY } from '../../openapi/docsPages.ts';
import { PAGE_HEADERS } from '../../server/safeHeaders.ts';

export const getDocs = get('/docs', {
  summary: 'The reference page',
  description: 'Every operation with its schemas; a key typed there is not kept.',
  access: 'public',
  always: true,
  reply: { status: 200, contentType: 'text/html' },
  handle: ({ answer }) => {
    answer.header('Content-Security-Policy', DOCS_POLICY);
    for (const [name, value] of Object.entries(PAGE_HEADERS)) answer.header(name, value);
    return Promise.resolve({ contentType: 'text/html; charset=utf-8', body: DOCS_PAGE });
  },
});
