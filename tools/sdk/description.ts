import { readFileSync } from 'node:fs';
import { XLSX_TYPE } from '../../src/exports/xlsx.ts';

/** The part of an OpenAPI document that the clients are generated from. */
export interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

/** A JSON Schema, as far as types follow from it. */
export interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
}

/** One call of the service. */
export interface Call extends Operation {
  readonly method: string;
  readonly path: string;
}

/** What the clients are generated from. */
export const DESCRIPTION = 'docs/reference/openapi.json';

/** The description as the clients are generated from it: they read lists and documents as JSON. */
export const describedIn = (text: string): Described =>
  JSON.parse(text, (name, value: unknown) => (OTHER_FORMS.includes(name) ? undefined : value)) as Described;

export const readDescription = (): Described => describedIn(readFileSync(DESCRIPTION, 'utf8'));

export const JSON_TYPE = 'application/json';
const FORM_TYPE = 'multipart/form-data';
/** Forms of what JSON says too: a table, a workbook, a printed page. */
const OTHER_FORMS: readonly string[] = ['text/csv', XLSX_TYPE, 'application/pdf'];
const BODIES: readonly string[] = [JSON_TYPE, FORM_TYPE];

/** Calls that take and answer data; pages for people, metrics and the bytes of an upload are left out. */
const isServed = ({ requestBody, responses }: Operation): boolean => {
  const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  // What only leads a browser elsewhere answers nothing.
  if (answers.length === 0) return false;
  const isData = answers.every(([, { content = {} }]) =>
    Object.keys(content).every((type) => type === JSON_TYPE),
  );
  return isData && Object.keys(requestBody?.content ?? {}).every((type) => BODIES.includes(type));
};

/** The calls that take and answer data, by name. */
export const callsOf = ({ paths }: Described): readonly Call[] =>
  Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, call]) => ({ ...call, path, method: method.toUpperCase() })),
    )
    .filter(isServed)
    .sort((a, b) => (a.operationId < b.operationId ? -1 : 1));

/** The name that a `$ref` leads to. */
export const refName = ($ref: string): string => $ref.slice($ref.lastIndexOf('/') + 1);

/** What a call that is paged answers with: the schema of its 200. */
const answerOf = ({ components }: Described, { responses }: Operation): Schema | undefined =>
  components.schemas[refName(responses['200']?.content?.[JSON_TYPE]?.schema?.$ref ?? '')];

/** Calls that take `limit` and `offset` and answer with `items`. */
export const isListed = (described: Described, call: Operation): boolean => {
  const names = (call.parameters ?? []).map(({ name }) => name);
  const answer = answerOf(described, call);
  const isPaged = ['items', 'total'].every((member) => answer?.properties?.[member] !== undefined);
  return isPaged && names.includes('limit') && names.includes('offset');
};

/** The schema of one entry of a call that `isListed`. */
export const entryOf = (described: Described, call: Operation): Schema =>
  answerOf(described, call)?.properties?.['items']?.items ?? {};

export const isForm = ({ requestBody }: Operation): boolean => requestBody?.content[FORM_TYPE] !== undefined;

export const IDEMPOTENCY_KEY = 'Idempotency-Key';

/** Whether it takes an `Idempotency-Key`, so that a repeat is not done twice. */
export const isKeyed = ({ parameters = [] }: Operation): boolean =>
  parameters.some(({ name }) => name === IDEMPOTENCY_KEY);

/** The names of the schemas that are problems (RFC 9457). */
export const problemNames = ({ components }: Described): readonly string[] =>
  Object.entries(components.schemas)
    .filter(([, { properties }]) => String(properties?.['type']?.const).startsWith('/docs/problems/'))
    .map(([name]) => name);
