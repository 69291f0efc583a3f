import { extract } from '../../extraction/extract.ts';
import { withAbsence } from '../../extraction/grounding/absence.ts';
import { checkSchema, validate } from '../../extraction/schema/validation.ts';
import type { Document } from '../../document/document.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';

/** What became of a schema and a document. */
export type Trial =
  | { readonly kind: 'refused'; readonly detail: string }
  | { readonly kind: 'answered'; readonly value: JsonObject; readonly flaws: readonly string[] };

/** The value at a pointer; undefined where nothing stands. */
function at(value: Json, pointer: string): Json | undefined {
  let here: Json | undefined = value;
  for (const token of pointer.split('/').slice(1)) {
    if (typeof here !== 'object' || here === null) return undefined;
    const key = token.replace(/~1/g, '/').replace(/~0/g, '~');
    here = Object.hasOwn(here, key) ? (here as JsonObject)[key] : undefined;
  }
  return here;
}

/** Where there are several ways to fit, what was taken out by one may be missed by another. */
const hasWays = (schema: JsonObject): boolean =>
  /"(?:anyOf|oneOf|allOf|not|if|contains)":/u.test(JSON.stringify(schema));

/**
 * Takes a schema all the way that an extraction takes it, as long as it is one that callers may send. Flaws: a citation
 * of what is not in the answer; and what does not fit though all that does not was taken out.
 */
export function tried(schema: JsonObject, document: Document): Trial {
  const checked = checkSchema(schema);
  if (checked.kind !== 'ok') return { kind: 'refused', detail: checked.detail };
  const found = extract(document, schema);
  const answer = withAbsence(schema, found.value);
  const { value } = validate(schema, answer);
  const again = validate(schema, value);
  const flaws = [
    ...found.citations
      .filter(({ path }) => at(found.value, path) === undefined)
      .map(({ path }) => `nothing stands at the cited ${path}`),
    ...(hasWays(schema) || JSON.stringify(again.value) === JSON.stringify(value)
      ? []
      : ['what is wrong is not all taken out']),
  ];
  return { kind: 'answered', value, flaws };
}

/** What does not fit a schema in what is found, before anything is taken out of it. */
export function misfits(schema: JsonObject, document: Document): readonly string[] {
  const { errors } = validate(schema, withAbsence(schema, extract(document, schema).value));
  return errors.map(({ path, keyword, actual }) => `${path} ${keyword}: ${JSON.stringify(actual)}`);
}
