import { flatFields, type Kind } from './fields.ts';
import { merged } from '../../document/beside.ts';
import type { SchemaPart } from '../../document/values.ts';

/** One line of several schemas side by side: what each says of a field. */
export interface FieldLine {
  readonly path: string;
  /** By schema: its kind, `json` where only JSON can say it, undefined where the schema lacks it. */
  readonly kinds: readonly (Kind | 'json' | undefined)[];
  readonly isSame: boolean;
}

/** The fields of schemas side by side. */
export const fieldsBeside = (schemas: readonly SchemaPart[]): readonly FieldLine[] => {
  const maps = schemas.map(
    (schema) => new Map(flatFields(schema).map(({ path, kind }) => [path, kind ?? ('json' as const)])),
  );
  return merged(maps.map((map) => [...map.keys()])).map((path) => {
    const kinds = maps.map((map) => map.get(path));
    return { path, kinds, isSame: kinds.every((kind) => kind === kinds[0]) };
  });
};
