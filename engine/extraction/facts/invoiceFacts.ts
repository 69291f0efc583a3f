import type { EmbeddedInvoice } from '../../document/document.ts';
import type { Json } from '../../kernel/json.ts';
import type { Field } from '../fields/fields.ts';
import type { Finding, RowFindings } from '../finding.ts';
import type { Source } from '../source.ts';
import type { Listed } from '../lists/rowMembers.ts';
import type { Fact } from './mailFacts.ts';

/** A program wrote it for programs: what it says is not read, but known. */
const CONFIDENCE = 0.99;

/** Concepts that say whose they are themselves. */
const OWN: Readonly<Record<string, string>> = {
  seller: 'seller',
  buyer: 'buyer',
  vat_id: 'seller.vat_id',
  buyer_vat_id: 'buyer.vat_id',
  tax_number: 'seller.tax_number',
};

/** Concepts that parties have, by the role that a field names. */
const OF_PARTY: ReadonlySet<string> = new Set(['vat_id', 'tax_number', 'street', 'postal_code', 'city']);

function placeOf({ concept, role }: Field): string {
  const id = concept?.id ?? '';
  if ((role === 'seller' || role === 'buyer') && OF_PARTY.has(id)) return `${role}.${id}`;
  if (id === 'company_name') return role ?? '';
  return OWN[id] ?? (OF_PARTY.has(id) ? '' : id);
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const AMOUNT = /^-?\d{1,15}(?:\.\d{1,6})?$/;

/** A value of the field's type; undefined where the text is none. */
function typedValue({ type, kind, format, choices }: Field, text: string): Json | undefined {
  if (choices.length > 0) return choices.includes(text) ? text : undefined;
  if (type === 'string') return kind === 'date' && !DAY.test(text) ? undefined : text;
  return format === undefined && AMOUNT.test(text) ? numberOf(type, Number(text)) : undefined;
}

const numberOf = (type: Field['type'], value: number): number | undefined =>
  type === 'number' || (type === 'integer' && Number.isInteger(value)) ? value : undefined;

function findingIn(field: Field, said: EmbeddedInvoice['said']): Finding | undefined {
  const place = placeOf(field);
  const text = Object.hasOwn(said, place) ? said[place] : undefined;
  const value = text === undefined ? undefined : typedValue(field, text);
  if (text === undefined || value === undefined) return undefined;
  const word = { text, box: null, confidence: 1, fontSize: null, bold: false };
  return { value, text, page: 1, words: [word], confidence: CONFIDENCE };
}

/** What the invoice in a PDF says of a field; undefined where it says nothing of it. */
export function invoiceFact(field: Field, { document: { invoice } }: Source): Fact | undefined {
  const found = invoice === undefined || field.inRow ? undefined : findingIn(field, invoice.said);
  return found && { findings: [found] };
}

/** One of these is asked for where the rows are those of goods, and not of taxes or payments. */
const OF_GOODS: ReadonlySet<string> = new Set(['description', 'quantity', 'unit_price', 'line_total']);

/** The lines of the invoice in a PDF as rows, where it says all that the rows ask for; otherwise none. */
export function invoiceRows({ fields }: Listed, { document: { invoice } }: Source): readonly RowFindings[] {
  if (invoice === undefined || !fields.some(({ concept }) => OF_GOODS.has(concept?.id ?? ''))) return [];
  const rows = invoice.rows.map((said) =>
    fields.flatMap((field): readonly (readonly [string, Finding])[] => {
      const found = findingIn(field, said);
      return found === undefined ? [] : [[field.pointer, found]];
    }),
  );
  const told = new Set(rows.flatMap((row) => row.map(([pointer]) => pointer)));
  return fields.every(({ pointer }) => told.has(pointer)) ? rows.map((row) => new Map(row)) : [];
}
