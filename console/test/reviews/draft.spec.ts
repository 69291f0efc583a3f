import { expect } from 'chai';
import fc from 'fast-check';
import type { Citation } from '@quire/client';
import type { SchemaPart } from '../../src/document/values.ts';
import {
  decisionIn,
  draftFrom,
  draftText,
  isByPerson,
  newRow,
  nothingAt,
  rowOf,
  stepped,
  typedValue,
  valueAt,
  type Draft,
  type Step,
} from '../../src/pages/reviews/draft.ts';

const SCHEMA: SchemaPart = {
  type: 'object',
  properties: {
    number: { type: 'string' },
    day: { type: 'string', format: 'date' },
    total: { type: 'number' },
    paid: { type: 'boolean' },
    code: { type: ['string', 'null'] },
    'a/b': { type: 'string' },
    items: {
      type: 'array',
      items: { type: 'object', properties: { name: { type: 'string' }, amount: { type: 'number' } } },
    },
    names: { type: 'array', items: { type: 'string' } },
  },
  required: ['number'],
};

const cited = (path: string): Citation => ({ path }) as Citation;

const draftWith = (result: Draft['result'], doubts: readonly string[] = []): Draft => ({
  result,
  citations: [],
  doubts: doubts.map((path) => ({ code: 'below', path })),
  accepted: new Set<string>(),
  at: undefined,
  before: undefined,
});

const after = (draft: Draft, ...steps: readonly Step[]): Draft =>
  steps.reduce((one, step) => stepped(one, step), draft);

const ITEMS = [
  { name: 'Mount', amount: 1 },
  { name: 'polished', amount: 2 },
  { name: 'Atlas', amount: 3 },
];

