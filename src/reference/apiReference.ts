import { problemsOf, type NamedRoute } from '../server/routes.ts';
import { PROBLEM_CODES, statusOf, titleOf, wireCodeOf } from '../problemTable.ts';

const ACCESS: Readonly<Record<NamedRoute['access'], string>> = {
  public: 'no key needed',
  any: 'any key but a seller’s',
  any_or_seller: 'any key',
  admin: 'admin',
  admin_or_service: 'admin, service',
  admin_or_seller: 'admin, seller',
};

const line = ({ method, path, operationId, summary, access }: NamedRoute): string =>
  `| \`${method.toUpperCase()} ${path}\` | ${summary} | ${ACCESS[access]} | \`${operationId}\` |`;

/** Every route in a line, by its part of the interface. The full schemas are in openapi.json. */
export const routesReference = (routes: readonly NamedRoute[]): string => {
  const tags = [...new Set(routes.map(({ tag }) => tag))].sort();
  const sections = tags.flatMap((tag) => [
    `## ${tag}`,
    '',
    '| route | what it does | key | operation |',
    '|---|---|---|---|',
    ...routes.filter((route) => route.tag === tag).map(line),
    '',
  ]);
  return [
    '# Routes',
    '',
    'Generated from the routes by `npm run generate`. For requests and answers see ' +
      '[openapi.json](openapi.json), or `/docs` of a running service.',
    '',
    ...sections,
  ].join('\n');
};

/** Every problem with its status, and the operations that answer with it. */
export const problemsReference = (routes: readonly NamedRoute[]): string => {
  const rows = PROBLEM_CODES.map((code) => {
    const users = routes
      .filter((route) => problemsOf(route).includes(code))
      .map(({ operationId }) => operationId);
    const where = users.length > 12 ? `${String(users.length)} operations` : users.join(', ');
    const shown = wireCodeOf(code);
    return `| [\`${shown}\`](../problems/${shown}.md) | ${String(statusOf(code))} | ${titleOf(code)} | ${where} |`;
  });
  return [
    '# Problems',
    '',
    'Generated from the code by `npm run generate`. Each code has a page that says what to do.',
    '',
    '| code | status | title | answered by |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
};
