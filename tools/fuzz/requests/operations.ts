/** A JSON Schema as the OpenAPI document has it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly propertyNames?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly contentMediaType?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Schema;
}

interface Described {
  readonly operationId: string;
  readonly security: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

/** What the fuzzer reads of an OpenAPI document. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** One operation of the interface. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly isPublic: boolean;
  readonly parameters: readonly Parameter[];
  /** undefined: it takes no body. */
  readonly body: { readonly mediaType: string; readonly schema: Schema } | undefined;
  /** Problem codes by status, as documented. */
  readonly codes: Readonly<Record<string, readonly string[]>>;
}

const codesIn = (description: string): readonly string[] =>
  [...description.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code ?? '');

/** Every operation that a document describes. */
export const operationsOf = ({ paths }: OpenApi): readonly Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]): Operation => {
      const [content] = Object.entries(described.requestBody?.content ?? {});
      return {
        id: described.operationId,
        method: method.toUpperCase(),
        path,
        isPublic: described.security.length === 0,
        parameters: described.parameters ?? [],
        body: content && { mediaType: content[0], schema: content[1].schema },
        codes: Object.fromEntries(
          Object.entries(described.responses).map(([status, { description }]) => [
            status,
            codesIn(description),
          ]),
        ),
      };
    }),
  );
