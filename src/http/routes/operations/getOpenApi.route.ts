import { get, type NamedRoute } from '../../defineRoute.ts';
import { openApiDocument } from '../../openapi/openapi.ts';

/** Describes all routes, itself included. */
export const getOpenApi = (routes: () => readonly NamedRoute[]) => {
  let text: string | undefined;
  return get('/openapi.json', {
    summary: 'This interface as OpenAPI 3.1',
    access: 'public',
    always: true,
    reply: { status: 200, contentType: 'application/json' },
    handle: () => {
      text ??= JSON.stringify(openApiDocument(routes()));
      return Promise.resolve({ contentType: 'application/json', body: text });
    },
  });
};
