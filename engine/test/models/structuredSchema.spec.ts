import { expect } from 'chai';
import type { JsonObject } from '../../kernel/json.ts';
import { structuredSchema } from '../../models/structuredSchema.ts';

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});
const propertyOf = (schema: JsonObject | undefined, name: string): unknown =>
  (schema?.['properties'] as JsonObject | undefined)?.[name];

describe('schemas in the words of providers', () => {
  it('of OpenAI list every property as required, and let those that may be left out be null', () => {
    const schema = object({ a: { type: 'string' }, b: { enum: ['x', 'y'] } }, { required: ['a'] });
    expect(structuredSchema(schema, 'openai')).to.deep.equal({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: ['string', 'null'], enum: ['x', 'y', null] } },
      required: ['a', 'b'],
      additionalProperties: false,
    });
  });

  it('tell in descriptions what the provider does not enforce', () => {
    const schema = object(
      { day: { type: 'string', format: 'date', title: 'Day', maxLength: 10 } },
      { required: ['day'] },
    );
    expect(propertyOf(structuredSchema(schema, 'openai'), 'day')).to.deep.equal({
      type: 'string',
      format: 'date',
      description: 'Day (maxLength: 10)',
    });
    expect(propertyOf(structuredSchema(schema, 'anthropic'), 'day')).to.deep.equal({
      type: 'string',
      description: 'Day (format: "date", maxLength: 10)',
    });
  });

  it('of Google stay open, keep what is optional, and have only texts to choose from', () => {
    const schema = object({ size: { enum: [1, 2] }, unit: { enum: ['kg', 'g'] } });
    expect(structuredSchema(schema, 'google')).to.deep.equal({
      type: 'object',
      properties: {
        size: { type: 'integer', description: '(enum: [1,2])' },
        unit: { type: 'string', enum: ['kg', 'g'] },
      },
      required: [],
    });
  });

  it('have references written out, and choices as anyOf', () => {
    const schema = object(
      {
        net: { $ref: '#/$defs/money', description: 'net' },
        id: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
      },
      { required: ['net', 'id'], $defs: { money: { type: 'number' } } },
    );
    const converted = structuredSchema(schema, 'openai');
    expect(propertyOf(converted, 'net')).to.deep.equal({ type: 'number', description: 'net' });
    expect(propertyOf(converted, 'id')).to.deep.equal({ anyOf: [{ type: 'string' }, { type: 'integer' }] });
  });

  const deep = (levels: number): JsonObject =>
    levels === 0 ? { type: 'string' } : object({ in: deep(levels - 1) });
  const many = (count: number): JsonObject =>
    object(Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, { type: 'string' }])));
  const beyond: readonly (readonly [string, JsonObject])[] = [
    [
      'recursion',
      object(
        { child: { $ref: '#/$defs/node' } },
        { $defs: { node: object({ child: { $ref: '#/$defs/node' } }) } },
      ),
    ],
    ['recursion of the root', object({ child: { $ref: '#' } })],
    ['a reference to nothing', object({ a: { $ref: '#/$defs/none' } })],
    ['an open map', object({ a: { type: 'object', additionalProperties: { type: 'string' } } })],
    ['a tuple', object({ a: { type: 'array', prefixItems: [{ type: 'string' }] } })],
    ['a list of anything', object({ a: { type: 'array' } })],
    ['a choice at the root', { oneOf: [object({ a: { type: 'string' } })] }],
    ['a property of no kind', object({ a: {} })],
    ['too deep', deep(11)],
    ['too wide', many(5_001)],
  ];
  for (const [name, schema] of beyond)
    it(`are none for ${name}`, () => expect(structuredSchema(schema, 'openai')).to.equal(undefined));

  it('of Anthropic are none beyond 24 properties that may be left out', () => {
    expect(structuredSchema(many(24), 'anthropic')).not.to.equal(undefined);
    expect(structuredSchema(many(25), 'anthropic')).to.equal(undefined);
    expect(structuredSchema(many(25), 'openai')).not.to.equal(undefined);
  });
});
