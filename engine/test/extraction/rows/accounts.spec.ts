import { expect } from 'chai';
import { extract } from '../../../extraction/extract.ts';
import { laidOut, type Placed } from '../../support/laidOut.ts';
import { number, text, valueOf } from '../parts/asked.ts';
import { accountPage, FORMS, type AccountForm } from './accounts.ts';

const SEEDS = 12;

const read = (form: AccountForm, seed: number): unknown => {
  const { placed, schema } = accountPage(seed, form);
  return extract(laidOut([placed]), schema).value['transactions'];
};

describe('movements of an account', () => {
  for (const form of FORMS)
    it(`are read with amounts ${form}, with their years, their whole texts and without balances`, () => {
      for (let seed = 1; seed <= SEEDS; seed += 1)
        expect(read(form, seed), `seed ${String(seed)}`).to.deep.equal(accountPage(seed, form).transactions);
    });

  it('tell which balance does not come out', () => {
    const { placed, schema } = accountPage(3, 'sides');
    const printed = placed.filter(([x, , , right]) => x === 540 && right !== undefined);
    const [, , wrong] = printed.slice(1);
    const changed = placed.map((one): Placed =>
      one === wrong ? [one[0], one[1], '9,999.99', 'right'] : one,
    );
    expect(extract(laidOut([placed]), schema).seen).to.deep.equal([]);
    const { seen } = extract(laidOut([changed]), schema);
    expect(seen.map(({ path, text: own }) => [path, own])).to.deep.include(['/transactions', '9,999.99']);
    expect(seen[0]?.expected).to.be.a('number').that.does.not.equal(9999.99);
  });

  it('are counted up from the opening to the closing balance', () => {
    const { placed, schema } = accountPage(5, 'signed');
    const amounts = placed.filter(([x, , , right]) => x === 540 && right !== undefined);
    const last = amounts.at(-1);
    const changed = placed.map((one): Placed => (one === last ? [one[0], one[1], '1.11', 'right'] : one));
    const { seen } = extract(laidOut([changed]), schema);
    expect(seen.map(({ text: own }) => own)).to.deep.equal(['1.11']);
  });

  it('have a day of the other year where a period goes over its turn', () => {
    const page: readonly Placed[] = [
      [50, 40, '28 Dec 2024 - 10 Jan 2025'],
      [50, 80, 'Date'],
      [150, 80, 'Description'],
      [540, 80, 'Amount', 'right'],
      [50, 100, '30 Dec'],
      [150, 100, 'Card purchase'],
      [540, 100, '-12.00', 'right'],
      [50, 120, '2 Jan'],
      [150, 120, 'Salary'],
      [540, 120, '900.00', 'right'],
    ];
    const properties = { date: { type: 'string', format: 'date' }, description: text, amount: number };
    const movements = { type: 'array', items: { type: 'object', properties } };
    expect(valueOf(laidOut([page]), { movements })).to.deep.equal({
      movements: [
        { date: '2024-12-30', description: 'Card purchase', amount: -12 },
        { date: '2025-01-02', description: 'Salary', amount: 900 },
      ],
    });
  });
});

describe('a list printed in columns side by side', () => {
  it('is read down one column after the other', () => {
    const rows = [
      ['1041', '120.00', '1045', '42.17'],
      ['1042', '85.50', '1046', '300.00'],
    ] as const;
    const line = (y: number, [a, b, c, d]: readonly [string, string, string, string]): readonly Placed[] => [
      [50, y, a],
      [250, y, b, 'right'],
      [320, y, c],
      [540, y, d, 'right'],
    ];
    const page = [
      ...line(80, ['Check number', 'Amount', 'Check number', 'Amount']),
      ...rows.flatMap((row, i) => line(100 + 14 * i, row)),
    ];
    const checks = {
      type: 'array',
      items: { type: 'object', properties: { check_number: text, amount: number } },
    };
    expect(valueOf(laidOut([page]), { checks })).to.deep.equal({
      checks: [
        { check_number: '1041', amount: 120 },
        { check_number: '1042', amount: 85.5 },
        { check_number: '1045', amount: 42.17 },
        { check_number: '1046', amount: 300 },
      ],
    });
  });
});
