import { get, type NamedRoute } from '../../defineRoute.ts';
import { openApiDocument } from '../../openapi/openapi.ts';

/** Describes all routes, itself included. Made once: anybody may ask, and it costs a tenth of a second. */
export const getOpenApi = (routes: () => readonly NamedRoute[]) => {
  let made: { readonly url: string; readonly body: string } | undefined;
  return get('/openapi.json', {
    summary: 'This interface as OpenAPI 3.1',
    description: 'What programs are generated from.',
    access: 'public',
    always: true,
    reply: { status: 200, contentType: 'application/json' },
    handle: (_, { baseUrl }) => {
      const url = baseUrl();
      if (made?.url !== url) made = { url, body: JSON.stringify(openApiDocument(routes(), url)) };
      return Promise.resolve({ contentType: 'application/json', body: made.body });
    },
  });
};
