import { expect } from 'chai';
import { extract } from '../../extraction/extract.ts';
import { withAbsence } from '../../extraction/grounding/absence.ts';
import { checkSchema, validate } from '../../extraction/schema/validation.ts';
import { textDocument } from '../../formats/text/textDocument.ts';
import { markdownDocument } from '../../formats/text/markdownDocument.ts';
import type { Document } from '../../document/document.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';

const asked = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});

/** What an answer has, once it was held against its schema: nothing that was found may be wrong. */
function answered(document: Document, schema: JsonObject): JsonObject {
  expect(checkSchema(schema)).to.deep.equal({ kind: 'ok' });
  const { value, errors } = validate(schema, withAbsence(schema, extract(document, schema).value));
  expect(errors.filter(({ keyword }) => keyword !== 'required')).to.deep.equal([]);
  return value;
}

const ORDER = textDocument(
  [
    'Order number: A-4711',
    'Quantity: 12',
    'Room: B12',
    'Kind of payment: Bank transfer (SEPA)',
    'Starts at: 14:30',
    'Notice period: 3 months',
    'Customer: Northwind Ltd',
    'Contact email: ada@example.org',
  ].join('\n'),
);

describe('a schema of any form', () => {
  it('says by references, their targets in any drawer, and by parts what its fields are', () => {
    const schema = asked(
      {
        order_number: { $ref: '#/$defs/code', description: 'The number of the order' },
        quantity: { allOf: [{ $ref: '#/definitions/count' }, { description: 'Quantity' }] },
      },
      { $defs: { code: { type: 'string' } }, definitions: { count: { type: 'integer' } } },
    );
    expect(answered(ORDER, schema)).to.deep.equal({ order_number: 'A-4711', quantity: 12 });
  });

  it('puts the members of all parts together, and a part may refer to what another one does', () => {
    const schema = asked(
      { order: { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }, { $ref: '#/$defs/a' }] } },
      {
        $defs: {
          a: { type: 'object', properties: { order_number: { type: 'string' } } },
          b: { type: 'object', properties: { order_quantity: { type: 'integer', title: 'Quantity' } } },
        },
      },
    );
    expect(answered(ORDER, schema)).to.deep.equal({ order: { order_number: 'A-4711', order_quantity: 12 } });
  });

  it('may hold itself in its lists', () => {
    const schema: JsonObject = asked(
      { parts: { type: 'array', items: { $ref: '#/$defs/part' } } },
      {
        $defs: {
          part: asked({
            name: { type: 'string' },
            parts: { type: 'array', items: { $ref: '#/$defs/part' } },
          }),
        },
      },
    );
    expect(answered(ORDER, schema)).to.deep.equal({});
  });

  const types: readonly (readonly [string, JsonObject, Json])[] = [
    ['a list with null', { type: ['null', 'integer'] }, 12],
    ['alternatives with null', { anyOf: [{ type: 'null' }, { type: 'integer' }] }, 12],
    ['the first type that what stands there has', { anyOf: [{ type: 'integer' }, { type: 'string' }] }, 12],
    ['a word that is not known beside it', { type: 'integer', evaluation: 'exact', nullable: true }, 12],
  ];
  for (const [what, schema, value] of types)
    it(`reads a value by ${what}`, () => {
      expect(answered(ORDER, asked({ quantity: schema }))).to.deep.equal({ quantity: value });
    });

  it('reads a value by the next of its types where it is none of the first', () => {
    const mixed = { oneOf: [{ type: 'number' }, { type: 'string' }, { type: 'null' }] };
    expect(answered(ORDER, asked({ room: mixed }))).to.deep.equal({ room: 'B12' });
    expect(answered(ORDER, asked({ room: { type: ['integer', 'string'] } }))).to.deep.equal({ room: 'B12' });
    expect(answered(ORDER, asked({ room: { type: 'number' } }))).to.deep.equal({});
  });

  it('takes the shape that is filled best, and what the schema gives itself beside what was found', () => {
    const schema = asked({
      party: {
        oneOf: [
          asked(
            { kind: { const: 'person' }, first_name: { type: 'string' }, birthday: { type: 'string' } },
            { required: ['kind', 'first_name'], additionalProperties: false },
          ),
          asked(
            { kind: { const: 'firm' }, customer: { type: 'string' }, contact_email: { type: 'string' } },
            { required: ['kind', 'customer'], additionalProperties: false },
          ),
        ],
      },
      other: asked({ kind: { const: 'nothing' }, passport: { type: 'string' } }, { required: ['kind'] }),
    });
    expect(answered(ORDER, schema)).to.deep.equal({
      party: { kind: 'firm', customer: 'Northwind Ltd', contact_email: 'ada@example.org' },
    });
  });

  it('says one of its choices for what is like it, and nothing that is none of them', () => {
    const kind = { enum: ['credit_card', 'bankTransfer', 'cash'] };
    expect(answered(ORDER, asked({ kind_of_payment: kind }))).to.deep.equal({
      kind_of_payment: 'bankTransfer',
    });
    expect(answered(ORDER, asked({ kind_of_payment: { enum: ['cash', 'card'] } }))).to.deep.equal({});
    expect(answered(ORDER, asked({ quantity: { enum: [10, 12, null] } }))).to.deep.equal({ quantity: 12 });
    expect(answered(ORDER, asked({ quantity: { enum: [10, 11] } }))).to.deep.equal({});
  });

  it('has formats: a value is written in them, or is none', () => {
    const schema = asked({
      starts_at: { type: 'string', format: 'time' },
      notice_period: { type: 'string', format: 'duration' },
      order_number: { type: 'string', format: 'uuid' },
    });
    expect(answered(ORDER, schema)).to.deep.equal({ starts_at: '14:30:00Z', notice_period: 'P3M' });
  });

  it('asks for members as any object has them by name', () => {
    const names = ['constructor', 'toString', 'hasOwnProperty', '__proto__'];
    const lines = ['Constructor: Ada', 'To string: Bob', 'Has own property: Cy', 'Proto: Di'];
    const text = JSON.stringify(asked(Object.fromEntries(names.map((name) => [name, { type: 'string' }]))));
    const schema = JSON.parse(text) as JsonObject;
    const value = answered(textDocument(lines.join('\n')), schema);
    expect(Object.entries(value)).to.have.deep.members([
      ['constructor', 'Ada'],
      ['toString', 'Bob'],
      ['hasOwnProperty', 'Cy'],
      ['__proto__', 'Di'],
    ]);
  });
});

