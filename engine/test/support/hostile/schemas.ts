/** Schemas that are sent to do harm: small as JSON, large or endless where they are worked on. */
type Schema = Readonly<Record<string, unknown>>;

const object = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more });
const each = <T>(count: number, of: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => of(at));
const named = (count: number, of: (at: number) => unknown): Schema =>
  Object.fromEntries(each(count, (at) => [`p${String(at)}`, of(at)]));
const ref = (name: string): Schema => ({ $ref: `#/$defs/${name}` });

/** Definitions of which each has several references to the next. */
const levels = (count: number, width: number, keyword: 'anyOf' | 'allOf' | 'oneOf'): Schema => ({
  ...Object.fromEntries(
    each(count, (at) => [`l${String(at)}`, { [keyword]: each(width, () => ref(`l${String(at + 1)}`)) }]),
  ),
  [`l${String(count)}`]: { type: 'string' },
});

/** All definitions point to all of them, through arrays: every path through them is another one. */
const web = (count: number): Schema =>
  Object.fromEntries(
    each(count, (at) => [
      `n${String(at)}`,
      object(named(count, (to) => ({ type: 'array', items: ref(`n${String(to)}`) }))),
    ]),
  );

/** Beyond the limits of a schema: refused where they enter. */
export const BEYOND_LIMITS: Readonly<Record<string, Schema>> = {
  'nine definitions, each anyOf of eight references to the next': object(
    { total: ref('l0') },
    { $defs: levels(9, 8, 'anyOf') },
  ),
  'thirty definitions, each allOf of two references to the next': object(
    { total: ref('l0') },
    { $defs: levels(30, 2, 'allOf') },
  ),
  'twenty definitions, each oneOf of three references to the next': object(
    { total: ref('l0') },
    { $defs: levels(20, 3, 'oneOf') },
  ),
  'objects of ten properties, each of the next such object': object(
    { a: ref('l0') },
    {
      $defs: {
        ...Object.fromEntries(
          each(12, (at) => [`l${String(at)}`, object(named(10, () => ref(`l${String(at + 1)}`)))]),
        ),
        l12: { type: 'string' },
      },
    },
  ),
  'a thousand members that refer to the top': object(named(1_000, () => ({ $ref: '#' }))),
  'two definitions that refer to each other': object(
    { a: ref('a') },
    { $defs: { a: ref('b'), b: ref('a') } },
  ),
  'a chain of objects back to its start': object(
    { a: ref('a') },
    { $defs: { a: object({ b: ref('b') }), b: object({ c: ref('a') }) } },
  ),
  'thirty definitions that refer to each other through arrays': object({ a: ref('n0') }, { $defs: web(30) }),
  'a description of 200 kB in a definition that is referred to a thousand times': object(
    named(1_000, () => ref('d')),
    { $defs: { d: { type: 'string', description: 'x'.repeat(200_000) } } },
  ),
  'six thousand properties': object(named(6_000, () => ({ type: 'string' }))),
};

/** Within the limits, and heavy to compile, to check values against or to translate. */
export const HEAVY: Readonly<Record<string, Schema>> = {
  'a pattern of nested repetition': object({
    name: { type: 'string', pattern: '^(([a-z ])+.)+[A-Z]([a-z ])+$' },
  }),
  'property patterns of nested repetition': object(
    { name: { type: 'string' } },
    { patternProperties: { '^(a+)+$': { type: 'string' } } },
  ),
  'eight hundred members of rows that refer back': object({
    rows: { type: 'array', items: object(named(800, () => ({ type: 'array', items: { $ref: '#' } }))) },
  }),
  'four thousand values of an enumeration of 50 kB': object({
    name: { enum: each(4_000, (at) => `value number ${String(at)}`) },
  }),
  'unique items of objects': object({
    rows: { type: 'array', uniqueItems: true, items: object({ name: { type: 'string' } }) },
  }),
  'two thousand properties with titles': object(
    named(2_000, (at) => ({ type: ['string', 'null'], title: `Property ${String(at)} of the invoice` })),
  ),
};
