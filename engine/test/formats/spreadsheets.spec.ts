import { expect } from 'chai';
import { markdownOf } from '../../document/markdown.ts';
import { openOds } from '../../formats/sheets/openOds.ts';
import { documentBy, markdownBy, ods, openedBy } from '../support/officeFiles.ts';

const table = (rows: string, attributes = 'table:name="Sheet1"'): string =>
  `<table:table ${attributes}>${rows}</table:table>`;
const row = (cells: string, attributes = ''): string =>
  `<table:table-row ${attributes}>${cells}</table:table-row>`;
const cell = (text: string, attributes = ''): string =>
  `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`;
const texts = (...all: readonly string[]): string => row(all.map((text) => cell(text)).join(''));
const markdown = (body: string, styles = ''): Promise<string> => markdownBy(openOds, ods({ body, styles }));

describe('OpenDocument spreadsheets', () => {
  it('show their values as they were written, and a value without a text as it is', async () => {
    const value = '<table:table-cell office:value-type="float" office:value="9.5"/>';
    const shown = cell('9,50 €', 'office:value-type="currency" office:value="9.5"');
    expect(await markdown(table(texts('a', 'b') + row(value + shown)))).to.equal(
      '| a | b |\n| --- | --- |\n| 9.5 | 9,50 € |\n',
    );
  });

  it('have rows and cells as often as they say', async () => {
    const repeated = row(
      cell('x', 'table:number-columns-repeated="2"') + cell('y'),
      'table:number-rows-repeated="2"',
    );
    expect(await markdown(table(texts('a', 'b', 'c') + repeated))).to.equal(
      '| a | b | c |\n| --- | --- | --- |\n| x | x | y |\n| x | x | y |\n',
    );
  });

  it('part tables at empty rows, and repeat merged cells', async () => {
    const wide = row(
      cell('both', 'table:number-columns-spanned="2"') + '<table:covered-table-cell/>' + cell('c'),
    );
    const gap = row(
      '<table:table-cell table:number-columns-repeated="16384"/>',
      'table:number-rows-repeated="9"',
    );
    expect(await markdown(table(wide + texts('1', '2', '3') + gap + texts('p', 'q')))).to.equal(
      '| both | both | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n\n| p | q |\n| --- | --- |\n',
    );
  });

  it('leave hidden sheets, remarks and change marks out, and say so of the sheets', async () => {
    const remark = '<office:annotation><text:p>remark</text:p></office:annotation>';
    const styles =
      '<style:style style:name="off" style:family="table"><style:table-properties table:display="false"/>' +
      '</style:style>';
    const body =
      table(row(`<table:table-cell>${remark}<text:p>a</text:p></table:table-cell>`) + texts('b')) +
      table(texts('secret'), 'table:name="Off" table:style-name="off"');
    const document = await documentBy(openOds, ods({ body, styles }));
    expect(document.warnings.map(({ code }) => code)).to.deep.equal(['hidden_text']);
    expect(await markdown(body, styles)).to.equal('| a |\n| --- |\n| b |\n');
  });

  it('have the text boxes that lie over a sheet', async () => {
    const box = '<draw:frame><draw:text-box><text:p>a note</text:p></draw:text-box></draw:frame>';
    expect(await markdown(table(`<table:shapes>${box}</table:shapes>${texts('a', 'b')}`))).to.equal(
      '| a | b |\n| --- | --- |\n\na note\n',
    );
  });

  it('show the digits and the sign that a format hides, and name what was never computed', async () => {
    const number = (value: number, text: string, type = 'float'): string =>
      `<table:table-cell office:value-type="${type}" office:value="${value}">` +
      `<text:p>${text}</text:p></table:table-cell>`;
    const text = (content: string): string =>
      `<table:table-cell><text:p>${content}</text:p></table:table-cell>`;
    const row = (...cells: readonly string[]): string =>
      `<table:table-row>${cells.join('')}</table:table-row>`;
    const rows = [
      row(text('EAN'), text('Balance'), text('Side'), text('Sum')),
      row(
        number(4006381333931, '4.00638E+12'),
        number(-1204.5, '1.204,50 EUR', 'currency'),
        number(-5, '5,00 S'),
        number(-3, '(3)'),
      ),
      row(text('x'), text('y'), text('z'), '<table:table-cell table:formula="of:=SUM([.A1:.A2])"/>'),
    ];
    const opened = await documentBy(
      openOds,
      ods({ body: `<table:table table:name="Sheet1">${rows.join('')}</table:table>` }),
    );
    expect(markdownOf(opened)).to.contain('| 4006381333931 | -1.204,50 EUR | 5,00 S | (3) |');
    expect(opened.warnings.map(({ code, message }) => `${code} ${message}`).join()).to.match(
      /not_computed .*: D3\. /,
    );
  });

  describe('that claim more than they hold', () => {
    const endless: readonly (readonly [string, string])[] = [
      ['rows', row(cell('a') + cell('b'), 'table:number-rows-repeated="1000000000"')],
      ['columns', row(cell('a', 'table:number-columns-repeated="1000000000"')).repeat(200)],
    ];
    for (const [name, rows] of endless)
      it(`are refused where the ${name} are filled`, async () => {
        const opened = await openedBy(openOds, ods({ body: table(rows) }));
        expect(opened).to.deep.equal({
          kind: 'unreadable',
          detail: 'The workbook has more than 2000000 filled cells.',
        });
      });

    it('cost what they hold where one cell covers all', async () => {
      const spanned = 'table:number-columns-spanned="16384" table:number-rows-spanned="1000000000"';
      expect(await markdown(table(row(cell('a', spanned)) + texts('b', 'c')))).to.equal(
        '| a | a |\n| --- | --- |\n| b | c |\n',
      );
    });

    it('are refused as a table that is too large where their cells lie on a slope', async () => {
      const slope = Array.from({ length: 3000 }, (_, at) =>
        row(`<table:table-cell table:number-columns-repeated="${at + 1}"/>${cell('x')}`),
      );
      expect(await openedBy(openOds, ods({ body: table(slope.join('')) }))).to.deep.equal({
        kind: 'unreadable',
        detail: 'The workbook has a table that is too large.',
      });
    });

    it('are one table where they have thousands of islands', async () => {
      const islands = row(`${cell('x')}<table:table-cell/>`.repeat(60)) + row('');
      const { pages } = await documentBy(openOds, ods({ body: table(islands.repeat(60)) }));
      expect(pages[0]?.blocks.map(({ kind }) => kind)).to.deep.equal(['table']);
    });
  });
});
