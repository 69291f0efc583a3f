import { pointerPart, type SchemaPart } from '../../document/values.ts';

/** What a field holds, as people choose it. */
export const KINDS = [
  'string',
  'date',
  'number',
  'integer',
  'boolean',
  'texts',
  'numbers',
  'group',
  'rows',
] as const;
export type Kind = (typeof KINDS)[number];

/** A field of an object: its name and what stands there. */
export type Entry = readonly [string, SchemaPart];

/** A type beside null is that type: absent values are left out of results anyway. */
const plainType = ({ type }: SchemaPart): string | undefined => {
  if (typeof type === 'string' || type === undefined) return type;
  const others = type.filter((one) => one !== 'null');
  return others.length === 1 ? others[0] : undefined;
};

const kindOfItems = (items: SchemaPart | undefined): Kind | undefined => {
  const kind = items === undefined ? 'string' : kindOf(items);
  if (kind === 'string') return 'texts';
  if (kind === 'number') return 'numbers';
  return kind === 'group' ? 'rows' : undefined;
};

/** undefined: what only JSON can say. */
export const kindOf = (part: SchemaPart): Kind | undefined => {
  switch (plainType(part)) {
    case 'string':
      return part.format === 'date' ? 'date' : 'string';
    case 'number':
      return 'number';
    case 'integer':
      return 'integer';
    case 'boolean':
      return 'boolean';
    case 'object':
      return part.properties === undefined ? undefined : 'group';
    case 'array':
      return kindOfItems(part.items);
    default:
      return undefined;
  }
};

/** The object whose fields a group or a list of rows has. */
export const insideOf = (part: SchemaPart): SchemaPart | undefined => {
  const kind = kindOf(part);
  if (kind === 'group') return part;
  return kind === 'rows' ? part.items : undefined;
};

/** The part with other fields inside. */
export const withInside = (part: SchemaPart, inside: SchemaPart): SchemaPart =>
  kindOf(part) === 'rows' ? { ...part, items: inside } : inside;

const FIRST: SchemaPart = { type: 'object', properties: { field_1: { type: 'string' } } };

const shapeOf = (kind: Kind, inside: SchemaPart): SchemaPart => {
  switch (kind) {
    case 'date':
      return { type: 'string', format: 'date' };
    case 'texts':
      return { type: 'array', items: { type: 'string' } };
    case 'numbers':
      return { type: 'array', items: { type: 'number' } };
    case 'group':
      return inside;
    case 'rows':
      return { type: 'array', items: inside };
    default:
      return { type: kind };
  }
};

const fieldsOnly = ({ properties = {}, required }: SchemaPart): SchemaPart => ({
  type: 'object',
  properties,
  ...(required === undefined ? {} : { required }),
});

/** The same field of another kind. Its description stays, and its fields, where both have some. */
export const withKind = (part: SchemaPart, kind: Kind): SchemaPart => {
  const inside = insideOf(part);
  const shape = shapeOf(kind, inside === undefined ? FIRST : fieldsOnly(inside));
  return part.description === undefined ? shape : { ...shape, description: part.description };
};

export const entriesOf = ({ properties = {} }: SchemaPart): readonly Entry[] => Object.entries(properties);

/** What is required of the fields that are left; undefined where the schema says nothing of it. */
const withFields = (
  schema: SchemaPart,
  entries: readonly Entry[],
  required = schema.required,
): SchemaPart => {
  const names = new Set(entries.map(([name]) => name));
  return {
    ...schema,
    properties: Object.fromEntries(entries),
    ...(required === undefined ? {} : { required: required.filter((name) => names.has(name)) }),
  };
};

/** The schema with a field in another's place; a required field stays so under its new name. */
export const changed = (schema: SchemaPart, at: number, entry: Entry): SchemaPart => {
  const entries = entriesOf(schema);
  const before = entries[at]?.[0];
  const required = schema.required?.map((name) => (name === before ? entry[0] : name));
  return withFields(schema, entries.with(at, entry), required);
};

export const removed = (schema: SchemaPart, at: number): SchemaPart =>
  withFields(schema, entriesOf(schema).toSpliced(at, 1));