const SKILLS = markdownDocument(
  [
    '# Skills',
    '',
    'Languages: Python, Go',
    '',
    'Tools: Make, Bazel',
    '',
    '# Rates by region',
    '',
    '| Region | Low | High |',
    '|---|---|---|',
    '| North | 10 | 20 |',
    '| South | 30 | 40 |',
  ].join('\n'),
);

describe('values whose members or items the schema does not name', () => {
  const texts: JsonObject = { type: 'array', items: { type: 'string' } };

  it('are a map of what stands under the heading that names it', () => {
    const map = (item: JsonObject): JsonObject =>
      asked({ skills: { type: 'object', additionalProperties: item } });
    expect(answered(SKILLS, map(texts))).to.deep.equal({
      skills: { Languages: ['Python', 'Go'], Tools: ['Make', 'Bazel'] },
    });
    expect(answered(SKILLS, map({ type: 'string' }))).to.deep.equal({
      skills: { Languages: 'Python, Go', Tools: 'Make, Bazel' },
    });
  });

  it('are a map beside a list: the one that is filled best', () => {
    const both = { anyOf: [texts, { type: 'object', additionalProperties: texts }] };
    expect(answered(SKILLS, asked({ skills: both }))).to.deep.equal({
      skills: { Languages: ['Python', 'Go'], Tools: ['Make', 'Bazel'] },
    });
  });

  it('are a map of the rows of a table by their names', () => {
    const rate = asked({ low: { type: 'number' }, high: { type: 'number' } });
    const schema = asked({ rates_by_region: { type: 'object', additionalProperties: rate } });
    expect(answered(SKILLS, schema)).to.deep.equal({
      rates_by_region: { North: { low: 10, high: 20 }, South: { low: 30, high: 40 } },
    });
  });

  it('are the rows of a table as lists in a list, each with its place', () => {
    const schema = asked({
      rates_by_region: { type: 'array', items: { type: 'array', items: { type: 'number' } } },
    });
    expect(answered(SKILLS, schema)).to.deep.equal({ rates_by_region: [[10, 20], [30, 40]] }); // prettier-ignore
    const paths = extract(SKILLS, schema).citations.map(({ path, text }) => [path, text]);
    expect(paths).to.deep.include(['/rates_by_region/1/0', '30']);
  });

  it('have in each row the shape that it fills best', () => {
    const row = (name: string, more: JsonObject): JsonObject =>
      asked(
        { region: { type: 'string' }, ...more },
        { required: ['region', name], additionalProperties: false },
      );
    const shapes = {
      anyOf: [
        row('since', { since: { type: 'string', format: 'date' } }),
        row('low', { low: { type: 'number' } }),
      ],
    };
    const schema = asked({ rates_by_region: { type: 'array', items: shapes } });
    expect(answered(SKILLS, schema)).to.deep.equal({
      rates_by_region: [
        { region: 'North', low: 10 },
        { region: 'South', low: 30 },
      ],
    });
  });
});
