import type { Route } from '../../defineRoute.ts';
import { defineRoute } from '../../defineRoute.ts';
import { openApiDocument } from '../../openapi/openapi.ts';

/** Describes all routes, itself included. */
export const getOpenApi = (others: readonly Route[]): Route => {
  let text: string | undefined;
  const route: Route = defineRoute({
    method: 'get',
    path: '/openapi.json',
    operationId: 'getOpenApi',
    summary: 'This interface as OpenAPI 3.1',
    tag: 'Operations',
    access: 'public',
    always: true,
    reply: { status: 200, contentType: 'application/json' },
    problems: [],
    handle: () => {
      text ??= JSON.stringify(openApiDocument([...others, route]));
      return Promise.resolve({ contentType: 'application/json', body: text });
    },
  });
  return route;
};
