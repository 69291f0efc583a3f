/** The part of an OpenAPI document that the client is generated from. */
export interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly { readonly name: string; readonly required?: boolean }[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}

interface Media {
  readonly schema?: { readonly $ref?: string };
}

interface Schema {
  readonly properties?: Readonly<Record<string, { readonly const?: string }>>;
}

const JSON_TYPE = 'application/json';
const BODIES: readonly string[] = [JSON_TYPE, 'multipart/form-data'];

/** Calls that take and answer data; pages for people, metrics and the bytes of an upload are left out. */
export const isServed = ({ requestBody, responses }: Operation): boolean => {
  const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  // What only leads a browser elsewhere answers nothing.
  if (answers.length === 0) return false;
  const isData = answers.every(([, { content = {} }]) =>
    Object.keys(content).every((type) => type === JSON_TYPE),
  );
  return isData && Object.keys(requestBody?.content ?? {}).every((type) => BODIES.includes(type));
};

/** Calls that take `limit` and `offset` and answer with `items`. */
export const isListed = ({ components }: Described, { parameters = [], responses }: Operation): boolean => {
  const names = parameters.map(({ name }) => name);
  const ref = responses['200']?.content?.[JSON_TYPE]?.schema?.$ref ?? '';
  const answer = components.schemas[ref.slice(ref.lastIndexOf('/') + 1)];
  const isPaged = ['items', 'total'].every((member) => answer?.properties?.[member] !== undefined);
  return isPaged && names.includes('limit') && names.includes('offset');
};
