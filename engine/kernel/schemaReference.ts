import { pointedName } from './json.ts';

const unescapeToken = (token: string): string => {
  const plain = pointedName(token);
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
};

/** What a local reference (`#`, `#/…`) points to; undefined when nothing is there. */
export function resolveLocal(schema: unknown, reference: string): unknown {
  let at = schema;
  for (const token of reference.split('/').slice(1)) {
    if (typeof at !== 'object' || at === null) return undefined;
    const name = unescapeToken(token);
    if (!Object.hasOwn(at, name)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[name];
  }
  return at;
}
