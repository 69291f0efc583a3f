import { expect } from 'chai';
import type { Json } from '../../../kernel/json.ts';
import { laidOut, type Placed } from '../../support/laidOut.ts';
import { number, text, valueOf } from '../parts/asked.ts';

const listOf = (description: string, properties: Record<string, Json>): Json => ({
  type: 'array',
  description,
  items: { type: 'object', properties },
});
const own = { line_item: text, amount: number };

type Line = readonly [name: string, now: string, before: string];

/** A list at a place of a page: its lines from the top, with the figures of two years. */
const side = (x: number, top: number, lines: readonly Line[]): readonly Placed[] =>
  lines.flatMap(([name, now, before], i): readonly Placed[] => {
    const y = top + 18 * i;
    const figures: readonly Placed[] = [
      [x + 200, y, now, 'right'],
      [x + 260, y, before, 'right'],
    ];
    return [
      ...(name === '' ? [] : [[x, y, name] as const]),
      ...figures.filter(([, , figure]) => figure !== ''),
    ];
  });

const ASSETS: readonly Line[] = [
  ['Buildings', '70,848', '72,016'],
  ['Equipment', '5,088', '5,983'],
  ['of which leased', '403', '81'],
  ['Receivables', '69,925', '46,244'],
  ['Cash', '2,516', '2,054'],
  ['Total assets', '148,377', '126,297'],
];
const LIABILITIES: readonly Line[] = [
  ['Issued capital', '75,000', '75,000'],
  ['Reserves', '51,677', '32,297'],
  ['Provisions', '9,221', '4,988'],
  ['Loans', '12,479', '14,012'],
  ['Total liabilities', '148,377', '126,297'],
];
const HEAD: readonly Placed[] = [
  [40, 40, 'Balance sheet at 31 December 2024'],
  [210, 70, '2024', 'right'],
  [300, 70, '2023', 'right'],
];

describe('lines of statements', () => {
  it('are rows of lists that stand side by side, without sums and what is excluded', () => {
    const page = [...HEAD, ...side(40, 90, ASSETS), ...side(420, 90, LIABILITIES)];
    const balance_sheet = listOf("each line; exclude total rows and 'of which' lines", own);
    expect(valueOf(laidOut([page], 842), { balance_sheet })).to.deep.equal({
      balance_sheet: [
        { line_item: 'Buildings', amount: 70_848 },
        { line_item: 'Equipment', amount: 5_088 },
        { line_item: 'Receivables', amount: 69_925 },
        { line_item: 'Cash', amount: 2_516 },
        { line_item: 'Issued capital', amount: 75_000 },
        { line_item: 'Reserves', amount: 51_677 },
        { line_item: 'Provisions', amount: 9_221 },
        { line_item: 'Loans', amount: 12_479 },
      ],
    });
  });

  it('have the figures of the latest year first, whatever their order on the page', () => {
    const head: readonly Placed[] = [
      [40, 40, 'Balance sheet'],
      [240, 70, '2023', 'right'],
      [300, 70, '2024', 'right'],
    ];
    const page = [...head, ...side(40, 90, ASSETS.slice(0, 5))];
    const balance_sheet = listOf('', { line_item: text, current_year: number, prior_year: number });
    const value = valueOf(laidOut([page]), { balance_sheet }) as { balance_sheet: readonly Json[] };
    expect(value.balance_sheet[0]).to.deep.equal({
      line_item: 'Buildings',
      current_year: 72_016,
      prior_year: 70_848,
    });
  });

  it('have whole names over several lines, and are those of the kind that the list names', () => {
    const expenses: readonly Line[] = [
      ['Staff', '65,277', '62,079'],
      ['Rent', '8,231', '8,100'],
      ['Interest', '7,483', '1,259'],
      ['Taxes', '1,180', '938'],
    ];
    const wrapped: readonly Placed[] = [
      [40, 162, 'Depreciation of plant and of lea-'],
      [46, 173, 'sed equipment'],
      [240, 173, '5,210', 'right'],
      [300, 173, '5,436', 'right'],
    ];
    const second: readonly Placed[] = [[40, 40, 'Income statement'], ...side(40, 90, expenses), ...wrapped];
    const pages = [[...HEAD, ...side(40, 90, ASSETS)], second];
    const income_statement = listOf('', own);
    expect(valueOf(laidOut(pages), { income_statement })).to.deep.equal({
      income_statement: [
        { line_item: 'Staff', amount: 65_277 },
        { line_item: 'Rent', amount: 8_231 },
        { line_item: 'Interest', amount: 7_483 },
        { line_item: 'Taxes', amount: 1_180 },
        { line_item: 'Depreciation of plant and of leased equipment', amount: 5_210 },
      ],
    });
  });
});
