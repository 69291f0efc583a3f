import type { Block } from '../../document/document.ts';
import { concepts, type ValueKind } from '../words/concepts.ts';
import { labelMatcher, type LabelMatcher } from '../words/says.ts';
import { labelWords } from '../words/labelWords.ts';
import { colonPairs } from '../form/colons.ts';
import { isSentence } from '../form/printed.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { datesIn } from '../values/dates.ts';
import { parseNumber } from '../values/numbers.ts';
import { partsOf, type ProposedTable } from './proposedTables.ts';
import { lexicon } from '../words/lexicon.ts';

/** Types, not interfaces: what is proposed is JSON. */
type Field = {
  readonly type: 'string' | 'number';
  readonly format?: 'date';
  readonly description: string;
};

type ListField =
  | {
      readonly type: 'array';
      readonly items: { readonly type: 'object'; readonly properties: Readonly<Record<string, Field>> };
      readonly description?: string;
    }
  | { readonly type: 'array'; readonly items: { readonly type: 'string' }; readonly description: string };

/** A JSON Schema that `extract` takes. */
export type ProposedSchema = {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Field | ListField>>;
};

/** A reader who wants more names them. */
export const FIELDS_MAX = 40;
export const LISTS_MAX = 8;
/** So many are looked for: not all are found. */
const LOOKED_FOR = 80;
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