/** The schema with a field so many places further down. */
export const moved = (schema: SchemaPart, at: number, by: 1 | -1): SchemaPart => {
  const entries = entriesOf(schema);
  const [one, other] = [entries[at], entries[at + by]];
  if (one === undefined || other === undefined) return schema;
  return withFields(schema, entries.with(at, other).with(at + by, one));
};

/** The schema with a field at another's place. */
export const placed = (schema: SchemaPart, from: number, to: number): SchemaPart => {
  const entries = entriesOf(schema);
  const entry = entries[from];
  if (entry === undefined || to < 0 || to >= entries.length) return schema;
  return withFields(schema, entries.toSpliced(from, 1).toSpliced(to, 0, entry));
};

export const isRequired = ({ required = [] }: SchemaPart, name: string): boolean => required.includes(name);

/** The schema with a field that has to be there, or need not. */
export const withRequired = (schema: SchemaPart, name: string, isNeeded: boolean): SchemaPart => {
  const others = (schema.required ?? []).filter((one) => one !== name);
  if (isNeeded) return { ...schema, required: [...others, name] };
  const { required: _, ...rest } = schema;
  return others.length === 0 ? rest : { ...rest, required: others };
};

/** Forms of a text that the service checks, but for days, which are a kind of their own. */
export const FORMATS = ['date-time', 'time', 'email', 'uri', 'uuid'] as const;

/** The same text of another form; '' for any. */
export const withFormat = (part: SchemaPart, format: string): SchemaPart => {
  const { format: _, ...rest } = part;
  return format === '' ? rest : { ...rest, format };
};

/** Allowed values as a line of text. */
export const allowedText = ({ enum: allowed = [] }: SchemaPart): string =>
  allowed.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join(', ');

/** The same field with allowed values, written with commas between them; none: any. */
export const withAllowed = (part: SchemaPart, text: string): SchemaPart => {
  const { enum: _, ...rest } = part;
  const texts = [...new Set(text.split(',').map((one) => one.trim()))].filter((one) => one !== '');
  if (texts.length === 0) return rest;
  const isNumeric = kindOf(part) === 'number' || kindOf(part) === 'integer';
  const values = texts.map((one) => (isNumeric && !Number.isNaN(Number(one)) ? Number(one) : one));
  return { ...rest, enum: values };
};

/** Fields of a proposal that a schema does not have. */
export const suggestionsFor = (schema: SchemaPart, proposal: SchemaPart): readonly Entry[] => {
  const names = new Set(entriesOf(schema).map(([name]) => name));
  return entriesOf(proposal).filter(([name]) => !names.has(name));
};

/** The schema with a field at its end. */
export const withEntry = (schema: SchemaPart, entry: Entry): SchemaPart =>
  withFields(schema, [...entriesOf(schema), entry]);

/** The schema with a text at its end, under a name that is free. */
export const added = (schema: SchemaPart): SchemaPart => {
  const entries = entriesOf(schema);
  const names = new Set(entries.map(([name]) => name));
  let count = entries.length + 1;
  while (names.has(`field_${String(count)}`)) count += 1;
  return withFields(schema, [...entries, [`field_${String(count)}`, { type: 'string' }]]);
};

/** The field beside which a value stands, both as JSON Pointers; undefined: the schema has no such field. */
export const fieldOf = (schema: SchemaPart, value: string, above = ''): string | undefined => {
  for (const [name, part] of entriesOf(schema)) {
    const own = `${above}/${pointerPart(name)}`;
    if (value === own) return own;
    if (value.startsWith(`${own}/`)) return kindOf(part) === 'group' ? fieldOf(part, value, own) : own;
  }
  return undefined;
};

/** Every field with its path, `line_items.amount`, and its kind, in the order of the schema. */
export const flatFields = (
  schema: SchemaPart,
  above = '',
): readonly { readonly path: string; readonly kind: Kind | undefined }[] =>
  entriesOf(schema).flatMap(([name, part]) => {
    const path = above === '' ? name : `${above}.${name}`;
    const inside = insideOf(part);
    return [{ path, kind: kindOf(part) }, ...(inside === undefined ? [] : flatFields(inside, path))];
  });
