import { expect } from 'chai';
import { tableOf } from '../../../document/document.ts';
import { extract } from '../../../extraction/extract.ts';
import { openFlow } from '../../../formats/pieces/flow.ts';
import { textDocument } from '../../../formats/text/textDocument.ts';
import type { JsonObject } from '../../../kernel/json.ts';

const SALES = [
  ['Region', 'Segment', 'Units Sold', 'Unit Cost', 'Gross Sales', 'COGS'],
  ['North', 'Retail', '10', '3.00', '80.00', '40.00'],
  ['South', 'Trade', '20', '2.50', '90.00', '60.00'],
  ['West', 'Retail', '30', '1.00', '100.50', '33.00'],
];

async function read(rows: readonly (readonly string[])[], properties: JsonObject) {
  const opened = await openFlow({ mimeType: 'text/html', blocks: [tableOf(rows, 1)] }).read();
  if (opened.kind !== 'ok') throw new Error(opened.kind);
  return extract(opened.document, { type: 'object', properties });
}

const number = (description: string): JsonObject => ({ type: 'number', description });

describe('figures that are to be worked out', () => {
  it('are the sum, the average and the number of rows, cited by their column', async () => {
    const { value, citations } = await read(SALES, {
      total_sales: number('sum of the Gross Sales column across every row'),
      mean_units: number('average of the Units Sold column'),
      row_count: { type: 'integer', description: 'number of data rows in the table' },
      schnitt: number('Durchschnitt der Spalte Unit Cost'),
    });
    expect(value).to.deep.equal({ total_sales: 270.5, mean_units: 20, row_count: 3, schnitt: 2.16666666667 });
    expect(citations.map(({ by }) => by)).to.deep.equal(Array(4).fill('computed'));
    expect(citations[0]?.text).to.equal('Gross Sales');
  });

  it('leave out rows of sums', async () => {
    const { value } = await read([...SALES, ['Total', '', '60', '', '270.50', '133.00']], {
      units: number('sum of the Units Sold column over all rows'),
      rows: number('count of rows'),
    });
    expect(value).to.deep.equal({ units: 60, rows: 3 });
  });

  it('are not told where a cell is no number, or no column has the name', async () => {
    const { value } = await read([...SALES, ['East', 'Trade', 'n.k.', '1.00', '1.00', '1.00']], {
      units: number('sum of the Units Sold column'),
      weight: number('sum of the Weight column across all rows'),
      margin: number('average of all rows of the Net Sales column'),
    });
    expect(value).to.deep.equal({});
  });

  it('are formulas of columns in the rows of a list', async () => {
    const properties = {
      region: { type: 'string' },
      margin_pct: number(
        'margin computed as (Gross Sales - COGS) / Gross Sales * 100, rounded to one decimal place',
      ),
      total_cost: number('Unit Cost multiplied by Units Sold'),
      unknown: number('Unit Cost multiplied by Weight'),
    };
    const { value } = await read(SALES, {
      sales: { type: 'array', items: { type: 'object', properties } },
    });
    expect(value['sales']).to.deep.equal([
      { region: 'North', margin_pct: 50, total_cost: 30 },
      { region: 'South', margin_pct: 33.3, total_cost: 50 },
      { region: 'West', margin_pct: 67.2, total_cost: 30 },
    ]);
  });

  it('are read from a column of their name', async () => {
    const properties = { region: { type: 'string' }, cogs: number('Unit Cost multiplied by Units Sold') };
    const { value } = await read(SALES, {
      sales: { type: 'array', items: { type: 'object', properties } },
    });
    expect((value['sales'] as readonly JsonObject[])[0]).to.deep.equal({ region: 'North', cogs: 40 });
  });

  it('are read where they cannot be worked out, and the page says them by their name', () => {
    const properties = { subtotal: number('sum of the rows'), mean_price: number('average of the rows') };
    const opened = textDocument('Widget   20.00\nGadget   100.00\n\nSubtotal: 120.00');
    expect(extract(opened, { type: 'object', properties }).value).to.deep.equal({ subtotal: 120 });
  });

  it('are read where the description says that they are printed', async () => {
    const { value } = await read(
      [
        ['Item', 'Amount'],
        ['Pens', '2.00'],
        ['Ink', '9.00'],
        ['Total amount', '11.50'],
      ],
      { total_amount: number('sum of the Amount column as printed in the last row') },
    );
    expect(value).to.deep.equal({ total_amount: 11.5 });
  });
});
