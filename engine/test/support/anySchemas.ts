import fc from 'fast-check';
import { markdownDocument } from '../../formats/text/markdownDocument.ts';
import { textDocument } from '../../formats/text/textDocument.ts';
import type { Document } from '../../document/document.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';

/** Names that the small documents have labels, headings and columns for, and names that every object has. */
const NAMES = [
  'order_number',
  'orderDate',
  'quantity',
  'total',
  'customer',
  'contact_email',
  'website',
  'paid',
  'room',
  'items',
  'article',
  'price',
  'skills',
  'rates_by_region',
  'starts_at',
  'notice_period',
  'kind of payment',
  'constructor',
  'toString',
  'hasOwnProperty',
  '__proto__',
  'valueOf',
  'a/b~c',
  '',
] as const;

const FORMATS = [
  'date',
  'date-time',
  'time',
  'duration',
  'email',
  'uri',
  'uuid',
  'ipv4',
  'hostname',
  'no-format-at-all',
] as const;
const CHOICES = ['bank transfer', 'bankTransfer', 'cash', 'constructor', 'A-4711', 'North', 'yes'] as const;

/** Documents of a few lines that the names above stand in, one that has none of them, and an empty one. */
export const smallDocuments = (): readonly Document[] => [
  textDocument(
    [
      'Order number: A-4711',
      'Order date: 03.04.2031',
      'Quantity: 12',
      'Total: 1,234.50 EUR',
      'Paid: yes',
      'Customer: Northwind Ltd',
      'Contact email: ada@example.org',
      'Website: www.example.org',
      'Room: B12',
      'Kind of payment: Bank transfer (SEPA)',
      'Starts at: 14:30',
      'Notice period: 3 months',
      'Constructor: Ada',
      'To string: Bob',
      'Proto: Di',
      'Value of: 99999999999999999999',
    ].join('\n'),
  ),
  markdownDocument(
    [
      '# Skills',
      '',
      'Languages: Python, Go',
      '',
      '__proto__: Make',
      '',
      '# Items',
      '',
      '| Article | Quantity | Price | constructor |',
      '|---|---|---|---|',
      '| Frog | 2 | 1.50 | x |',
      '| Toad | 3 | 2,50 | y |',
      '| Newt | many | - | z |',
      '',
      '# Rates by region',
      '',
      '| Region | Low | High |',
      '|---|---|---|',
      '| North | 10 | 20 |',
    ].join('\n'),
  ),
  markdownDocument('The quick brown fox jumps over the lazy dog.\n\n- one\n- two\n'),
  textDocument(''),
];

/** Which words of JSON Schema a generated schema has. */
export interface Wanted {
  /**
   * Only words that what a document says can keep to, whatever it is: nothing is required, nothing is limited, and
   * what must hold at once can.
   */
  readonly keepable: boolean;
}

interface Making extends Wanted {
  /** Of the words that only one draft has, those of this one. */
  readonly draft: '07' | '2020-12';
}

const name = fc.constantFrom(...NAMES);
const text = fc.constantFrom('The total of the order', 'Kind of "payment"', 'x', '');

/** Own members whatever they are called: a literal or an assignment would set the prototype. */
const own = (entries: readonly (readonly [string, Json])[]): JsonObject => Object.fromEntries(entries);

/** Some of the words beside each other, up to `most`: all of them at once would say what few of them say. */
const someOf = (
  words: Readonly<Record<string, fc.Arbitrary<Json>>>,
  most: number,
): fc.Arbitrary<JsonObject> =>
  fc
    .tuple(fc.record(words), fc.subarray(Object.keys(words), { maxLength: most }))
    .map(([all, kept]) => own(kept.map((word) => [word, all[word] ?? null] as const)));

/** Words that say nothing of a value, known or not. */
const notes: fc.Arbitrary<JsonObject> = someOf(
  {
    title: text,
    description: text,
    $comment: text,
    evaluation_config: fc.constant({ metric: ['exact'] }),
    'x-order': fc.integer(),
    deprecated: fc.boolean(),
    examples: fc.constant(['x']),
  },
  4,
);

const limits: fc.Arbitrary<JsonObject> = someOf(
  {
    minLength: fc.nat(5),
    maxLength: fc.nat(20),
    minimum: fc.integer({ min: -5, max: 50 }),
    exclusiveMaximum: fc.integer({ min: -5, max: 50 }),
    multipleOf: fc.constantFrom(1, 0.5, 3),
    pattern: fc.constantFrom('^[A-Z]', '\\d+', '^$'),
    minItems: fc.nat(3),
    uniqueItems: fc.boolean(),
    minProperties: fc.nat(2),
    not: fc.constantFrom({}, { type: 'string' }, { const: 12 }),
    if: fc.constant({ type: 'string' }),
    then: fc.constant({ minLength: 3 }),
    contains: fc.constant({ type: 'number' }),
    required: fc.uniqueArray(name, { maxLength: 3 }),
  },
  6,
);

