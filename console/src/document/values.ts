import type { Citation, OutputValidationError } from '@quire/client';

/** A part of a JSON Schema as the console reads it. */
export interface SchemaPart {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, SchemaPart>>;
  readonly items?: SchemaPart;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
}

/** Where a value stands; what a model told and stands nowhere has none. */
export type Placed = Citation & { readonly page: number };

/** One line of the tree of values. */
export interface ValueRow {
  /** JSON Pointer into the result. */
  readonly path: string;
  readonly name: string;
  readonly depth: number;
  /** undefined: a group; null: the document does not say it. */
  readonly value: string | null | undefined;
  readonly citation: Placed | undefined;
  readonly errors: readonly string[];
}

interface Known {
  readonly citations: ReadonlyMap<string, Placed>;
  readonly errors: ReadonlyMap<string, readonly string[]>;
}

/** More are not drawn: a list of that length is for a program. */
const ROWS_MAX = 2_000;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string | null => {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** A name as a part of a JSON Pointer. */
export const pointerPart = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

interface At {
  readonly path: string;
  readonly name: string;
  readonly depth: number;
}

const membersOf = (
  value: unknown,
  part: SchemaPart | undefined,
): readonly (readonly [string, SchemaPart | undefined])[] => {
  if (Array.isArray(value)) return value.map((_, at) => [String(at), part?.items] as const);
  const own = isObject(value) ? Object.keys(value) : [];
  const asked = part?.properties ?? {};
  return [...new Set([...Object.keys(asked), ...own])].map(
    (name) => [name, Object.hasOwn(asked, name) ? asked[name] : undefined] as const,
  );
};

const isGroup = (value: unknown, part: SchemaPart | undefined): boolean =>
  (Array.isArray(value) && value.length > 0) ||
  isObject(value) ||
  (value === undefined && part?.properties !== undefined);

const memberAt = (value: unknown, name: string): unknown => {
  if (Array.isArray(value)) return value[Number(name)] as unknown;
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
};

const addRows = (rows: ValueRow[], known: Known, { value, part, at }: Walked): void => {
  if (rows.length >= ROWS_MAX) return;
  const group = isGroup(value, part);
  if (at.depth >= 0)
    rows.push({
      ...at,
      value: group ? undefined : textOf(value),
      citation: known.citations.get(at.path),
      errors: known.errors.get(at.path) ?? [],
    });
  if (!group) return;
  for (const [name, inner] of membersOf(value, part))
    addRows(rows, known, {
      value: memberAt(value, name),
      part: inner,
      at: {
        path: `${at.path}/${pointerPart(name)}`,
        name: Array.isArray(value) ? `${at.name} ${String(Number(name) + 1)}` : name,
        depth: at.depth + 1,
      },
    });
};

interface Walked {
  readonly value: unknown;
  readonly part: SchemaPart | undefined;
  readonly at: At;
}

/** The values of a result in the order of its schema, absent ones too, each with where it stands and its faults. */
export const valueRows = (
  result: unknown,
  schema: SchemaPart | undefined,
  given: {
    readonly citations: readonly Citation[];
    readonly errors: readonly OutputValidationError[] | null;
  },
): readonly ValueRow[] => {
  const errors = new Map<string, string[]>();
  for (const { path, message } of given.errors ?? [])
    errors.set(path, [...(errors.get(path) ?? []), message]);
  const placed = given.citations.filter((one): one is Placed => one.page !== null);
  const known: Known = { citations: new Map(placed.map((one) => [one.path, one])), errors };
  const rows: ValueRow[] = [];
  addRows(rows, known, { value: result, part: schema, at: { path: '', name: '', depth: -1 } });
  return rows;
};

/** A schema in the making: why it cannot be sent, or what it says. */
export const readSchema = (text: string): { readonly schema?: SchemaPart; readonly fault?: string } => {
  try {
    const schema: unknown = JSON.parse(text);
    if (!isObject(schema)) return { fault: 'A schema is a JSON object.' };
    if (schema['type'] !== 'object' || !isObject(schema['properties']))
      return { fault: 'A schema needs "type": "object" and "properties".' };
    return { schema };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : 'This is not JSON.' };
  }
};

/** The result with what a person corrected: what the document says, as an example to learn from. */
export const corrected = (
  result: Readonly<Record<string, unknown>>,
  corrections: ReadonlyMap<string, string>,
): Readonly<Record<string, unknown>> => {
  const copy = structuredClone(result) as Record<string, unknown>;
  for (const [path, text] of corrections) {
    const names = path
      .slice(1)
      .split('/')
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = names.pop() ?? '';
    let place: unknown = copy;
    for (const name of names) place = memberAt(place, name);
    if (typeof place !== 'object' || place === null) continue;
    const old = memberAt(place, last);
    const number = Number(text);
    const value = typeof old === 'number' && !Number.isNaN(number) ? number : text;
    Object.defineProperty(place, last, { value, enumerable: true, writable: true, configurable: true });
  }
  return copy;
};

/** Rows as they are shown: a value that a person gave has neither the place nor the confidence of the one before. */
export const withoutOldPlaces = (
  rows: readonly ValueRow[],
  corrections: ReadonlyMap<string, string>,
): readonly ValueRow[] =>
  corrections.size === 0
    ? rows
    : rows.map((row) => (corrections.has(row.path) ? { ...row, citation: undefined } : row));

