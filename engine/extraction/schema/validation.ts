import { isDeepStrictEqual } from 'node:util';
import { Ajv, type ErrorObject, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import equality from 'ajv/dist/runtime/equal.js';
import formatsPlugin from 'ajv-formats';
import { draftOf, type Draft } from './drafts.ts';
import { linearPattern, patternsIn, type LinearPattern } from './patterns.ts';
import { once } from '../../kernel/once.ts';
import { checkSchemaRules } from './schemaRules.ts';
import {
  pointedName,
  memberPointer,
  isList,
  isObject,
  ownMember,
  type Json,
  type JsonObject,
} from '../../kernel/json.ts';
import type { ValidationError, Validation } from '../../ports/extractionEngine.ts';

type Check = ((value: unknown) => boolean) & { errors?: ErrorObject[] | null };

/** The plugin is CommonJS; its types and its module disagree on where the function is. */
const addFormats = formatsPlugin as unknown as (ajv: Ajv | Ajv2019 | Ajv2020) => void;

/**
 * What Ajv holds two values to be equal by calls a value's own `toString` and `valueOf`, and a document may have
 * members of these names. Ajv has no option for it; its module is CommonJS, and read when a schema is compiled.
 */
(equality as unknown as { default: unknown }).default = Object.assign(
  (a: unknown, b: unknown) => isDeepStrictEqual(a, b),
  { code: 'require("node:util").isDeepStrictEqual' },
);

const OPTIONS: Options = {
  allErrors: true,
  strict: false,
  validateFormats: true,
  logger: false,
  addUsedSchema: false,
  ownProperties: true,
};
const ERRORS_MAX = 100;

const VALIDATORS = { '2020-12': Ajv2020, '2019-09': Ajv2019, '07': Ajv } as const satisfies Record<
  Draft,
  unknown
>;

/** Whether a schema keeps the interface's rules and compiles. Runs in the child. */
export function checkSchema(
  schema: JsonObject,
): { readonly kind: 'ok' } | { readonly kind: 'invalid_schema'; readonly detail: string } {
  const verdict = checkSchemaRules(schema);
  if (verdict.kind !== 'ok') return { kind: 'invalid_schema', detail: verdict.detail };
  try {
    compile(schema);
    return { kind: 'ok' };
  } catch (error) {
    if (error instanceof SchemaRefused) return { kind: 'invalid_schema', detail: error.message };
    const reason = error instanceof Error ? error.message.slice(0, 300) : 'it does not compile';
    return { kind: 'invalid_schema', detail: `The schema is not a valid JSON Schema: ${reason}.` };
  }
}

/** The message is a sentence for the caller. */
class SchemaRefused extends Error {
  override readonly name = 'SchemaRefused';
}

/** Each schema once: a request checks it, and holds what was found against it. */
const compile: (schema: JsonObject) => Check = once((schema) => {
  const draft = draftOf(schema);
  if (draft.kind === 'mixed') throw new SchemaRefused(draft.detail);
  const found = patternsIn(schema);
  if (found.kind === 'refused') throw new SchemaRefused(found.detail);
  const regExp = Object.assign(
    (pattern: string): LinearPattern => found.patterns.get(pattern) ?? linearPattern(pattern),
    { code: 'new RegExp' },
  );
  const ajv = new VALIDATORS[draft.draft]({
    ...OPTIONS,
    // A schema's code runs a few times: to make it shorter took as long again as to make it, and saved nothing.
    code: { regExp, optimize: false },
    meta: false,
    validateSchema: false,
  });
  addFormats(ajv);
  boundUrls(ajv);
  const rest = Object.entries(withOwnProto(schema)).filter(([key]) => key !== '$schema' && key !== '$id');
  const own = Object.fromEntries(rest);
  void judgeOf(draft.draft).validateSchema(own, true);
  return ajv.compile(own);
});

const judges = new Map<Draft, Ajv | Ajv2019 | Ajv2020>();

/** What says whether a schema is one of a draft, throwing where it is none: it is made once, for it takes longest. */
function judgeOf(draft: Draft): Ajv | Ajv2019 | Ajv2020 {
  const judge = judges.get(draft) ?? new VALIDATORS[draft](OPTIONS);
  judges.set(draft, judge);
  return judge;
}

/** No address that is used is longer. */
const URL_CHARACTERS_MAX = 4_096;

/** The plugin's pattern for `url` takes time by the square of the text; all its others are linear. */
function boundUrls(ajv: Ajv | Ajv2019 | Ajv2020): void {
  const url = ajv.formats['url'];
  if (!(url instanceof RegExp)) throw new Error('the formats of ajv-formats have changed');
  ajv.addFormat('url', (text) => text.length <= URL_CHARACTERS_MAX && url.test(text));
}

const PROTO = '__proto__';

/** Ajv leaves a property of this name out of `properties`, but not out of `patternProperties`. */
function withOwnProto(schema: JsonObject): JsonObject {
  if (!JSON.stringify(schema).includes(`"${PROTO}"`)) return schema;
  return JSON.parse(JSON.stringify(schema), (_, value: Json): Json => {
    const properties = isObject(value) ? value['properties'] : undefined;
    if (!isObject(value) || !isObject(properties) || !Object.hasOwn(properties, PROTO)) return value;
    const patterns = isObject(value['patternProperties']) ? value['patternProperties'] : {};
    return { ...value, patternProperties: { ...patterns, [`^${PROTO}$`]: properties[PROTO] ?? true } };
  }) as JsonObject;
}

/**
 * The value without what does not fit, and why. An invalid value is taken out and shown as `actual`; a
 * container that only lacks a member stays. An array's item that does not fit goes as a whole when its
 * place cannot be left out without moving the others. What `keeps` says of a place stays, whatever its error.
 */
export function validate(
  schema: JsonObject,
  value: JsonObject,
  keeps: (path: string) => boolean = () => false,
): Extract<Validation, { readonly kind: 'ok' }> {
  const check = compile(schema);
  if (check(value)) return { kind: 'ok', value, errors: [] };
  const all = check.errors ?? [];
  const invalid = all
    .filter(({ keyword }) => !KEEPS_CONTAINER.has(keyword))
    .map(pathOf)
    .filter((path) => !keeps(path));
  const errors = all.slice(0, ERRORS_MAX).map((error) => validationError(error, value));
  if (invalid.length === 0) return { kind: 'ok', value, errors };
  return { kind: 'ok', value: without(value, placesOf(invalid), '') as JsonObject, errors };
}

/** These speak about a container as a whole; what it holds may still be right. */
const KEEPS_CONTAINER = new Set([
  'required',
  'dependentRequired',
  'dependencies',
  'minProperties',
  'minItems',
  'anyOf',
  'oneOf',
  'allOf',
  'if',
  'not',
  'contains',
]);

/** Errors that name a member of the object they stand at. */
const MEMBER_OF: Readonly<Record<string, string>> = {
  required: 'missingProperty',
  additionalProperties: 'additionalProperty',
  unevaluatedProperties: 'unevaluatedProperty',
};

function pathOf({ instancePath, keyword, params }: ErrorObject): string {
  const name = ownMember(MEMBER_OF, keyword);
  const member: unknown = name === undefined ? undefined : params[name];
  return typeof member === 'string' ? memberPointer(instancePath, member) : instancePath;
}

function validationError(error: ErrorObject, value: JsonObject): ValidationError {
  const { keyword, params, message } = error;
  const path = pathOf(error);
  return {
    path,
    keyword,
    message: message ?? keyword,
    params: JSON.parse(JSON.stringify(params)) as JsonObject,
    actual: at(value, path) ?? null,
  };
}

function at(value: Json, pointer: string): Json | undefined {
  let here: Json | undefined = value;
  for (const token of pointer.split('/').slice(1)) {
    if (typeof here !== 'object' || here === null) return undefined;
    here = ownMember(here as JsonObject, pointedName(token));
  }
  return here;
}

interface Places {
  readonly invalid: ReadonlySet<string>;
  /** Of the places of `invalid`, all that are around them. */
  readonly around: ReadonlySet<string>;
}

function placesOf(invalid: readonly string[]): Places {
  const around = new Set<string>();
  for (const path of invalid)
    for (let end = path.lastIndexOf('/'); end >= 0; end = path.lastIndexOf('/', end - 1)) {
      around.add(path.slice(0, end));
      if (end === 0) break;
    }
  return { invalid: new Set(invalid), around };
}

function without(value: Json, invalid: Places, path: string): Json | undefined {
  if (path !== '' && invalid.invalid.has(path)) return undefined;
  if (!invalid.around.has(path) || typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.flatMap((item, index) => without(item, invalid, `${path}/${index}`) ?? []);
  const entries = Object.entries(value).flatMap(([key, member]): [string, Json][] => {
    const kept = without(member, invalid, memberPointer(path, key));
    return kept === undefined ? [] : [[key, kept]];
  });
  return Object.fromEntries(entries);
}