describe('the draft of a decision', () => {
  it('is sent without a needed value that the document does not say, which is named as absent', () => {
    const nothing = (path: string): Step => ({ kind: 'set', path, value: nothingAt(SCHEMA, path) });
    const read = draftWith({ number: 'A', code: 'C', total: 1 });
    const draft = after(read, nothing('/number'), nothing('/code'), nothing('/total'));
    expect(decisionIn(draft, SCHEMA)).to.deep.equal({ result: { code: null }, absent: ['/number'] });
    const said = after(draft, { kind: 'set', path: '/number', value: 'B' });
    expect(decisionIn(said, SCHEMA)).to.deep.equal({ result: { number: 'B', code: null }, absent: [] });
    expect(
      decisionIn(after(draftWith({}), { kind: 'accept', path: '/number' }), SCHEMA).absent,
    ).to.deep.equal([]);
  });

  it('takes a value, and what was set is accepted with it', () => {
    const draft = after(draftWith({ number: 'A' }, ['/number']), {
      kind: 'set',
      path: '/number',
      value: 'B',
    });
    expect(draft.result).to.deep.equal({ number: 'B' });
    expect([...draft.accepted]).to.deep.equal(['/number']);
    expect(draft.at).to.equal('/number');
  });

  it('loses place and confidence of a value that a person replaces, and keeps those of one that stays', () => {
    const read = { ...draftWith({ number: 'A', total: 1 }), citations: [cited('/number'), cited('/total')] };
    const same = after(read, { kind: 'set', path: '/number', value: 'A' });
    expect(same.citations).to.deep.equal(read.citations);
    expect([...same.accepted], 'it was looked at').to.deep.equal(['/number']);
    const other = after(read, { kind: 'set', path: '/number', value: 'B' });
    expect(other.citations.map((one) => [one.path, isByPerson(one)])).to.deep.equal([
      ['/total', false],
      ['/number', true],
    ]);
    expect(after(other, { kind: 'undo' }).citations).to.deep.equal(read.citations);
  });

  it('has a joined row by a person where its values changed', () => {
    const citations = ITEMS.flatMap((_, at) => [
      cited(`/items/${String(at)}/name`),
      cited(`/items/${String(at)}/amount`),
    ]);
    const joined = after(
      { ...draftWith({ items: ITEMS }), citations },
      { kind: 'join', list: '/items', at: 1 },
    );
    expect(joined.citations.map((one) => [one.path, isByPerson(one)])).to.deep.equal([
      ['/items/0/name', true],
      ['/items/0/amount', false],
      ['/items/1/name', false],
      ['/items/1/amount', false],
    ]);
  });

  it('makes what is missing on the way, and takes out what is nothing', () => {
    const made = after(draftWith({}), { kind: 'set', path: '/seller/name', value: 'L' });
    expect(made.result).to.deep.equal({ seller: { name: 'L' } });
    const gone = after(made, { kind: 'set', path: '/seller/name', value: undefined });
    expect(gone.result).to.deep.equal({ seller: {} });
    const inList = after(draftWith({ names: ['a', 'b'] }), {
      kind: 'set',
      path: '/names/0',
      value: undefined,
    });
    expect(inList.result).to.deep.equal({ names: [null, 'b'] });
  });

  it('finds members by names that a path escapes', () => {
    const draft = after(draftWith({}), { kind: 'set', path: '/a~1b', value: 'x' });
    expect(draft.result).to.deep.equal({ 'a/b': 'x' });
    expect(valueAt(draft.result, '/a~1b')).to.equal('x');
  });

  it('joins two documents of a stack to one with the pages of both, and of one class', () => {
    const documents = [
      { pages: [1, 2], class: 'Invoice' },
      { pages: [3], class: 'Lease' },
      { pages: [4], class: 'Lease' },
    ];
    const { result } = after(draftWith({ documents }), { kind: 'join', list: '/documents', at: 2 });
    expect(result).to.deep.equal({ documents: [documents[0], { pages: [3, 4], class: 'Lease' }] });
  });

  it('keeps each row with its places and doubts, when one is put between, taken out or joined', () => {
    const draft: Draft = {
      ...draftWith({ items: ITEMS }, ['/items/2/name', '/items']),
      citations: ITEMS.map((_, at) => cited(`/items/${String(at)}/name`)),
    };
    const added = after(draft, { kind: 'add', list: '/items', at: 0, value: {} });
    expect(added.result).to.deep.equal({ items: [ITEMS[0], {}, ITEMS[1], ITEMS[2]] });
    expect(added.doubts.map(({ path }) => path)).to.deep.equal(['/items/3/name', '/items']);
    const removed = after(draft, { kind: 'remove', list: '/items', at: 0 });
    expect(removed.result).to.deep.equal({ items: [ITEMS[1], ITEMS[2]] });
    expect(removed.citations.map(({ path }) => path)).to.deep.equal(['/items/0/name', '/items/1/name']);
    const joined = after(draft, { kind: 'join', list: '/items', at: 1 });
    expect(joined.result).to.deep.equal({ items: [{ name: 'Mount polished', amount: 1 }, ITEMS[2]] });
    expect(joined.doubts.map(({ path }) => path)).to.deep.equal(['/items/1/name', '/items']);
    expect(after(draft, { kind: 'join', list: '/items', at: 0 }), 'nothing is above it').to.equal(draft);
  });

  it('begins a list that is not there', () => {
    const draft = after(draftWith({}), { kind: 'add', list: '/items', at: -1, value: {} });
    expect(draft.result).to.deep.equal({ items: [{}] });
  });

  const path = fc.constantFrom('/number', '/total', '/items/0/name', '/items/1/amount');
  const at = fc.integer({ min: 0, max: 2 });
  const list = fc.constant('/items');
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), path, value: fc.string() }),
    fc.record({ kind: fc.constant('accept' as const), path }),
    fc.record({ kind: fc.constant('add' as const), list, at, value: fc.constant({}) }),
    fc.record({ kind: fc.constantFrom('remove' as const, 'join' as const), list, at }),
  );

  it('goes back step by step to where it began, and changes nothing that it was given', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const begun = draftWith({ number: 'A', items: ITEMS }, ['/items/1/name']);
        const before = structuredClone(begun.result);
        let draft = after(begun, ...steps);
        while (draft.before !== undefined) draft = after(draft, { kind: 'undo' });
        expect(draft).to.equal(begun);
        expect(after(draft, { kind: 'undo' })).to.equal(begun);
        expect(begun.result).to.deep.equal(before);
      }),
    );
  });

  it('adds a row and takes it out again as if nothing had been', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), at, (steps, row) => {
        const draft = after(draftWith({ items: ITEMS }, ['/items/2/name']), ...steps);
        const rows = valueAt(draft.result, '/items') as readonly unknown[];
        fc.pre(row < rows.length);
        const again = after(
          draft,
          { kind: 'add', list: '/items', at: row, value: {} },
          { kind: 'remove', list: '/items', at: row + 1 },
        );
        expect(again.result).to.deep.equal(draft.result);
        expect(again.doubts).to.deep.equal(draft.doubts);
        expect(again.accepted).to.deep.equal(draft.accepted);
      }),
    );
  });

  it('is read back from its text, and goes back to what was read', () => {
    const begun = draftWith({ number: 'A' }, ['/number']);
    const draft = after(begun, { kind: 'set', path: '/number', value: 'B' });
    const kept = draftFrom(draftText(draft), begun);
    expect(kept).to.deep.equal({ ...draft, at: undefined, before: begun });
    expect(after(kept, { kind: 'undo' })).to.equal(begun);
  });
});

