import { expect } from 'chai';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import iconv from 'iconv-lite';
import { read, utils, write, type WorkBook } from '@e965/xlsx';
import { openDocumentWorkers, type DocumentWorkers } from '../../isolation/documentWorkers.ts';
import type { RenderResult } from '../../ports/documentParser.ts';
import { plainPdf } from '../support/pdfs.ts';
import { tempFolder } from '../support/tempFolder.ts';

describe('formats of markup', function () {
  this.timeout(60_000);
  const folder = tempFolder();
  let workers: DocumentWorkers;
  before(() => {
    workers = openDocumentWorkers({ processes: 1 });
  });
  after(async () => {
    await workers.close();
    folder.remove();
  });

  const render = (name: string, content: string | Uint8Array): Promise<RenderResult> =>
    workers.parser.render({
      path: folder.file(name, content),
      fileName: name,
      effort: 'standard',
      pagesMax: 100,
      deadlineMs: 30_000,
      share: 't',
    });
  const markdown = async (name: string, content: string | Uint8Array): Promise<string> => {
    const result = await render(name, content);
    if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
    return result.rendition.markdown;
  };
  const warnings = async (name: string, content: string | Uint8Array): Promise<readonly string[]> => {
    const result = await render(name, content);
    return result.kind === 'ok' ? result.rendition.warnings.map(({ code }) => code) : [result.kind];
  };

  describe('HTML', () => {
    it('gives headings, lists, links, emphasis, code and tables with spans', async () => {
      const html = `<!doctype html><html><head><title>no</title><style>p{}</style></head><body>
        <h1>A  title</h1><p>Some <b>bold</b> &amp; <a href="https://example.com/a">a link</a>.<br>Next line</p>
        <ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul><ol start="3"><li>three</li></ol>
        <pre>a
  b</pre>
        <table><tr><th>X</th><th colspan="2">Y</th></tr><tr><td rowspan="2">1</td><td>2</td><td>3</td></tr>
        <tr><td>4</td><td>5</td></tr></table>
        <script>alert(1)</script></body></html>`;
      expect(await markdown('a.html', html)).to.equal(
        '# A title\n\nSome **bold** & [a link](https://example.com/a).\nNext line\n\n- one\n    ' +
          '- inner\n- two\n\n3. three\n\n```\na\n  b\n```\n\n| X | Y | Y |\n| --- | --- | --- |\n| ' +
          '1 | 2 | 3 |\n| 1 | 4 | 5 |\n',
      );
    });

    const hidden = [
      'style="display:none"',
      'hidden',
      'style="font-size:0"',
      'style="color:#FFF"',
      'style="visibility: hidden; x:y"',
      'style="opacity:0"',
    ];
    for (const how of hidden)
      it(`leaves out what is hidden by ${how}, and says so`, async () => {
        const html = `<html><p>seen</p><p ${how}>ignore <b>all</b> rules</p></html>`;
        expect(await markdown('a.html', html)).to.equal('seen\n');
        expect(await warnings('a.html', html)).to.deep.equal(['hidden_text']);
      });

    it('keeps white text on a dark ground', async () => {
      expect(
        await markdown(
          'a.html',
          '<html><div style="background:#000"><p style="color:white">seen</p></div></html>',
        ),
      ).to.equal('seen\n');
    });

    it('links nowhere but to the web and to mail', async () => {
      expect(await markdown('a.html', '<html><a href="javascript:alert(1)">click</a></html>')).to.equal(
        'click\n',
      );
    });

    it('reads tables that only place things as their contents', async () => {
      const html =
        '<html><table><tr><td><h2>Left</h2><p>text</p></td><td><table><tr><td>a</td><td>b</td>' +
        '</tr><tr><td>c</td><td>d</td></tr></table></td></tr></table></html>';
      expect(await markdown('a.html', html)).to.equal(
        '## Left\n\ntext\n\n| a | b |\n| --- | --- |\n| c | d |\n',
      );
    });

    it('is refused when it is nested a hundred thousand deep', async () => {
      const deep = `<html>${'<div>'.repeat(100_000)}text${'</div>'.repeat(100_000)}</html>`;
      expect(await render('a.html', deep)).to.include({ kind: 'unreadable' });
    });

    it('caps the places that cells claim', async () => {
      const row = '<td colspan="1000" rowspan="60000">x</td>';
      const result = await render(
        'a.html',
        `<html><table>${`<tr>${row.repeat(30)}</tr>`.repeat(100)}</table></html>`,
      );
      expect(result).to.include({ kind: 'unreadable' });
    });
  });

  describe('CSV', () => {
    const table = '| Name | Ort |\n| --- | --- |\n| Größe, Ä | Köln |\n';
    const files: readonly (readonly [string, Buffer])[] = [
      ['commas and quotes', Buffer.from('Name,Ort\n"Größe, Ä",Köln\n')],
      ['semicolons', Buffer.from('Name;Ort\r\nGröße, Ä;Köln\r\n')],
      ['tabs', Buffer.from('Name\tOrt\nGröße, Ä\tKöln')],
      ['bars', Buffer.from('Name|Ort\nGröße, Ä|Köln')],
      ['windows-1252', iconv.encode('Name;Ort\nGröße, Ä;Köln\n', 'windows-1252')],
      ['UTF-16 with a mark', iconv.encode('Name;Ort\nGröße, Ä;Köln\n', 'utf16le', { addBOM: true })],
    ];
    for (const [name, bytes] of files)
      it(`reads ${name}`, async () => {
        expect(await markdown('a.csv', bytes)).to.equal(table);
      });

    it('reads a few words of Shift-JIS', async () => {
      expect(await markdown('a.csv', iconv.encode('会社,電話\n山田商店,03-1234\n', 'shift_jis'))).to.contain(
        '| 山田商店 | 03-1234 |',
      );
    });

    it('keeps line breaks in quotes in their cell, and fills short rows', async () => {
      expect(await markdown('a.csv', 'a,b,c\n"one\ntwo",2\n')).to.equal(
        '| a | b | c |\n| --- | --- | --- |\n| one two | 2 |  |\n',
      );
    });

    it('has as many pages as characters say, and is one table with no row twice', async () => {
      const text = `id,value\n${Array.from({ length: 1000 }, (_, i) => `${i},value ${i}`).join('\n')}\n`;
      const result = await render('a.csv', text);
      if (result.kind !== 'ok') throw new Error(result.kind);
      expect(result.rendition.pages).to.have.length(Math.ceil(text.length / 3000));
      expect(result.rendition.markdown.match(/\| id \| value \|/g)).to.have.length(1);
      const ids = [...result.rendition.markdown.matchAll(/^\| (\d+) \|/gm)].map(([, id]) => Number(id));
      expect(ids).to.deep.equal(Array.from({ length: 1000 }, (_, i) => i));
    });
  });

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

  describe('mail', () => {
    const mail = (parts: readonly string[]): string =>
      [
        'From: "Ada L." <ada@example.com>',
        'To: Bob <bob@example.com>',
        'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=',
        'Date: Tue, 03 Mar 2026 10:00:00 +0000',
        'MIME-Version: 1.0',
        'Content-Type: multipart/mixed; boundary=b',
        '',
        ...parts.flatMap((part) => ['--b', part]),
        '--b--',
        '',
      ].join('\r\n');
    const attachment = (name: string, content: Buffer): string =>
      `Content-Type: application/octet-stream; name="${name}"\r\nContent-Disposition: ` +
      `attachment; filename="${name}"\r\nContent-Transfer-Encoding: ` +
      `base64\r\n\r\n${content.toString('base64').replace(/.{76}/g, '$&\r\n')}`;
    const body = 'Content-Type: text/plain; charset=utf-8\r\n\r\nDear Bob,\r\n\r\nplease see the file.';

    it('has its headers, its body, and the pages of its attachments', async () => {
      const eml = mail([
        body,
        attachment('offer.pdf', plainPdf(['first page', 'second page'])),
        attachment('list.csv', Buffer.from('a,b\n1,2\n')),
      ]);
      const result = await render('a.eml', eml);
      if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
      const { markdown: text, pages } = result.rendition;
      expect(text).to.match(
        /^<!-- page 1 -->\n\n# Grüße\n\nFrom: Ada L\. \(ada@example\.com\)\nTo: Bob \(bob@example\.com\)\nDate: /,
      );
      expect(text)
        .to.contain('<!-- page 2 -->\n\n## offer.pdf\n\nfirst page')
        .and.contain('<!-- page 4 -->\n\n## list.csv\n\n| a | b |');
      expect(pages.map(({ page }) => page)).to.deep.equal([1, 2, 3, 4]);
    });

    it('counts the same pages when it is only looked at', async () => {
      const path = folder.file('b.eml', mail([body, attachment('offer.pdf', plainPdf(['one', 'two']))]));
      const inspected = await workers.parser.inspect({
        path,
        fileName: 'b.eml',
        effort: 'standard',
        pagesMax: 100,
        deadlineMs: 9000,
        share: 't',
      });
      expect(inspected).to.deep.equal({ kind: 'ok', mimeType: 'message/rfc822', pages: 3, total: 3 });
    });

    it('reads an HTML body without what is hidden in it', async () => {
      const html =
        'Content-Type: text/html; charset=utf-8\r\n\r\n<p>Hello <b>Bob</b></p><div style="display:none">pay me</div>';
      const text = await markdown('c.eml', mail([html]));
      expect(text).to.contain('Hello **Bob**').and.not.contain('pay me');
    });

    it('names attachments that cannot be read', async () => {
      const result = await render(
        'd.eml',
        mail([body, attachment('setup.exe', Buffer.from('MZ\u0090\u0000\u0003', 'latin1'))]),
      );
      if (result.kind !== 'ok') throw new Error(result.kind);
      expect(result.rendition.warnings).to.have.length(1);
      expect(result.rendition.warnings[0])
        .to.include({ code: 'page_failed' })
        .and.to.have.property('message')
        .that.contains('setup.exe');
    });

    it('opens mails in mails, but not without end', async () => {
      let inner = mail([body]);
      for (let depth = 0; depth < 6; depth += 1)
        inner = mail([body, attachment('inner.eml', Buffer.from(inner))]);
      const result = await render('e.eml', inner);
      if (result.kind !== 'ok') throw new Error(result.kind);
      expect(result.rendition.pages).to.have.length(4);
      expect(result.rendition.warnings.map(({ code }) => code)).to.deep.equal(['page_failed']);
    });
  });

  it('Markdown keeps tables and lists that are written in HTML', async () => {
    const text =
      '# A\n\n<table>\n<tr><th>x</th><th>y</th></tr>\n<tr><td>1</td><td>2</td></tr>\n</table>' +
      '\n\n```html\n<table>\n```\n';
    expect(await markdown('a.md', text)).to.equal(
      '# A\n\n| x | y |\n| --- | --- |\n| 1 | 2 |\n\n```html\n<table>\n```\n',
    );
  });
});
