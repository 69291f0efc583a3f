import { get, type NamedRoute } from '../../defineRoute.ts';
import { openApiDocument } from '../../openapi/openapi.ts';

/** Describes all routes, itself included. */
export const getOpenApi = (routes: () => readonly NamedRoute[]) => {
  return get('/openapi.json', {
    summary: 'This interface as OpenAPI 3.1',
    description: 'What programs are generated from.',
    access: 'public',
    always: true,
    reply: { status: 200, contentType: 'application/json' },
    handle: (_, { baseUrl }) => {
      const body = JSON.stringify(openApiDocument(routes(), baseUrl()));
      return Promise.resolve({ contentType: 'application/json', body });
    },
  });
};
