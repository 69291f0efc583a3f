import { expect } from 'chai';
import fc from 'fast-check';
import {
  added,
  allowedText,
  changed,
  entriesOf,
  fieldOf,
  flatFields,
  KINDS,
  kindOf,
  moved,
  placed,
  removed,
  suggestionsFor,
  withAllowed,
  withEntry,
  withFormat,
  withInside,
  withKind,
  withRequired,
} from '../../src/pages/playground/fields.ts';
import { TEMPLATE_NAMES, templateText, type SchemaPart } from '../../src/document/values.ts';

const template = (name: (typeof TEMPLATE_NAMES)[number]) => JSON.parse(templateText(name)) as SchemaPart;
const namesOf = (schema: SchemaPart) => entriesOf(schema).map(([name]) => name);

const SCHEMA: SchemaPart = {
  type: 'object',
  description: 'kept',
  properties: { a: { type: 'string' }, b: { type: 'number' }, c: { type: ['boolean', 'null'] } },
  required: ['b', 'a'],
};

describe('the fields of a schema', () => {
  it('stand beside the values of their own place, lists beside all that is in them', () => {
    const seller = { type: 'object', properties: { 'a/b': { type: 'string' }, name: { type: 'string' } } };
    const schema: SchemaPart = {
      type: 'object',
      properties: { seller, sell: { type: 'string' }, lines: { type: 'array', items: seller } },
    };
    const found = Object.fromEntries(
      ['/seller', '/seller/name', '/seller/a~1b', '/seller/gone', '/sell', '/lines/0/name', '/other'].map(
        (path) => [path, fieldOf(schema, path)],
      ),
    );
    expect(found).to.deep.equal({
      '/seller': '/seller',
      '/seller/name': '/seller/name',
      '/seller/a~1b': '/seller/a~1b',
      '/seller/gone': undefined,
      '/sell': '/sell',
      '/lines/0/name': '/lines',
      '/other': undefined,
    });
  });

  it('of every template are all rows: none is left to JSON', () => {
    for (const name of TEMPLATE_NAMES)
      for (const { path, kind } of flatFields(template(name)))
        expect(kind, `${name} ${path}`).to.be.a('string');
    expect(flatFields(template('receipt')).map(({ path }) => path)).to.include('line_items.amount');
  });

  it('are dragged to another place, and nowhere beyond the ends', () => {
    expect(namesOf(placed(SCHEMA, 0, 2))).to.deep.equal(['b', 'c', 'a']);
    expect(namesOf(placed(SCHEMA, 2, 0))).to.deep.equal(['c', 'a', 'b']);
    for (const to of [-1, 3]) expect(placed(SCHEMA, 0, to)).to.equal(SCHEMA);
    expect(placed(SCHEMA, 0, 2).required).to.deep.equal(['b', 'a']);
  });

  it('are required or not; the last one that is not leaves no empty list', () => {
    expect(withRequired(SCHEMA, 'c', true).required).to.deep.equal(['b', 'a', 'c']);
    const none = withRequired(withRequired(SCHEMA, 'a', false), 'b', false);
    expect(none).not.to.have.property('required');
  });

  it('have a form and allowed values, numbers as numbers', () => {
    expect(withFormat({ type: 'string' }, 'email')).to.deep.equal({ type: 'string', format: 'email' });
    expect(withFormat({ type: 'string', format: 'email' }, '')).to.deep.equal({ type: 'string' });
    expect(withAllowed({ type: 'string' }, 'EUR, USD,, EUR').enum).to.deep.equal(['EUR', 'USD']);
    expect(withAllowed({ type: 'integer' }, '1, 2').enum).to.deep.equal([1, 2]);
    expect(allowedText({ type: 'integer', enum: [1, 2] })).to.equal('1, 2');
    expect(withAllowed({ type: 'string', enum: ['a'] }, ' ')).to.deep.equal({ type: 'string' });
  });

  it('are suggested where the schema lacks them, and stand at its end once they are accepted', () => {
    const proposal: SchemaPart = {
      type: 'object',
      properties: { b: { type: 'string' }, iban: { type: 'string' } },
    };
    const [entry, ...others] = suggestionsFor(SCHEMA, proposal);
    expect([entry?.[0], others]).to.deep.equal(['iban', []]);
    expect(namesOf(withEntry(SCHEMA, entry ?? ['', {}]))).to.deep.equal(['a', 'b', 'c', 'iban']);
  });

  it('keep their order and stay required under another name', () => {
    expect(changed(SCHEMA, 1, ['net', { type: 'number' }])).to.deep.equal({
      ...SCHEMA,
      properties: { a: { type: 'string' }, net: { type: 'number' }, c: { type: ['boolean', 'null'] } },
      required: ['net', 'a'],
    });
    expect(namesOf(changed(SCHEMA, 1, ['net', {}]))).to.deep.equal(['a', 'net', 'c']);
  });

  it('that are removed are no longer required', () => {
    expect(removed(SCHEMA, 0)).to.deep.include({ required: ['b'], description: 'kept' });
  });

  it('are moved, and not beyond the ends', () => {
    expect(namesOf(moved(SCHEMA, 0, 1))).to.deep.equal(['b', 'a', 'c']);
    expect(namesOf(moved(SCHEMA, 0, -1))).to.deep.equal(['a', 'b', 'c']);
    expect(namesOf(moved(SCHEMA, 2, 1))).to.deep.equal(['a', 'b', 'c']);
  });

  it('are of each kind that can be chosen, and keep description and rows where another has some, too', () => {
    for (const kind of KINDS) {
      const part = withKind({ type: 'string', description: 'said' }, kind);
      expect(kindOf(part), kind).to.equal(kind);
      expect(part.description).to.equal('said');
    }
    const rows = withKind({ type: 'object', properties: { x: { type: 'date' } } }, 'rows');
    expect(rows).to.deep.equal({
      type: 'array',
      items: { type: 'object', properties: { x: { type: 'date' } } },
    });
    const inside: SchemaPart = { type: 'object', properties: { y: { type: 'string' } } };
    expect(withInside(rows, inside).items).to.equal(inside);
    expect(withInside(inside, SCHEMA)).to.equal(SCHEMA);
  });

  it('that only JSON can say are told as that', () => {
    expect(kindOf({ type: ['string', 'number'] })).to.equal(undefined);
    expect(kindOf({})).to.equal(undefined);
    expect(kindOf({ type: 'array', items: { type: 'array', items: {} } })).to.equal(undefined);
    expect(kindOf({ type: 'object' })).to.equal(undefined);
  });

  it('never share a name, however many are added and removed', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { maxLength: 40 }), (steps) => {
        const grown = steps.reduce<readonly [SchemaPart, number]>(
          ([schema, count], step) =>
            step > 3 && count > 0 ? [removed(schema, step % count), count - 1] : [added(schema), count + 1],
          [{ type: 'object', properties: {} }, 0],
        );
        return entriesOf(grown[0]).length === grown[1];
      }),
    );
  });
});