describe('what a person writes', () => {
  const NUMBERS: readonly (readonly [string, unknown])[] = [
    ['757.20', 757.2],
    ['1.234,50', 1234.5],
    ['1,234.50 EUR', 1234.5],
    ['1,234', 1234],
    ['12,5', 12.5],
    ['1.234', 1.234],
    ['1,234,567', 1_234_567],
    ['1.234.567', 1_234_567],
    ['-5', -5],
    ['about five', 'about five'],
  ];
  for (const [text, number] of NUMBERS)
    it(`is ${String(number)} where "${text}" stands for a number`, () =>
      expect(typedValue(SCHEMA, '/total', text)).to.equal(number));

  const DAYS: readonly (readonly [string, string])[] = [
    ['2031-03-17', '2031-03-17'],
    ['17.3.2031', '2031-03-17'],
    ['17 March 2031', '2031-03-17'],
    ['March 17, 2031', '2031-03-17'],
    ['03/04/2031', '03/04/2031'],
    ['Order 12', 'Order 12'],
  ];
  for (const [text, day] of DAYS)
    it(`is ${day} where "${text}" stands for a day`, () =>
      expect(typedValue(SCHEMA, '/day', text)).to.equal(day));

  it('is true or false, or a text, as the schema has it', () => {
    expect(typedValue(SCHEMA, '/paid', 'True')).to.equal(true);
    expect(typedValue(SCHEMA, '/paid', 'partly')).to.equal('partly');
    expect(typedValue(SCHEMA, '/number', '12')).to.equal('12');
    expect(typedValue(SCHEMA, '/items/4/amount', '1.50')).to.equal(1.5);
  });

  it('is nothing as the schema says it: null where it may be, else not there; what is needed is refused', () => {
    expect(nothingAt(SCHEMA, '/code')).to.equal(null);
    expect(nothingAt(SCHEMA, '/total')).to.equal(undefined);
    expect(nothingAt(SCHEMA, '/number')).to.equal(null);
  });

  it('belongs to a row of a list, or to a list that has none', () => {
    const on = { result: { items: ITEMS }, schema: SCHEMA };
    expect(rowOf(on, '/items/1/name')).to.deep.equal({ list: '/items', at: 1 });
    expect(rowOf({ ...on, result: {} }, '/items')).to.deep.equal({ list: '/items', at: -1 });
    expect(rowOf(on, '/number')).to.equal(undefined);
    expect(newRow(SCHEMA, '/items')).to.deep.equal({});
    expect(newRow(SCHEMA, '/names')).to.equal(null);
  });
});
