import type { Block } from '../../document/document.ts';
import { colonPairs } from '../form/colons.ts';
import { datesIn } from '../values/dates.ts';
import { parseNumber } from '../values/numbers.ts';

type Table = Extract<Block, { readonly kind: 'table' }>;

/** Types, not interfaces: what is proposed is JSON. */
type Field = {
  readonly type: 'string' | 'number';
  readonly format?: 'date';
  readonly description: string;
};

type ListField = {
  readonly type: 'array';
  readonly items: { readonly type: 'object'; readonly properties: Readonly<Record<string, Field>> };
};

/** A JSON Schema that `extract` takes. */
export type ProposedSchema = {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Field | ListField>>;
};

/** A form or register has fewer; a reader who wants more names them. */
const FIELDS_MAX = 80;
const LABEL_WORDS_MAX = 6;
const NAME_MAX = 60;

/** `Rechnungs-Nr.` → `rechnungs_nr`; a label of other letters has none. */
const nameOf = (label: string): string =>
  label
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
    .join('_')
    .slice(0, NAME_MAX);

const isLabel = (text: string): boolean =>
  /\p{L}{2}/u.test(text) && text.split(/\s+/).length <= LABEL_WORDS_MAX && !/[.!?]\s/.test(text);

/** A currency, unit or percent may stand beside a number; a code, whose letters touch its digits, is none. */
const numberIn = (text: string): string =>
  text
    .trim()
    .replace(/^(?:[A-Z]{3}\s|[$€£¥]\s?)/, '')
    .replace(/\s?(?:[A-Z]{3}|[$€£¥%])$/, '');

const MARKS = ['.', ','] as const;
/** Numbers that are longer, or begin with 0, name things: they are not counted with. */
const NAMING = /^0\d|^\d{10,}$/;

const fieldOf = (description: string, values: readonly string[]): Field => {
  const given = values.map((value) => value.trim()).filter((value) => value !== '');
  const isAll = (test: (value: string) => boolean): boolean => given.length > 0 && given.every(test);
  if (isAll((value) => datesIn(value, true).some(({ from, to }) => to - from === value.length)))
    return { type: 'string', format: 'date', description };
  const isNumber = (value: string): boolean => {
    const number = numberIn(value);
    if (NAMING.test(number) || /\p{L}/u.test(number)) return false;
    return MARKS.some((mark) => parseNumber(number, mark) !== undefined);
  };
  return { type: isAll(isNumber) ? 'number' : 'string', description };
};

class Properties {
  readonly #found = new Map<string, Field | ListField>();

  /** The first field of a name stays: forms name what is most important first. */
  add(label: string, field: (description: string) => Field | ListField): void {
    const description = label.replace(/\s+/g, ' ').trim();
    const name = nameOf(description) || `field_${String(this.#found.size + 1)}`;
    if (isLabel(description) && this.#found.size < FIELDS_MAX && !this.#found.has(name))
      this.#found.set(name, field(description));
  }

  asObject(): Readonly<Record<string, Field | ListField>> {
    return Object.fromEntries(this.#found);
  }
}

const addLines = (text: string, properties: Properties): void => {
  for (const line of text.split('\n'))
    for (const { label, from, to } of colonPairs(line))
      properties.add(label, (description) => fieldOf(description, [line.slice(from, to)]));
};

const rowsOf = ({ rows, cells }: Table): readonly (readonly string[])[] => {
  const found = Array.from({ length: rows }, (): string[] => []);
  for (const { row, column, text } of cells) (found[row] ?? [])[column] = text;
  return found;
};

/** Two columns, the first of which names what is in the second. */
const addPairs = (rows: readonly (readonly string[])[], properties: Properties): void => {
  for (const [label = '', value = ''] of rows)
    if (value !== '') properties.add(label, (description) => fieldOf(description, [value]));
};

const addRegister = (table: Table, rows: readonly (readonly string[])[], properties: Properties): void => {
  const [header = [], ...records] = rows.slice(table.headerRows - 1);
  const columns = new Properties();
  for (const [at, label] of header.entries())
    columns.add(label, (description) =>
      fieldOf(
        description,
        records.map((record) => record[at] ?? ''),
      ),
    );
  const items = {
    type: 'object' as const,
    properties: columns.asObject() as Readonly<Record<string, Field>>,
  };
  if (Object.keys(items.properties).length > 1) properties.add('Items', () => ({ type: 'array', items }));
};

const addTable = (table: Table, properties: Properties): void => {
  const rows = rowsOf(table);
  if (table.headerRows > 0) addRegister(table, rows, properties);
  else if (table.columns === 2) addPairs(rows, properties);
};

/**
 * Fields that a document names itself: labels before colons, forms of two columns, and its first table with a header
 * as a list. Types are those of the values that stand there.
 */
export const proposedSchema = (blocks: readonly Block[]): ProposedSchema => {
  const properties = new Properties();
  for (const block of blocks) {
    if (block.kind === 'table') addTable(block, properties);
    else if (block.kind !== 'code') addLines(block.text, properties);
  }
  return { type: 'object', properties: properties.asObject() };
};
