import fc from 'fast-check';
import { expect } from 'chai';
import { checkSchemaRules } from '../../extraction/schema/schemaRules.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { schemaTree } from '../../extraction/fields/fields.ts';
import { structuredSchema, type SchemaDialect } from '../../models/structuredSchema.ts';
import { BEYOND_LIMITS, HEAVY } from '../support/hostile/schemas.ts';
import { holds } from '../support/properties.ts';

const object = (properties: object): JsonObject => ({ type: 'object', properties }) as JsonObject;
const nested = (depth: number): object =>
  depth === 0 ? { type: 'string' } : object({ a: nested(depth - 1) });
const DIALECTS: readonly SchemaDialect[] = ['openai', 'openai_like', 'anthropic', 'google'];

/** Far more than any of them takes on a busy machine, and far less than one that grows without a budget. */
const WORK_MS_MAX = 2_000;

const within = (what: string, work: () => unknown): void => {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  expect((user + system) / 1000, what).to.be.below(WORK_MS_MAX);
};

describe('the budget of a schema', () => {
  for (const [name, schema] of Object.entries(BEYOND_LIMITS))
    it(`refuses ${name}, at once`, () => {
      within('the check', () => {
        expect(checkSchemaRules(schema).kind).to.equal('schema_beyond_limits');
      });
    });

  for (const [name, schema] of Object.entries(HEAVY))
    it(`admits ${name}, and translates it at once`, () => {
      within('the check', () => expect(checkSchemaRules(schema)).to.deep.equal({ kind: 'ok', schema }));
      for (const dialect of DIALECTS) within(dialect, () => structuredSchema(schema as JsonObject, dialect));
    });

  const limits: readonly (readonly [string, object, RegExp])[] = [
    ['deeper than 32 levels as sent', object({ a: nested(17) }), /^At #\/properties\/a.* deeper than 32 /],
    [
      'more than 256 kB',
      object({ a: { description: 'ä'.repeat(140_000) } }),
      /bytes of JSON; at most 262144/,
    ],
    [
      'deeper than 32 levels expanded',
      {
        ...object({ a: { $ref: '#/$defs/d0' } }),
        $defs: Object.fromEntries(
          Array.from({ length: 40 }, (_, at) => [
            `d${String(at)}`,
            at === 39 ? {} : { $ref: `#/$defs/d${String(at + 1)}` },
          ]),
        ),
      },
      /deeper than 32 levels, every \$ref/,
    ],
    [
      'itself, in itself',
      object({ child: { $ref: '#' } }),
      /^At #\/properties\/child\/\$ref the schema holds itself without a list between/,
    ],
    [
      'six thousand properties',
      object(Object.fromEntries(Array.from({ length: 6_000 }, (_, at) => [`p${String(at)}`, {}]))),
      /^At #\/properties\/p4999 the schema has more than 5000 nodes/,
    ],
  ];
  for (const [name, schema, detail] of limits)
    it(`says where and which limit: ${name}`, () => {
      expect(checkSchemaRules(schema)).to.have.property('detail').that.matches(detail);
    });

  it('admits recursion through lists, and fills it as deep as the rows of a document are', () => {
    const schema = object({
      name: { type: 'string' },
      total: { type: 'number' },
      children: { type: 'array', items: { $ref: '#' } },
    });
    expect(checkSchemaRules(schema).kind).to.equal('ok');
    const tree = schemaTree(schema);
    expect(tree?.kind === 'object' && [...tree.members.keys()]).to.deep.equal(['name', 'total']);
    for (const dialect of DIALECTS) expect(structuredSchema(schema, dialect)).to.equal(undefined);
  });

  it('counts a definition wherever it is referred to, and not where it only lies', () => {
    const wide = object(Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`p${String(at)}`, {}])));
    const referring = (times: number) => ({
      ...object(
        Object.fromEntries(
          Array.from({ length: times }, (_, at) => [`r${String(at)}`, { $ref: '#/$defs/wide' }]),
        ),
      ),
      $defs: { wide },
    });
    expect(checkSchemaRules(referring(5)).kind).to.equal('ok');
    expect(checkSchemaRules(referring(6)).kind).to.equal('schema_beyond_limits');
    expect(checkSchemaRules({ ...referring(1), $defs: { wide, other: wide } }).kind).to.equal('ok');
  });

  /** Definitions that refer to each other at random, in all the ways that there are. */
  const webs = fc.integer({ min: 1, max: 12 }).chain((count) => {
    const reference = fc.nat(count - 1).map((to) => ({ $ref: `#/$defs/d${String(to)}` }));
    const leaf = fc.constant({ type: 'string' });
    const few = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 1, maxLength: 6 });
    const part = fc.oneof(reference, leaf);
    const schema = fc.oneof(
      part,
      fc.record({ type: fc.constant('array'), items: part }),
      few(part).map((anyOf) => ({ anyOf })),
      few(part).map((allOf) => ({ allOf })),
      few(part).map((parts) => object(Object.fromEntries(parts.map((one, at) => [`p${String(at)}`, one])))),
    );
    return fc.array(schema, { minLength: count, maxLength: count }).map((all) => ({
      ...object({ a: { $ref: '#/$defs/d0' } }),
      $defs: Object.fromEntries(all.map((one, at) => [`d${String(at)}`, one])),
    }));
  });

  holds(
    'bounds what any web of references can cost: to check, to lay out, to translate',
    fc.property(webs, (schema) => {
      within('the check', () => checkSchemaRules(schema));
      if (checkSchemaRules(schema).kind !== 'ok') return;
      within('the tree', () => schemaTree(schema));
      for (const dialect of DIALECTS) within(dialect, () => structuredSchema(schema, dialect));
    }),
    0.1,
  );
});
