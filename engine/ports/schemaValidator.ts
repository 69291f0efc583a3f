import type { JsonObject } from '../kernel/json.ts';
import type { ParseRequest } from './documentParser.ts';
import type { ValidationError } from './extractionEngine.ts';

/** `unavailable`: the work did not end in time or was given up; says nothing about the schema. */
export type SchemaCheck =
  | { readonly kind: 'ok' }
  | { readonly kind: 'invalid_schema'; readonly detail: string }
  | { readonly kind: 'unavailable'; readonly detail: string };

export type Validation =
  | {
      readonly kind: 'ok';
      /** The value without the members that do not fit. */
      readonly value: JsonObject;
      readonly errors: readonly ValidationError[];
    }
  | Exclude<SchemaCheck, { readonly kind: 'ok' }>;

/** Whose work it is, as in `ParseRequest`: the process that keeps the request's file open checks its schema too. */
export type SchemaCaller = Pick<ParseRequest, 'signal' | 'share' | 'kept'>;

/** Checks schemas that callers supply, isolated: a hostile pattern costs only its own request. */
export interface SchemaValidator {
  /** The rules of the interface (`engine/extraction/schema/schemaRules.ts`), then a full compilation. */
  check(schema: unknown, by: SchemaCaller): Promise<SchemaCheck>;
  validate(schema: JsonObject, value: JsonObject, by: SchemaCaller): Promise<Validation>;
}
