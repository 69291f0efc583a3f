import type { JsonObject } from '../../kernel/json.ts';
import { schemasIn, shownPath, type PlacedSchema } from './schemaParts.ts';

/** The drafts of JSON Schema that schemas are read as. */
export type Draft = '2020-12' | '2019-09' | '07';

const NAMED: readonly (readonly [RegExp, Draft])[] = [
  [/2020-12/, '2020-12'],
  [/2019-09/, '2019-09'],
  [/draft-0[3467]/, '07'],
];

/**
 * By `$schema`; without one 2020-12, unless words are used that it does not have any more (`items` as a list,
 * `additionalItems`, `dependencies`). Then it is 2019-09, which has these as draft-07 has them, and the words that
 * came after draft-07 as well: none is passed over in silence. Older drafts than 07 are read as 07.
 */
export function draftOf(
  schema: JsonObject,
): { readonly kind: 'one'; readonly draft: Draft } | { readonly kind: 'mixed'; readonly detail: string } {
  const { $schema } = schema;
  const named = NAMED.find(([name]) => typeof $schema === 'string' && name.test($schema))?.[1];
  if (named !== undefined) return { kind: 'one', draft: named };
  const all = schemasIn(schema);
  if (!all.some(isOlder)) return { kind: 'one', draft: '2020-12' };
  const list = all.find(hasItemsList);
  const newer = all.find(({ schema: one }) => 'prefixItems' in one);
  if (newer === undefined) return { kind: 'one', draft: '2019-09' };
  if (list === undefined) return { kind: 'one', draft: '2020-12' };
  return {
    kind: 'mixed',
    detail:
      `The schema has "items" as a list at ${shownPath(list.path)}, as old drafts do, and "prefixItems" at ` +
      `${shownPath(newer.path)}, as 2020-12 does: use one of them, or name the draft in "$schema".`,
  };
}

const hasItemsList = ({ schema }: PlacedSchema): boolean => Array.isArray(schema['items']);

const isOlder = (placed: PlacedSchema): boolean =>
  hasItemsList(placed) || 'additionalItems' in placed.schema || 'dependencies' in placed.schema;