const TYPES = ['string', 'number', 'integer', 'boolean', 'null'] as const;
const PLACES = ['$defs', 'definitions'] as const;
const SHELVED = ['constructor', 'toString', 'entry', '__proto__', 'a~b/c'] as const;

const pointerTo = fc
  .tuple(fc.constantFrom(...PLACES), fc.constantFrom(...SHELVED))
  .map(([shelf, at]) => `#/${shelf}/${at.replace(/~/g, '~0').replace(/\//g, '~1')}`);

/** Schemas of one value. */
const leaf: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ type: fc.constantFrom(...TYPES) }),
  fc.record({ type: fc.uniqueArray(fc.constantFrom(...TYPES), { minLength: 1, maxLength: 4 }) }),
  fc.record({ type: fc.constant('string'), format: fc.constantFrom(...FORMATS) }),
  fc.record({ enum: fc.uniqueArray(fc.constantFrom<Json>(...CHOICES, 12, true, null), { minLength: 1 }) }),
  fc.record({ const: fc.constantFrom<Json>(...CHOICES, 12) }),
  fc.constant({}),
);

const some = (schema: fc.Arbitrary<Json>, least = 1): fc.Arbitrary<readonly Json[]> =>
  fc.array(schema, { minLength: least, maxLength: 3 });

const properties = (schema: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> =>
  fc.uniqueArray(fc.tuple(name, schema), { selector: ([key]) => key, maxLength: 4 }).map(own);

/** Schemas around others. */
const around = (
  schema: fc.Arbitrary<Json>,
  { keepable, draft }: Making,
): readonly fc.Arbitrary<JsonObject>[] => [
  fc.record({ type: fc.constant('object'), properties: properties(schema) }),
  fc.record({
    type: fc.constant('object'),
    properties: properties(schema),
    additionalProperties: fc.constant(false),
  }),
  fc.record({ type: fc.constant('object'), additionalProperties: schema }),
  fc.record({ type: fc.constant('array'), items: schema }),
  fc.record({ anyOf: some(schema) }),
  ...(keepable
    ? [fc.record({ allOf: fc.tuple(schema, notes) })]
    : [
        fc.record({ allOf: some(schema) }),
        fc.record({ oneOf: some(schema) }),
        draft === '07'
          ? fc.record({ type: fc.constant('array'), items: some(schema) })
          : fc.record({ prefixItems: some(schema), items: fc.boolean() }),
        fc.record({ patternProperties: schema.map((one) => own([['^[a-z]', one]])) }),
        fc.record({
          type: fc.constant(['object', 'array', 'string']),
          properties: properties(schema),
          items: schema,
        }),
      ]),
];

function schemas(depth: number, wanted: Making): fc.Arbitrary<Json> {
  const beside = wanted.keepable ? [notes] : [notes, limits];
  const with_ = (schema: fc.Arbitrary<JsonObject>): fc.Arbitrary<Json> =>
    fc.tuple(...beside, schema).map((all): Json => own(all.flatMap(Object.entries<Json>)));
  const reference = fc.record({ $ref: pointerTo });
  if (depth === 0) return fc.oneof(with_(leaf), with_(reference));
  const inner = schemas(depth - 1, wanted);
  return fc.oneof(with_(leaf), with_(reference), ...around(inner, wanted).map(with_), fc.constant(true));
}

const DEPTH = 3;

/** What references lead to: it holds itself in lists alone, as the interface demands. */
const shelved: fc.Arbitrary<Json> = fc.oneof(
  leaf,
  fc.record({ type: fc.constant('object'), properties: properties(leaf) }),
  fc.record({ type: fc.constant('array'), items: fc.record({ $ref: pointerTo }) }),
  fc.record({ properties: properties(fc.record({ items: fc.record({ $ref: pointerTo }) })) }),
);

const shelf = fc
  .tuple(...SHELVED.map(() => shelved))
  .map((all) => own(all.map((schema, i) => [SHELVED[i] ?? '', schema] as const)));

function ofDraft(making: Making): fc.Arbitrary<JsonObject> {
  const below = schemas(DEPTH, making);
  const schema = fc.record({
    type: fc.constant('object'),
    properties: fc
      .uniqueArray(fc.tuple(name, below), { selector: ([key]) => key, minLength: 1, maxLength: 6 })
      .map(own),
    $defs: shelf,
    definitions: shelf,
  });
  return making.keepable ? schema : fc.tuple(limits, schema).map(([more, one]) => ({ ...more, ...one }));
}

/** Schemas as callers might send them: drafts 07 and 2020-12 mixed, with words that neither has. */
export const anySchemas = (wanted: Wanted): fc.Arbitrary<JsonObject> =>
  fc.constantFrom('07', '2020-12').chain((draft) => ofDraft({ ...wanted, draft }));
