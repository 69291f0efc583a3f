import { expect } from 'chai';
import type { JsonObject } from '../../../kernel/json.ts';
import { tableOf } from '../../../document/document.ts';
import { extract } from '../../../extraction/extract.ts';
import { openFlow } from '../../../formats/pieces/flow.ts';

const rowsIn = async (table: readonly (readonly string[])[], members: JsonObject) => {
  const read = await openFlow({ mimeType: 'text/html', blocks: [tableOf(table, 1)] }).read();
  if (read.kind !== 'ok') throw new Error(read.kind);
  const schema = {
    type: 'object',
    properties: { entries: { type: 'array', items: { type: 'object', properties: members } } },
  };
  const { value, citations } = extract(read.document, schema);
  return { rows: value['entries'], cited: new Map(citations.map(({ path, text }) => [path, text])) };
};

const text = { type: 'string' };
const amount = { type: 'number' };
const letter = { type: 'string', enum: ['A', 'B', 'C', 'D'] };

describe('a cell that holds two members', () => {
  it('gives a choice and the name behind it; rows without a choice are others', async () => {
    const table = [
      ['Coverage name', 'Limit of liability'],
      ['Coverage A - Dwelling', '160,000'],
      ['Coverage B - Other Structures', '3,200'],
      ['Coverage D – Loss of Use', '20,850'],
      ['Agency fee', '25'],
    ];
    const { rows, cited } = await rowsIn(table, { letter, coverage_name: text, limit_of_liability: amount });
    expect(rows).to.deep.equal([
      { letter: 'A', coverage_name: 'Dwelling', limit_of_liability: 160_000 },
      { letter: 'B', coverage_name: 'Other Structures', limit_of_liability: 3_200 },
      { letter: 'D', coverage_name: 'Loss of Use', limit_of_liability: 20_850 },
    ]);
    expect([cited.get('/entries/0/letter'), cited.get('/entries/0/coverage_name')]).to.deep.equal([
      'A',
      'Dwelling',
    ]);
  });

  const accounts = [
    ['Account', 'Balance'],
    ['1000 Cash', '10.00'],
    ['1200 Receivables', '20.00'],
    ['4000 Sales', '30.00'],
  ];

  it('gives a code and the name behind it, whichever the header names', async () => {
    const expected = [
      ['1000', 'Cash', 10],
      ['1200', 'Receivables', 20],
      ['4000', 'Sales', 30],
    ];
    const told = async (members: JsonObject, code: string, name: string) => {
      const { rows } = await rowsIn(accounts, members);
      return (rows as readonly JsonObject[]).map((row) => [row[code], row[name], row['balance']]);
    };
    const members = { account_number: text, account_name: text, balance: amount };
    expect(await told(members, 'account_number', 'account_name')).to.deep.equal(expected);
    const named = { account: text, account_code: text, balance: amount };
    expect(await told(named, 'account_code', 'account')).to.deep.equal(expected);
  });

  it('is whole where no member is left for the code, or too few cells have one', async () => {
    const { rows } = await rowsIn(accounts, { account: text, balance: amount });
    expect((rows as readonly JsonObject[]).map((row) => row['account'])).to.deep.equal([
      '1000 Cash',
      '1200 Receivables',
      '4000 Sales',
    ]);
    const few = [...accounts.slice(0, 2), ['Receivables', '20.00'], ['Sales', '30.00']];
    const one = await rowsIn(few, { account: text, account_code: text, balance: amount });
    expect((one.rows as readonly JsonObject[])[0]).to.deep.equal({ account: '1000 Cash', balance: 10 });
  });
});
