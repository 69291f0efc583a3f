import { once } from '../../kernel/once.ts';
import type { Called, Field, SchemaNode } from '../fields/fields.ts';

export type Members = ReadonlyMap<string, SchemaNode>;

/** What a list of rows asks for: its members as one flat row, those of the lists in its rows among them. */
export interface Listed {
  readonly fields: readonly Field[];
  readonly called: Called;
  /** Members of rows that hold rows themselves: one value serves many of the rows that are read. */
  readonly outer: ReadonlySet<Field>;
}

/** Parts the pointer of a list in a row from the pointers of its members. */
const INNER = '/*';

/** What begins the pointers of the members of a list in a row. */
export const innerPrefix = (prefix: string, pointer: string): string => `${prefix}${pointer}${INNER}`;

/** The list that the rows of a list hold; of several, the first. */
export function innerOf(members: Members): Extract<SchemaNode, { readonly kind: 'rows' }> | undefined {
  for (const node of flat(members.values())) {
    if (node.kind === 'rows') return node;
    const within = node.kind === 'object' ? innerOf(node.members) : undefined;
    if (within !== undefined) return within;
  }
  return undefined;
}

/** Nodes, and instead of each that may be several shapes all of these. */
const flat = (nodes: Iterable<SchemaNode>): readonly SchemaNode[] =>
  [...nodes].flatMap((node) => (node.kind === 'ways' ? flat(node.ways) : [node]));

/** The members of a list's rows as they are looked for, each under a pointer of its own. */
export function listed(members: Members, called: Called): Listed {
  const { below, ...row } = rowOf(members);
  if (below === undefined) return { ...row, called };
  const phrases = [...called.phrases, ...below.phrases];
  return { ...row, called: { phrases, description: `${called.description} ${below.description}`.trim() } };
}

interface Row extends Omit<Listed, 'called'> {
  /** How the list in it is called. */
  readonly below: Called | undefined;
}

/** Lists whose rows have the same members ask for the very same fields: what is known of these serves them all. */
const rowOf: (members: Members) => Row = once((members) => {
  const own = fieldsIn(members);
  const inner = innerOf(members);
  if (inner === undefined) return { fields: own, outer: new Set<Field>(), below: undefined };
  const below = listed(inner.columns, inner.called);
  const moved = new Map(below.fields.map((field) => [field, under(field, innerPrefix('', inner.pointer))]));
  return {
    fields: [...own, ...moved.values()],
    outer: new Set([...own, ...[...below.outer].flatMap((field) => moved.get(field) ?? [])]),
    below: below.called,
  };
});

const under = (field: Field, prefix: string): Field => ({ ...field, pointer: prefix + field.pointer });

/** The leaves of a row that are no rows themselves; a list of texts is one of them. */
const fieldsIn = (members: Members): readonly Field[] => {
  const all = flat(members.values()).flatMap((node) => {
    if (node.kind === 'object') return fieldsIn(node.members);
    return node.kind === 'leaf' || node.kind === 'list' ? [node.field] : [];
  });
  const places = new Map(all.map((field) => [field.pointer, field]));
  return all.filter((field) => places.get(field.pointer) === field);
};
