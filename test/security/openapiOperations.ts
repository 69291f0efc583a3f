type Members = Readonly<Record<string, unknown>>;

const pathsOf = (openapi: Members): Members => openapi['paths'] as Members;

/** Every path that an OpenAPI document has. */
export const expressionsOf = (openapi: Members): readonly string[] => Object.keys(pathsOf(openapi));

/** Every operation of an OpenAPI document, as `get /path`. */
export const operationsIn = (openapi: Members): readonly string[] =>
  Object.entries(pathsOf(openapi)).flatMap(([path, methods]) =>
    Object.keys(methods as Members)
      .filter((member) => ['get', 'post', 'put', 'delete', 'patch'].includes(member))
      .map((method) => `${method} ${path}`),
  );