/** One object of a list. */
export interface TableLine {
  readonly path: string;
  readonly cells: ReadonlyMap<string, ValueRow>;
  readonly errors: readonly string[];
}

/** A list of objects whose members are plain: line items, transactions. */
export interface ValueTable {
  readonly row: ValueRow;
  readonly columns: readonly string[];
  /** Those whose values are all numbers stand at the right. */
  readonly numbers: ReadonlySet<string>;
  readonly lines: readonly TableLine[];
}

/** What is drawn one below the other. */
export type Part =
  | { readonly kind: 'row'; readonly row: ValueRow }
  | { readonly kind: 'table'; readonly table: ValueTable };

const isGroupRow = ({ value }: ValueRow): boolean => value === undefined;

/** The objects of a list with their plain members; undefined where something else is among them. */
const linesOf = (list: ValueRow, inside: readonly ValueRow[]): readonly TableLine[] | undefined => {
  const lines: { path: string; cells: Map<string, ValueRow>; errors: readonly string[] }[] = [];
  for (const row of inside) {
    if (row.depth === list.depth + 1) {
      if (!isGroupRow(row) || row.path !== `${list.path}/${String(lines.length)}`) return undefined;
      lines.push({ path: row.path, cells: new Map(), errors: row.errors });
    } else if (isGroupRow(row) || row.depth !== list.depth + 2) return undefined;
    else lines.at(-1)?.cells.set(row.name, row);
  }
  return lines.length === 0 ? undefined : lines;
};

const isNumber = ({ value }: ValueRow): boolean => value == null || /^-?\d+(?:\.\d+)?$/.test(value);

const tableOf = (row: ValueRow, inside: readonly ValueRow[]): ValueTable | undefined => {
  const lines = linesOf(row, inside);
  if (lines === undefined) return undefined;
  const columns = [...new Set(lines.flatMap(({ cells }) => [...cells.keys()]))];
  const numbers = columns.filter((name) =>
    lines.every(({ cells }) => {
      const cell = cells.get(name);
      return cell === undefined || isNumber(cell);
    }),
  );
  return columns.length === 0 ? undefined : { row, columns, numbers: new Set(numbers), lines };
};

/** Lists of objects as tables, all else line by line, in the order in which they stand. */
export const partsOf = (rows: readonly ValueRow[]): readonly Part[] => {
  const parts: Part[] = [];
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at];
    if (row === undefined) continue;
    let end = at + 1;
    // looked at only where a list begins: else each group would walk all that is below it
    if (isGroupRow(row) && rows[end]?.path === `${row.path}/0`)
      while (rows[end]?.path.startsWith(`${row.path}/`) === true) end += 1;
    const table = tableOf(row, rows.slice(at + 1, end));
    parts.push(table === undefined ? { kind: 'row', row } : { kind: 'table', table });
    if (table !== undefined) at = end - 1;
  }
  return parts;
};

const text = (description?: string): SchemaPart =>
  description === undefined ? { type: 'string' } : { type: 'string', description };
const number = (description?: string): SchemaPart => ({ ...text(description), type: 'number' });
const date = (description?: string): SchemaPart => ({ ...text(description), format: 'date' });
const list = (properties: Readonly<Record<string, SchemaPart>>): SchemaPart => ({
  type: 'array',
  items: { type: 'object', properties },
});

const TEMPLATES = {
  invoice: {
    invoice_number: text(),
    invoice_date: date(),
    due_date: date(),
    seller_name: text(),
    buyer_name: text(),
    iban: text(),
    currency: text('ISO 4217 code'),
    net_total: number('Total without VAT'),
    tax_total: number('Total VAT'),
    grand_total: number('Grand total including VAT'),
    line_items: list({ description: text(), quantity: number(), unit_price: number(), amount: number() }),
  },
  receipt: {
    merchant_name: text(),
    receipt_date: date(),
    payment_method: text(),
    currency: text('ISO 4217 code'),
    tax_total: number(),
    total: number(),
    line_items: list({ description: text(), quantity: number(), amount: number() }),
  },
  statement: {
    bank_name: text(),
    account_holder: text(),
    iban: text(),
    statement_date: date(),
    opening_balance: number(),
    closing_balance: number(),
    transactions: list({ date: date(), description: text(), amount: number() }),
  },
  contract: {
    title: text(),
    parties: { type: 'array', items: text() },
    effective_date: date(),
    end_date: date(),
    notice_period: text(),
    governing_law: text(),
  },
  cv: {
    name: text(),
    email: text(),
    phone: text(),
    experience: list({ employer: text(), position: text(), from: text(), to: text() }),
    education: list({ school: text(), degree: text(), year: text() }),
  },
  form: { name: text(), date_of_birth: date(), address: text(), email: text(), phone: text() },
} as const satisfies Readonly<Record<string, Readonly<Record<string, SchemaPart>>>>;

export type TemplateName = keyof typeof TEMPLATES;

export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as readonly TemplateName[];

/** The JSON Schema of a template, as text that can be changed. */
export const templateText = (name: TemplateName): string =>
  JSON.stringify({ type: 'object', properties: TEMPLATES[name] }, undefined, 2);

/** Whether a schema is one of the templates as it stands. */
export const isTemplate = (schema: string): boolean =>
  TEMPLATE_NAMES.some((name) => templateText(name) === schema);
