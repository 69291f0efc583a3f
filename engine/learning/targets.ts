import type { Json } from '../kernel/json.ts';
import { fieldsOf, valueAt } from '../extraction/extract.ts';
import { coerced } from '../extraction/fields/coerced.ts';
import type { Field, SchemaNode } from '../extraction/fields/fields.ts';
import { compared, type Note } from './scoring/scoring.ts';
import type { Counts } from '../ports/documentTools.ts';
import { chooseLeaf, learnLeaf, optionsFor, type Following, type LeafModel } from './weights/leafModel.ts';
import { learnList, listBy, type ListModel } from './weights/listModel.ts';
import type { Prepared } from './prepared.ts';
import { learnRows, rowsBy, type RowModel } from './weights/rowModel.ts';
import type { Match } from './weights/templates.ts';

/** A part of the schema that is learned and scored by itself. */
export interface Target {
  readonly pointer: string;
  readonly node: SchemaNode;
  /** The field itself, or those of the columns. */
  readonly fields: readonly Field[];
}

/** What was learned of a target. */
export type Learned =
  | { readonly kind: 'leaf'; readonly model: LeafModel }
  | { readonly kind: 'list'; readonly model: ListModel }
  | { readonly kind: 'rows'; readonly model: RowModel };

const NOTHING: SchemaNode = { kind: 'object', members: new Map(), required: new Set() };

/** The parts of a schema, of several shapes those of the first: leaves, lists, and lists of rows. */
export function targetsOf(node: SchemaNode): readonly Target[] {
  switch (node.kind) {
    case 'object':
      return [...node.members.values()].flatMap(targetsOf);
    case 'leaf':
      return [{ pointer: node.field.pointer, node, fields: [node.field] }];
    case 'list':
      return [{ pointer: node.pointer, node, fields: [node.field] }];
    case 'rows':
      return [{ pointer: node.pointer, node, fields: [...node.columns.values()].flatMap(fieldsOf) }];
    case 'ways':
      return targetsOf(node.ways[0] ?? NOTHING);
    default:
      return [];
  }
}

/** An example with the layout that it was matched with. */
export interface Matched {
  readonly document: Prepared;
  readonly expected: Json | undefined;
  readonly match: Match;
}

/** Learns a target from examples; undefined where they teach nothing. */
export function learn(
  { node, fields: [field, ...others] }: Target,
  examples: readonly Matched[],
  seed: number,
): Learned | undefined {
  if (field === undefined) return undefined;
  switch (node.kind) {
    case 'leaf': {
      const lessons = examples.map((one) => ({ ...one, options: optionsFor(field, one.document) }));
      const model = learnLeaf(lessons, seed);
      return model && { kind: 'leaf', model };
    }
    case 'list': {
      const model = learnList(examples);
      return model && { kind: 'list', model };
    }
    case 'rows': {
      const lessons = examples.map(({ document, expected }) => ({
        source: document.reading.source,
        expected,
      }));
      const model = learnRows(node.pointer, [field, ...others], lessons);
      return model && { kind: 'rows', model };
    }
    default:
      return undefined;
  }
}

/** The value of a target by the rules alone. */
export function valueByRules({ node }: Target, document: Prepared): Json | undefined {
  if (node.kind !== 'leaf') return valueAt(node, document.reading);
  const found = document.byRules(node.field);
  return found === undefined ? undefined : coerced(node.field, found.value);
}

/** The value of a target by what was learned; of a leaf as far as it may be followed. */
export function valueByLearned(
  learned: Learned,
  { pointer, node, fields }: Target,
  { document, match, following }: Omit<Matched, 'expected'> & { readonly following: Following },
): Json | undefined {
  const { reading } = document;
  switch (learned.kind) {
    case 'leaf': {
      const [field] = fields;
      const found = field && chooseLeaf(learned.model, { field, document, match }, following);
      return found && coerced(field, found.value);
    }
    case 'list':
      return valueAt(node, reading, { list: (field) => listBy(learned.model, field) });
    case 'rows':
      return document.remembered(pointer + rowKey(learned.model), () =>
        valueAt(node, reading, { rows: (_, columns) => rowsBy(learned.model, columns, reading.source) }),
      );
  }
}

/** Rounds that learned the same of rows find the same rows. */
const rowKey = ({ headers, ends }: RowModel): string => JSON.stringify([[...headers], ends]);

/** The value at a pointer; undefined where there is none. */
export function valueIn(value: Json, pointer: string): Json | undefined {
  let at: Json | undefined = value;
  for (const name of pointer.split('/').slice(1)) {
    if (typeof at !== 'object' || at === null || Array.isArray(at)) return undefined;
    at = (at as Readonly<Record<string, Json>>)[name.replace(/~1/g, '/').replace(/~0/g, '~')];
  }
  return at;
}

/** Counts the leaves of a target. */
export const countsOf = (
  { pointer }: Target,
  pair: { readonly expected: Json | undefined; readonly got: Json | undefined },
  note: Note = () => undefined,
): Counts => compared(pair, pointer, note);
