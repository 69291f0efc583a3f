import { expect } from 'chai';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { read, utils, write, type WorkBook } from '@e965/xlsx';
import { renderings } from './renderings.ts';

describe('formats of sheets', () => {
  const { markdown, render, warnings } = renderings();

  describe('workbooks', () => {
    const book = (sheets: Readonly<Record<string, readonly (readonly unknown[])[]>>): WorkBook => {
      const made = utils.book_new();
      for (const [name, rows] of Object.entries(sheets))
        utils.book_append_sheet(made, utils.aoa_to_sheet(rows.map((row) => [...row])), name);
      return made;
    };
    const bytesOf = (made: WorkBook, bookType: 'xlsx' | 'xls' | 'ods'): Buffer =>
      Buffer.from(
        write(made, { type: 'buffer', bookType: bookType === 'xls' ? 'biff8' : bookType }) as Uint8Array,
      );

    for (const type of ['xlsx', 'xls', 'ods'] as const)
      it(`of type ${type} have a page for each sheet that is not empty`, async () => {
        const made = book({
          Sales: [
            ['Item', 'Sum'],
            ['Nails', 9.5],
          ],
          Empty: [],
          Costs: [
            ['Who', 'What'],
            ['Me', 'Rent'],
          ],
        });
        const result = await render(`a.${type}`, bytesOf(made, type));
        if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
        expect(result.rendition.pages.map(({ page, source }) => [page, source])).to.deep.equal([
          [1, 'markup'],
          [2, 'markup'],
        ]);
        expect(result.rendition.markdown).to.equal(
          '<!-- page 1 -->\n\n## Sales\n\n| Item | Sum |\n| --- | --- |\n| Nails | 9.5 |\n\n<!-- ' +
            'page 2 -->\n\n## Costs\n\n| Who | What |\n| --- | --- |\n| Me | Rent |\n',
        );
      });

    describe('whose parts claim more than they have', () => {
      const linked = (): WorkBook => {
        const made = book({ Sheet1: [['Item'], ['Nails']] });
        const cell = made.Sheets['Sheet1']?.['A2'] as object;
        Object.assign(cell, { l: { Target: 'https://example.com/' } });
        return made;
      };
      const SHOWN = '| Item |\n| --- |\n| Nails |';

      it('read as the workbook that they are, whatever else lies in the archive', async () => {
        const rows = '<table:table-row table:number-rows-repeated="1000000000">';
        const cell = '<table:table-cell table:number-columns-repeated="1000000000"><text:p>x</text:p>';
        const row = `${rows}${cell}</table:table-cell></table:table-row>`;
        const content = `<office:spreadsheet><table:table table:name="a">${row}`;
        const members = {
          ...unzipSync(bytesOf(linked(), 'xlsx')),
          'META-INF/manifest.xml': strToU8('<manifest:manifest/>'),
          'content.xml': strToU8(`${content}</table:table></office:spreadsheet>`),
        };
        expect(await markdown('a.xlsx', Buffer.from(zipSync(members)))).to.contain(SHOWN);
      });

      it('show their cells where a link lies over a whole sheet', async () => {
        const members = unzipSync(bytesOf(linked(), 'xlsx'));
        const sheet = strFromU8(members['xl/worksheets/sheet1.xml'] ?? new Uint8Array());
        const wide = sheet.replace('<hyperlink ref="A2"', '<hyperlink ref="A1:XFD1048576"');
        expect(wide).not.to.equal(sheet);
        const all = { ...members, 'xl/worksheets/sheet1.xml': strToU8(wide) };
        expect(await markdown('a.xlsx', Buffer.from(zipSync(all)))).to.contain(SHOWN);
      });

      it('show their cells where a link lies over a whole sheet of an old workbook', async () => {
        const bytes = bytesOf(linked(), 'xls');
        const link = Buffer.from([0xb8, 0x01]);
        let at = bytes.indexOf(link);
        while (bytes.readUInt16LE(at + 4) !== 1 || bytes.readUInt16LE(at + 8) !== 0)
          at = bytes.indexOf(link, at + 1);
        for (const [offset, value] of [0, 0xffff, 0, 0xffff].entries())
          bytes.writeUInt16LE(value, at + 4 + 2 * offset);
        expect(await markdown('a.xls', bytes)).to.contain(SHOWN);
      });

      it('show their cells where a link lies over a whole sheet of a binary workbook', async () => {
        const members = unzipSync(
          new Uint8Array(write(linked(), { type: 'buffer', bookType: 'xlsb' }) as Uint8Array),
        );
        const sheet = Buffer.from(members['xl/worksheets/sheet1.bin'] ?? []);
        const at = sheet.indexOf(Buffer.from([0xee, 0x03])) + 3;
        for (const [offset, value] of [0, 1_048_575, 0, 16_383].entries())
          sheet.writeUInt32LE(value, at + 4 * offset);
        const all = { ...members, 'xl/worksheets/sheet1.bin': new Uint8Array(sheet) };
        expect(await markdown('a.xlsb', Buffer.from(zipSync(all)))).to.contain(SHOWN);
      });
    });

    it('show numbers as their formats do', async () => {
      const made = book({
        Sheet1: [
          ['Share', 'Day'],
          [0.125, 45000],
        ],
      });
      const sheet = made.Sheets['Sheet1'];
      if (sheet === undefined) throw new Error('no sheet');
      Object.assign(sheet['A2'] as object, { z: '0.0%' });
      Object.assign(sheet['B2'] as object, { z: 'yyyy-mm-dd' });
      expect(await markdown('a.xlsx', bytesOf(made, 'xlsx'))).to.contain('| 12.5% | 2023-03-15 |');
    });

    it('show all digits, the sign and the time of day, whatever their formats hide', async () => {
      for (const type of ['xlsx', 'xls'] as const) {
        const made = book({
          Sheet1: [
            ['EAN', 'Balance', 'Loss', 'At', 'Small'],
            [4006381333931, -1204.5, -7, 45730.6979166667, -0.001],
          ],
        });
        const sheet = made.Sheets['Sheet1'];
        if (sheet === undefined) throw new Error('no sheet');
        const formats = {
          B2: '#,##0.00;[Red]#,##0.00',
          C2: '0;(0)',
          D2: 'dd.mm.yyyy hh:mm',
          E2: '0.00;[Red]0.00',
        };
        for (const [address, z] of Object.entries(formats)) Object.assign(sheet[address] as object, { z });
        expect(await markdown(`a.${type}`, bytesOf(made, type)), type).to.contain(
          '| 4006381333931 | -1,204.50 | (7) | 2025-03-14T16:45 | 0.00 |',
        );
      }
    });

    describe('that a program wrote without computing them', () => {
      const written = (cells: Readonly<Record<string, string>>): Uint8Array => {
        const made = book({
          Sheet1: [
            ['Item', 'Net', 'VAT', 'Gross'],
            ['Desk', 100.5, 0, 0],
            ['Chair', 20, 0, 0],
            ['Total', 0, 0, 0],
          ],
          'My sheet': [['Rate'], [0.19]],
        });
        const members = unzipSync(bytesOf(made, 'xlsx'));
        let sheet = strFromU8(members['xl/worksheets/sheet1.xml'] ?? new Uint8Array());
        for (const [address, formula] of Object.entries(cells))
          sheet = sheet.replace(
            new RegExp(`<c r="${address}"[^>]*>.*?</c>`),
            `<c r="${address}"><f>${formula.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</f><v></v></c>`,
          );
        return zipSync({ ...members, 'xl/worksheets/sheet1.xml': strToU8(sheet) });
      };

      it('show what their formulas come to', async () => {
        const bytes = written({
          C2: "B2*'My sheet'!$A$2",
          C3: 'ROUND(B3*19%,2)',
          D2: 'B2+C2',
          D3: 'IF(B3<>0,B3+C3,"")',
          B4: 'SUM(B2:B3)',
          C4: 'SUM(C2:C3)',
          D4: '-(-B4-C4)^1*2/2',
        });
        expect(await markdown('a.xlsx', bytes)).to.contain(
          '| Desk | 100.5 | 19.095 | 119.595 |\n| Chair | 20 | 3.8 | 23.8 |\n| Total | 120.5 | 22.895 | 143.395 |',
        );
        expect(await warnings('a.xlsx', bytes)).to.deep.equal([]);
      });

      it('show sums above the long chain of cells that they are of', async () => {
        const rows = [['Balance', 0], ...Array.from({ length: 1000 }, () => [1, 0])];
        const members = unzipSync(bytesOf(book({ Sheet1: rows }), 'xlsx'));
        const sheet = strFromU8(members['xl/worksheets/sheet1.xml'] ?? new Uint8Array());
        const chained = sheet.replace(/<c r="B(\d+)"[^>]*>.*?<\/c>/g, (_, row: string) => {
          const formula = row === '1' ? 'B1001' : row === '2' ? 'A2' : `B${Number(row) - 1}+A${row}`;
          return `<c r="B${row}"><f>${formula}</f></c>`;
        });
        const bytes = zipSync({ ...members, 'xl/worksheets/sheet1.xml': strToU8(chained) });
        expect(await markdown('a.xlsx', bytes)).to.contain('| Balance | 1000 |');
        expect(await warnings('a.xlsx', bytes)).to.deep.equal([]);
      });

      it('name the cells that no arithmetic fills, and those that need them', async () => {
        const bytes = written({
          C2: 'VLOOKUP(A2,X1:Y9,2)',
          D2: 'B2+C2',
          D3: 'D4',
          D4: 'D3',
          C4: 'B2/0',
          C3: 'SUM(A1:XFD1048576)',
        });
        const result = await render('a.xlsx', bytes);
        const said = result.kind === 'ok' ? result.rendition.warnings : [];
        expect(said.map(({ code }) => code)).to.deep.equal(['not_computed']);
        for (const cell of ['C2', 'D2', 'D3', 'D4', 'C4', 'C3'])
          expect(said[0]?.message).to.contain(`Sheet1!${cell}`);
      });
    });

    it('part tables at empty rows and columns, and tell titles from tables', async () => {
      const rows = [
        ['Our ducks'],
        ['Year', 'Count'],
        [2020, 1],
        [2021, 2],
        [],
        ['a', 'b', null, 'x', 'y'],
        [1, 2, null, 3, 4],
      ];
      expect(await markdown('a.xlsx', bytesOf(book({ Sheet1: rows }), 'xlsx'))).to.equal(
        'Our ducks\n\n| Year | Count |\n| --- | --- |\n| 2020 | 1 |\n| 2021 | 2 |\n\n| a | b |\n|' +
          ' --- | --- |\n| 1 | 2 |\n\n| x | y |\n| --- | --- |\n| 3 | 4 |\n',
      );
    });

    it('repeat merged cells', async () => {
      const made = book({
        Sheet1: [
          ['Both', null, 'c'],
          [1, 2, 3],
        ],
      });
      Object.assign(made.Sheets['Sheet1'] ?? {}, { '!merges': [{ s: { r: 0, c: 0 }, e: { r: 0, c: 1 } }] });
      expect(await markdown('a.xlsx', bytesOf(made, 'xlsx'))).to.equal(
        '| Both | Both | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n',
      );
    });

    it('leave hidden sheets out, and say so', async () => {
      const made = book({
        Seen: [
          ['a', 'b'],
          [1, 2],
        ],
        Unseen: [
          ['secret', 'b'],
          [1, 2],
        ],
      });
      made.Workbook = {
        Sheets: [
          { name: 'Seen', Hidden: 0 },
          { name: 'Unseen', Hidden: 1 },
        ],
      };
      const bytes = bytesOf(made, 'xlsx');
      expect(await markdown('a.xlsx', bytes)).to.not.contain('secret');
      expect(await warnings('a.xlsx', bytes)).to.deep.equal(['hidden_text']);
    });

    it('that claim a million rows cost what they hold', async () => {
      const bytes = bytesOf(book({ Sheet1: [['a', 'b'], [1, 2]] }), 'xlsx'); // prettier-ignore
      const members = unzipSync(bytes);
      const sheet = strFromU8(members['xl/worksheets/sheet1.xml'] ?? new Uint8Array());
      members['xl/worksheets/sheet1.xml'] = strToU8(sheet.replace(/ref="A1:B2"/, 'ref="A1:XFD1048576"'));
      expect(await markdown('a.xlsx', zipSync(members))).to.equal('| a | b |\n| --- | --- |\n| 1 | 2 |\n');
    });

    it('with a merged cell over the whole sheet cost what they hold', async () => {
      const made = book({ Sheet1: [['a', 'b'], [1, 2]] }); // prettier-ignore
      const sheet = made.Sheets['Sheet1'];
      if (sheet === undefined) throw new Error('no sheet');
      sheet['!merges'] = [{ s: { r: 1, c: 1 }, e: { r: 1_048_575, c: 16_383 } }];
      expect(await markdown('a.xlsx', bytesOf(made, 'xlsx'))).to.equal(
        '| a | b |\n| --- | --- |\n| 1 | 2 |\n',
      );
    });

    it('are read where a part that is no sheet is damaged', async () => {
      const archive = Buffer.from(
        zipSync({
          ...unzipSync(bytesOf(book({ Sheet1: [['a', 'b'], [1, 2]] }), 'xlsx')), // prettier-ignore
          'x.txt': [new Uint8Array(40), { level: 6 }],
        }),
      );
      archive.fill(5, archive.indexOf('x.txt') + 5, archive.indexOf('x.txt') + 9);
      expect(await markdown('a.xlsx', archive)).to.equal('| a | b |\n| --- | --- |\n| 1 | 2 |\n');
    });

    it('show what their charts keep, where the charts stand', async () => {
      const members = unzipSync(bytesOf(book({ Sheet1: [['a', 'b'], [1, 2]] }), 'xlsx')); // prettier-ignore
      const relation = (type: string, target: string): Uint8Array<ArrayBuffer> =>
        strToU8(
          '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">' +
            '<Relationship Id="rId1" ' +
            `Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" ` +
            `Target="${target}"/></Relationships>`,
        );
      const spaces =
        'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" ' +
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" ' +
        'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" ' +
        'xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"';
      const points = (values: readonly string[]): string =>
        values.map((value, idx) => `<c:pt idx="${idx}"><c:v>${value}</c:v></c:pt>`).join('');
      members['xl/worksheets/_rels/sheet1.xml.rels'] = relation('drawing', '../drawings/drawing1.xml');
      members['xl/drawings/_rels/drawing1.xml.rels'] = relation('chart', '../charts/chart1.xml');
      members['xl/drawings/drawing1.xml'] = strToU8(
        `<xdr:wsDr ${spaces}><xdr:twoCellAnchor><xdr:from><xdr:row>9</xdr:row></xdr:from>` +
          '<xdr:graphicFrame><c:chart r:id="rId1"/></xdr:graphicFrame></xdr:twoCellAnchor>' +
          '</xdr:wsDr>',
      );
      members['xl/charts/chart1.xml'] = strToU8(
        `<c:chartSpace ${spaces}><c:chart><c:title><c:tx><a:t>Ducks</a:t></c:tx></c:title>` +
          `<c:plotArea><c:barChart><c:ser><c:tx>${points(['count'])}</c:tx><c:cat>` +
          `${points(['2020', '2021'])}</c:cat><c:val>${points(['7', '9'])}</c:val></c:ser>` +
          '</c:barChart></c:plotArea></c:chart></c:chartSpace>',
      );
      expect(await markdown('a.xlsx', zipSync(members))).to.equal(
        '| a | b |\n| --- | --- |\n| 1 | 2 |\n\nDucks\n\n|  | count |\n| --- | --- |\n| 2020 | 7 |\n| 2021 | 9 |\n',
      );
    });

    it('with a document type declaration are refused', async () => {
      const archive = zipSync({
        '[Content_Types].xml': strToU8('<a/>'),
        'xl/workbook.xml': strToU8('<!DOCTYPE a [<!ENTITY b "c">]><workbook>&b;</workbook>'),
      });
      expect((await render('a.xlsx', archive)).kind).to.equal('unreadable');
    });

    it('that are damaged are refused', async () => {
      const bytes = bytesOf(book({ A: [['a']] }), 'xlsx');
      expect((await render('a.xlsx', bytes.subarray(0, bytes.length / 2))).kind).to.equal('unreadable');
      expect(() => read(bytes)).to.not.throw();
    });
  });
});