/** Sentences, addresses, days and captions are none: "1938, as amended", "Figure 3". */
const NO_LABEL = /^[^\p{L}#(]|[.!?]\s|@|:\/\/|\w\.\w{2,4}\/|(?<!\d)(?:19|20)\d\d(?!\d)|\p{Sm}|^[^(]*\)/u;
const CAPTION = /^(?:fig(?:ure|\.)?|table?|tab(?:elle|leau|la|ella|\.)|abb(?:ildung|\.)|figura)\s?\d/iu;

function isLabel(text: string, labels: LabelMatcher): boolean {
  const words = text.split(/\s+/);
  if (!/\p{L}{2}/u.test(text) || words.length > LABEL_WORDS_MAX || NO_LABEL.test(text) || CAPTION.test(text))
    return false;
  return words.length === 1 || !/^\p{Ll}/u.test(text) || labels.any(labelWords(text)) >= KNOWN;
}

/** A currency, unit or percent may stand beside a number; a code, whose letters touch its digits, is none. */
const numberIn = (text: string): string =>
  text
    .trim()
    .replace(/^(?:[A-Z]{3}\s|[$€£¥]\s?)/, '')
    .replace(/\s?(?:[A-Z]{3}|[$€£¥%])$/, '');

const MARKS = ['.', ','] as const;
/** Numbers that are longer, or begin with 0, name things: they are not counted with. */
const NAMING = /^0\d|^\d{10,}$/;
/** Digits after such labels name things too. */
const NAMED_BY: ReadonlySet<ValueKind> = new Set(['id', 'phone', 'vat_id', 'iban', 'bic', 'address']);

const isDate = (value: string): boolean =>
  datesIn(value, true).some(({ from, to }) => to - from === value.length);

/** The number of a form's line before its label: "1. Name", "I. Name". */
const NUMBERED = /^\(?(?:\d{1,2}|[IVXl])\s?[.,)]\s+(?=\p{L})/u;
const ENDS = ['from', 'to'] as const;

/** The two days that a value is: "02/07/20 - 02/13/20". */
function endsOf(value: string): readonly string[] | undefined {
  const [start, end, more] = datesIn(value.trim(), true);
  if (start === undefined || end === undefined || more !== undefined) return undefined;
  const rest = value.trim();
  const isWhole = start.from === 0 && end.to === rest.length;
  return isWhole && /^\s?(?:[-–—]|to|bis|au)\s?$/u.test(rest.slice(start.to, end.from))
    ? [start.text, end.text]
    : undefined;
}

function isNumber(value: string): boolean {
  const number = numberIn(value);
  if (NAMING.test(number) || /\p{L}/u.test(number)) return false;
  return MARKS.some((mark) => parseNumber(number, mark) !== undefined);
}

/** So well a label says something that is known. */
const KNOWN = 0.9;
const SURELY_KNOWN = 0.95;
/** Words of a known label at the end of a longer one. */
const END_WORDS_MAX = 3;
const KNOWN_WORDS_MAX = 5;

/** What a label is about: the concept that it says best. */
function conceptOf(label: string, labels: LabelMatcher): ValueKind | undefined {
  const words = labelWords(label);
  const said = concepts().find(({ id }) => labels.concept(id, words) >= SURELY_KNOWN);
  return said?.kind;
}

/** "Please pay to IBAN" is called by its end, where that is known and the whole is not. */
function calledBy(label: string, labels: LabelMatcher): string {
  if (labels.any(labelWords(label)) >= KNOWN) return label;
  const words = label.split(/\s+/);
  for (let from = Math.max(1, words.length - END_WORDS_MAX); from < words.length; from += 1) {
    const end = words.slice(from).join(' ');
    if (words.length > END_WORDS_MAX && labels.any(labelWords(end)) >= SURELY_KNOWN) return end;
  }
  return label;
}

/** The fields by what their labels say, so that none is there twice under two spellings. */
export class Properties {
  readonly #found = new Map<string, Field | ListField>();
  readonly #values = new Map<string, string[]>();
  readonly #said = new Set<string>();
  readonly #labels: LabelMatcher;

  constructor(labels: LabelMatcher) {
    this.#labels = labels;
  }

  /** The first field of a name stays: forms name what is most important first. A range is two fields. */
  add(label: string, values: readonly string[]): void {
    const shown = label
      .replace(/\s+/g, ' ')
      .replace(NUMBERED, '')
      .replace(/ ?[:：]$/, '')
      .trim();
    const description = calledBy(shown, this.#labels);
    if (!isLabel(description, this.#labels)) return;
    const ends = values.length === 1 ? endsOf(values[0] ?? '') : undefined;
    if (ends === undefined) this.#put(description, this.#fieldOf(description, values), values);
    else for (const [i, end] of ends.entries()) this.add(`${description} ${ENDS[i] ?? ''}`, [end]);
  }

  /** Where the value of a field stands, as its document has it. */
  valuesOf(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  addList(name: string, items: Properties): void {
    const properties = items.asObject() as Readonly<Record<string, Field>>;
    if (Object.keys(properties).length > 1)
      this.#put(name, { type: 'array', items: { type: 'object', properties } });
  }

  /** A list of rows with members that are known. */
  addRows(name: string, properties: Readonly<Record<string, Field>>): void {
    this.#put(name, { type: 'array', items: { type: 'object', properties }, description: name });
  }

  addTexts(name: string): void {
    this.#put(name, { type: 'array', items: { type: 'string' }, description: name });
  }

  #put(description: string, field: Field | ListField, values: readonly string[] = []): void {
    const name = nameOf(description) || `field_${String(this.#found.size + 1)}`;
    const said = labelWords(description).join(' ') || name;
    if (this.#found.has(name)) this.#values.get(name)?.push(...values);
    if (this.#found.size >= LOOKED_FOR || this.#found.has(name) || this.#said.has(said)) return;
    this.#said.add(said);
    this.#found.set(name, field);
    this.#values.set(name, [...values]);
  }

  #fieldOf(description: string, values: readonly string[]): Field {
    const given = values.map((value) => value.trim()).filter((value) => value !== '');
    const isAll = (test: (value: string) => boolean): boolean => given.length > 0 && given.every(test);
    if (isAll(isDate)) return { type: 'string', format: 'date', description };
    const names = NAMED_BY.has(conceptOf(description, this.#labels) ?? 'text');
    return { type: !names && isAll(isNumber) ? 'number' : 'string', description };
  }

  asObject(): Readonly<Record<string, Field | ListField>> {
    return Object.fromEntries(this.#found);
  }
}

/** A longer text of sentences has labels at its beginning alone. */
const PROSE_CHARACTERS = 160;

function addLines(
  text: string,
  properties: Properties,
  { labels, isTold }: Parameters<typeof addBlocks>[2],
): void {
  const lines = text.split('\n');
  const isProse = text.length > PROSE_CHARACTERS && isSentence(text);
  for (const [i, line] of lines.entries()) {
    if (isTold?.(line) === true) continue;
    const pairs = colonPairs(line).filter(({ label }) => !isProse || text.startsWith(label));
    for (const { label, from, to } of pairs) properties.add(label, [line.slice(from, to)]);
    const known = pairs.length > 0 ? undefined : knownPair(line, labels);
    if (known !== undefined) properties.add(known.label, [known.value]);
    addOpen(line, lines[i + 1], properties);
  }
}

/** A label alone on its line is that of the next. */
function addOpen(line: string, next: string | undefined, properties: Properties): void {
  if (/^[^:]+[:：]\s*$/.test(line) && next !== undefined && next !== '') properties.add(line, [next]);
}

/** A known label with a number, a date or a code behind it: "Total 757.20". */
function knownPair(line: string, labels: LabelMatcher): { label: string; value: string } | undefined {
  const words = line.trim().split(/\s+/);
  for (let at = Math.min(KNOWN_WORDS_MAX, words.length - 1); at > 0; at -= 1) {
    const [label, value] = [words.slice(0, at).join(' '), words.slice(at).join(' ')];
    const isValue = isDate(value) || isNumber(value) || /^(?=\S*\d)[\p{L}\d/.-]{3,}$/u.test(value);
    if (isValue && !/\d/.test(label) && labels.any(labelWords(label)) >= KNOWN) return { label, value };
  }
  return undefined;
}

function addTable(table: ProposedTable, properties: Properties, labels: LabelMatcher): void {
  for (const [label, value] of table.pairs) properties.add(label, [value]);
  if (table.columns.length === 0) return;
  const items = new Properties(labels);
  for (const { label, values } of table.columns) items.add(label, values);
  properties.addList(table.title, items);
}

const LEGAL_FORM = new RegExp(`\\b${lexicon.parties.legal_forms.pattern}(?![\\p{L}\\p{N}])`, 'u');
/** Blocks at the top in which a letterhead stands. */
const HEAD_BLOCKS = 3;
const HEAD_CHARACTERS_MAX = 80;

/** The name of a company in the letterhead of a document with amounts: who sells. */
function issuerIn(blocks: readonly Block[]): string | undefined {
  const heads = blocks.slice(0, HEAD_BLOCKS).flatMap((block) => (block.kind === 'table' ? [] : [block.text]));
  return heads.find(
    (text) => text.length <= HEAD_CHARACTERS_MAX && LEGAL_FORM.test(text) && !text.includes(':'),
  );
}

/** Concepts whose labels show that a document asks for money. */
const AMOUNTS = ['grand_total', 'amount_due', 'net_total'];

/**
 * Fields that a document names itself: labels before colons and known labels before values, forms of two columns, its
 * tables with a header as lists, the sums below their rows, and who is named above a letter with amounts. Types are
 * those of the values that stand there; what only names a thing is text.
 */
export const proposedSchema = (blocks: readonly Block[]): ProposedSchema => {
  const labels = labelMatcher();
  const properties = new Properties(labels);
  addBlocks(blocks, properties, { labels });
  return { type: 'object', properties: withIssuer(blocks, properties.asObject(), labels) };
};

/**
 * What the blocks of a document name: their labels with colons or known ones, and the columns of their tables; whether
 * a text is a cell of such a table.
 */
export function addBlocks(
  blocks: readonly Block[],
  properties: Properties,
  {
    labels,
    isTold,
  }: { readonly labels: LabelMatcher; readonly isTold?: ((line: string) => boolean) | undefined },
): (text: string) => boolean {
  const tables = partsOf(blocks, labels);
  for (const [i, block] of blocks.entries()) {
    const table = tables.get(block);
    if (table !== undefined) addTable(table, properties, labels);
    else if (block.kind !== 'code' && block.kind !== 'table') {
      addLines(withNext(block.text, blocks[i + 1]), properties, { labels, isTold });
    }
  }
  const records = new Set(
    [...tables].flatMap(([block, { columns }]) => (columns.length === 0 ? [] : cellsOf(block))),
  );
  return (text) => records.has(text.trim());
}

const cellsOf = (block: Block): readonly string[] =>
  block.kind === 'table' ? block.cells.map(({ text }) => text.trim()) : [];

/** Who is named above a letter with amounts sells. */
export function withIssuer(
  blocks: readonly Block[],
  found: Readonly<Record<string, Field | ListField>>,
  labels: LabelMatcher,
): Readonly<Record<string, Field | ListField>> {
  const issuer = found['seller'] === undefined && isPaid(found, labels) ? issuerIn(blocks) : undefined;
  const seller = { type: 'string', description: 'Seller' } as const;
  return issuer === undefined ? found : { seller, ...found };
}

/** Some number is called a total. */
export const isPaid = (found: Readonly<Record<string, JsonObject>>, labels: LabelMatcher): boolean =>
  Object.values(found).some(
    ({ type, description }) =>
      type === 'number' &&
      typeof description === 'string' &&
      AMOUNTS.some((id) => labels.concept(id, labelWords(description)) >= SURELY_KNOWN),
  );

/** "Bill to:" alone names what the next block says. */
const withNext = (text: string, next: Block | undefined): string =>
  /[:：]\s*$/.test(text) && next !== undefined && next.kind === 'paragraph'
    ? `${text}\n${next.text.split('\n')[0] ?? ''}`
    : text;
