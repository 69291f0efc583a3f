import type { Json } from '../kernel/json.ts';

/**
 * Every way in which a value is found, in a word that answers tell as `by`, with a sentence for people. A new way is
 * one more entry, which the table of its kind names: `extraction/singles/offers.ts`, `extraction/byLexicon.ts`,
 * `extraction/lists/listedRows.ts`. Names are never changed: results that are kept have them.
 */
export const GENERATORS = {
  labels: 'A label names it: before a colon, in the cell beside it, to its left or above it.',
  mentions: 'Words right before or behind it name it, in a short text or a sentence.',
  boxes: 'A ticked box says it.',
  head: 'It stands in the head of the document.',
  letter: 'It is a part of a letter: the recipient, or the signature.',
  ranges: 'It is an end of a range, of dates or numbers.',
  form: 'Its form alone shows what it is, such as that of an IBAN or a DOI.',
  contacts: 'It says how to reach the person at the head of a CV, or who that is.',
  passages: 'It is the paragraph that its own heading opens.',
  stamps: 'It is the date of a stamp.',
  sums: 'It is one of the totals, which are chosen together so that they add up.',
  clauses: 'A sentence of a contract says it.',
  parties: 'It is a party of the trade: the seller or the buyer.',
  addresses: 'It is a part of an address.',
  concepts: 'A label that is known for this concept names it, in one of nine languages.',
  mail: 'The header of a message says it.',
  codes: 'A code on the page says it: a payment code, or the lines for machines of a passport or card.',
  embedded_xml: 'The invoice that lies in the PDF as data (Factur-X, ZUGFeRD, XRechnung) says it.',
  byline: 'It stands below the title of a paper: authors and institutions.',
  reader: 'The scorer, which weighs all that stands on the pages, liked it best.',
  computed: 'It was worked out of the rows of a table, as its description says.',
  examples: 'Examples taught where it stands.',
  tables: 'It is a cell of a table.',
  records: 'It is a member of a record: blocks of lines that have the same labels.',
  entries: 'It is a part of a dated entry, such as those of a CV.',
  lines: 'It stands in a column of lines below a header.',
  listed: 'It is an entry of a list below or behind its label.',
  numbered: 'It is a part of a numbered paragraph.',
  programme: 'It is a part of lines of one form: times or prices beside texts.',
  called: "It stands in a line that the list's own word begins, with a letter or a number.",
  statements: 'It is an amount of a financial statement.',
  references: 'It is a part of a work that a paper cites.',
  model: 'A model told it.',
  person: 'A person decided it in a review.',
} as const satisfies Readonly<Record<string, string>>;

export type Generator = keyof typeof GENERATORS;

/** The names of `GENERATORS`. */
export const GENERATOR_NAMES = Object.keys(GENERATORS) as readonly Generator[];

/** What became of an offer, with a sentence for people. `other` is another field's pointer where one is told. */
export const OUTCOMES = {
  won: 'It is the answer.',
  lower: 'Another offer was surer.',
  same: 'It is the same value as the answer.',
  taken: 'Its judge gave what stands there to another field.',
  ticked: 'A ticked box was asked alone.',
  no_value: 'It is no value: a label, a blank, an instruction, or what another label names.',
  unnamed: 'No label says the field, and it is less sure than values without a label must be.',
  rules_first: 'The rules of trade documents go before the scorer.',
  fact_first: 'A message or a paper says all there is of the field.',
  taught: 'What examples taught goes first.',
  unfit: 'It does not fit the type of the field.',
  unsure: 'It is less sure than asked for.',
  other_shape: 'Another shape of the schema was filled better.',
  empty: 'This way found no rows.',
  too_late: 'This way was not tried: an earlier one had found rows.',
} as const satisfies Readonly<Record<string, string>>;

export type Outcome = keyof typeof OUTCOMES;

/** A value that was offered for a field, and what became of it; for a list, the number of items that a way found. */
export interface ToldOffer {
  readonly by: Generator;
  readonly value: Json;
  readonly text: string;
  /** From 1; null for a list, or where nothing was found. */
  readonly page: number | null;
  /** 0..1: how well its label says the field, or how much the scorer likes it; null where its judge has none. */
  readonly score: number | null;
  /** 0..1: the share of such values that are right; null where it was passed over before that was asked. */
  readonly confidence: number | null;
  readonly outcome: Outcome;
  /** JSON Pointer of the field that took its place. */
  readonly other?: string | undefined;
}

/** The offers for one field, the answer first. */
export interface FieldWhy {
  /** JSON Pointer into the answer. */
  readonly path: string;
  readonly offers: readonly ToldOffer[];
}
