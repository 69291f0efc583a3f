import { expect } from 'chai';
import { openDoc } from '../../formats/doc/openDoc.ts';
import { openDocx } from '../../formats/docx/openDocx.ts';
import { openOdt } from '../../formats/odt/openOdt.ts';
import { openRtf } from '../../formats/rtf/openRtf.ts';
import { documentBy, docx, markdownBy, OASIS, odt, openedBy, p, r } from '../support/officeFiles.ts';
import { wordFile, type Letterheads } from '../support/wordFiles.ts';

const field = (instruction: string, result: string): string =>
  `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> ${instruction} </w:instrText></w:r>` +
  `<w:r><w:fldChar w:fldCharType="separate"/></w:r>${r(result)}<w:r><w:fldChar w:fldCharType="end"/></w:r>`;
const refer = (kind: 'header' | 'footer', type: string, id: string): string =>
  `<w:${kind}Reference w:type="${type}" r:id="${id}"/>`;
const section = (...inner: readonly string[]): string => `<w:sectPr>${inner.join('')}</w:sectPr>`;

describe('headers and footers of Word documents', () => {
  it('stand before and behind their section, and in the lines that values are read from', async () => {
    const body = p('Dear Ann,') + section(refer('header', 'default', 'h'), refer('footer', 'default', 'f'));
    const parts = {
      h: ['header', p('Invoice No. 4711') + p('VAT ID DE123456789')],
      f: ['footer', p('IBAN DE02 1203 0000 0000 2020 51')],
    } as const;
    const document = await documentBy(openDocx, docx({ body, parts }));
    expect(document.pages[0]?.lines.map(({ text }) => text)).to.deep.equal([
      'Invoice No. 4711',
      'VAT ID DE123456789',
      'Dear Ann,',
      'IBAN DE02 1203 0000 0000 2020 51',
    ]);
    expect(await markdownBy(openDocx, docx({ body, parts }))).to.equal(
      'Invoice No. 4711\n\nVAT ID DE123456789\n\nDear Ann,\n\nIBAN DE02 1203 0000 0000 2020 51\n',
    );
  });

  const kinds =
    refer('header', 'first', 'a') + refer('header', 'default', 'b') + refer('header', 'even', 'c');
  const three = { a: ['header', p('first')], b: ['header', p('odd')], c: ['header', p('even')] } as const;
  const even = { ...three, s: ['settings', '<w:evenAndOddHeaders/>'] } as const;

  it('are those of the pages that there are', async () => {
    const of = (properties: string, parts: typeof three | typeof even): Promise<string> =>
      markdownBy(openDocx, docx({ body: p('text') + section(kinds, properties), parts }));
    expect(await of('', three)).to.equal('odd\n\ntext\n');
    expect(await of('<w:titlePg/>', three)).to.equal('first\n\nodd\n\ntext\n');
    expect(await of('<w:titlePg/>', even)).to.equal('first\n\nodd\n\neven\n\ntext\n');
  });

  it('are said once, and those of a later section with it', async () => {
    const first = `<w:p><w:pPr>${section(refer('header', 'default', 'a'))}</w:pPr>${r('one')}</w:p>`;
    const body = first + p('two') + section(refer('header', 'default', 'b'), refer('footer', 'default', 'f'));
    const parts = {
      a: ['header', p('ACME') + p('Report')],
      b: ['header', p('ACME') + p('Annex')],
      f: ['footer', p('End')],
    } as const;
    expect(await markdownBy(openDocx, docx({ body, parts }))).to.equal(
      'ACME\n\nReport\n\none\n\nAnnex\n\ntwo\n\nEnd\n',
    );
  });

  const counted: readonly (readonly [string, string, string])[] = [
    ['a number alone', p(field('PAGE \\* MERGEFORMAT', '2')), ''],
    ['a number of numbers', p(r('Seite ') + field('PAGE', '1') + r(' von ') + field('NUMPAGES', '3')), ''],
    ['simple fields', p(r('- ') + '<w:fldSimple w:instr="PAGE">' + r('7') + '</w:fldSimple>' + r(' -')), ''],
    ['numbers that are written out', p('Page 1 of 3'), ''],
    ['numbers beside text', p(r('ACME Ltd') + '<w:r><w:tab/></w:r>' + field('PAGE', '1')), 'ACME Ltd\n\n'],
    ['numbers in a text', p(r('Invoice 4711, page ') + field('PAGE', '1') + r(' of 3')), 'Invoice 4711\n\n'],
    ['no number of a document', p('4711'), '4711\n\n'],
    ['no year', p(r('ACME 2024')), 'ACME 2024\n\n'],
  ];
  for (const [name, header, markdown] of counted)
    it(`count no pages: ${name}`, async () => {
      const body = p('text') + section(refer('header', 'default', 'h'));
      expect(await markdownBy(openDocx, docx({ body, parts: { h: ['header', header] } }))).to.equal(
        `${markdown}text\n`,
      );
    });

  it('keep the numbers of pages in the text itself', async () => {
    expect(await markdownBy(openDocx, docx({ body: p(r('see page ') + field('PAGE', '2')) }))).to.equal(
      'see page 2\n',
    );
  });

  it('are no headings, link where their own part says, and set things side by side in tables of one row', async () => {
    const cell = (text: string): string => `<w:tc>${p(text)}</w:tc>`;
    const header =
      p('ACME', '<w:pStyle w:val="Heading1"/>') +
      `<w:tbl><w:tr>${cell('Main Street 1')}${cell('Phone 555')}</w:tr></w:tbl>` +
      p(`<w:hyperlink r:id="x">${r('acme.example')}</w:hyperlink>`);
    const rels =
      '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">' +
      '<Relationship Id="x" Type="http://a/hyperlink" Target="https://acme.example" TargetMode="External"/>' +
      '</Relationships>';
    const body = p('Title', '<w:pStyle w:val="Title"/>') + section(refer('header', 'default', 'h'));
    const members = { 'word/_rels/h.xml.rels': rels };
    expect(await markdownBy(openDocx, docx({ body, parts: { h: ['header', header] }, members }))).to.equal(
      'ACME\n\nMain Street 1\n\nPhone 555\n\n[acme.example](https://acme.example)\n\n# Title\n',
    );
  });

  it('are not said where they only repeat a heading', async () => {
    const body = p('Report', '<w:pStyle w:val="Title"/>') + p('a') + section(refer('header', 'default', 'h'));
    expect(await markdownBy(openDocx, docx({ body, parts: { h: ['header', p('Report')] } }))).to.equal(
      '# Report\n\na\n',
    );
  });

  it('have their text boxes and tables in tables', async () => {
    const cell = (content: string): string => `<w:tc>${content}</w:tc>`;
    const inner = `<w:tbl><w:tr>${cell(p('No.'))}${cell(p('7'))}</w:tr></w:tbl>`;
    const table = `<w:tbl><w:tr>${cell(p('ACME'))}${cell(inner + p(''))}</w:tr></w:tbl>`;
    const frame = `<w:txbxContent>${p('boxed')}</w:txbxContent>`;
    const box = `<w:r><w:pict><v:shape><v:textbox>${frame}</v:textbox></v:shape></w:pict></w:r>`;
    const body = p('text') + section(refer('header', 'default', 'h'));
    expect(
      await markdownBy(openDocx, docx({ body, parts: { h: ['header', table + `<w:p>${box}</w:p>`] } })),
    ).to.equal('ACME\n\nNo. 7\n\nboxed\n\ntext\n');
  });

  it('come to an end whatever refers to what', async () => {
    const many = Array.from({ length: 3000 }, (_, index) => index);
    const breaks = (id: string): string =>
      `<w:p><w:pPr>${section(refer('header', 'default', id))}</w:pPr></w:p>`;
    const same = await markdownBy(
      openDocx,
      docx({ body: many.map(() => breaks('h')).join('') + p('text'), parts: { h: ['header', p('once')] } }),
    );
    expect(same).to.equal('once\n\ntext\n');
    const parts = Object.fromEntries(many.map((index) => [`h${index}`, ['header', p(`n${index}`)]] as const));
    const others = await markdownBy(
      openDocx,
      docx({ body: many.map((index) => breaks(`h${index}`)).join('') + p('text'), parts }),
    );
    expect(others)
      .to.match(/^<!-- page 1 -->\n\nn0\n\nn1\n/)
      .and.match(/\nn2999\n\ntext\n$/);
    const tooMany = Object.fromEntries(
      Array.from({ length: 10_001 }, (_, index) => [`h${index}`, ['header', p('a')]] as const),
    );
    expect(await openedBy(openDocx, docx({ body: p('text'), parts: tooMany }))).to.include({
      kind: 'unreadable',
      detail: 'The archive has more than 10000 members.',
    });
  });

  it('end in linear time, however they are written', async () => {
    const header = p(r(`${'- '.repeat(200_000)}x`) + field('PAGE', '1') + r(' '.repeat(200_000)));
    const body = p('text') + section(refer('header', 'default', 'h'));
    expect(await markdownBy(openDocx, docx({ body, parts: { h: ['header', header] } }))).to.contain('text');
  });
});

describe('headers and footers of OpenDocument texts', () => {
  const t = (content: string, style = ''): string => `<text:p text:style-name="${style}">${content}</text:p>`;
  const named = (masters: string, styles = ''): Readonly<Record<string, string>> => ({
    'styles.xml':
      `<office:document-styles xmlns:office="${OASIS}:office:1.0" xmlns:style="${OASIS}:style:1.0" ` +
      `xmlns:text="${OASIS}:text:1.0" xmlns:fo="${OASIS}:xsl-fo-compatible:1.0"><office:automatic-styles>${styles}` +
      `</office:automatic-styles><office:master-styles>${masters}</office:master-styles></office:document-styles>`,
  });
  const page = (name: string, inner: string, attributes = ''): string =>
    `<style:master-page style:name="${name}" ${attributes}>${inner}</style:master-page>`;
  const part = (kind: string, text: string, attributes = ''): string =>
    `<style:${kind} ${attributes}>${t(text)}</style:${kind}>`;

  it('stand before and behind the text, of first, right and left pages, once', async () => {
    const count = '<text:page-number>1</text:page-number>/<text:page-count>3</text:page-count>';
    const members = named(
      page(
        'Standard',
        part('header', 'ACME') +
          part('header-first', 'Letter 4711') +
          part('header-left', 'off', 'style:display="false"') +
          part('footer', `Seite ${count}`) +
          part('footer-left', 'VAT DE1'),
      ) + page('Unused', part('header', 'never')),
    );
    expect(await markdownBy(openOdt, odt({ body: t('text'), members }))).to.equal(
      'Letter 4711\n\nACME\n\ntext\n\nVAT DE1\n',
    );
  });

  it('are those of the page styles that the text begins', async () => {
    const styles =
      '<style:style style:name="P1" style:family="paragraph" style:master-page-name="First"/>' +
      '<style:style style:name="P2" style:family="paragraph" style:master-page-name="Annex"/>';
    const members = named(
      page('Standard', part('header', 'pages')) +
        page('First', part('header', 'cover'), 'style:next-style-name="Standard"') +
        page('Annex', part('header', 'annex'), 'style:next-style-name="Annex"'),
    );
    expect(
      await markdownBy(openOdt, odt({ body: t('a', 'P1') + t('b') + t('c', 'P2'), styles, members })),
    ).to.equal('cover\n\npages\n\na\n\nb\n\nannex\n\nc\n');
  });

  it('look as the styles of their own part say', async () => {
    const bold = (weight: string): string =>
      '<style:style style:name="T1" style:family="text"><style:text-properties ' +
      `fo:font-weight="${weight}"/></style:style>`;
    const header = `<style:header>${t('a <text:span text:style-name="T1">bold</text:span>')}</style:header>`;
    const members = named(page('Standard', header), bold('bold'));
    expect(await markdownBy(openOdt, odt({ body: t('text'), styles: bold('normal'), members }))).to.equal(
      'a **bold**\n\ntext\n',
    );
  });

  it('come to an end where page styles follow each other in a ring', async () => {
    const members = named(
      page('Standard', part('header', 'a'), 'style:next-style-name="B"') +
        page('B', part('header', 'b'), 'style:next-style-name="Standard"'),
    );
    expect(await markdownBy(openOdt, odt({ body: t('text'), members }))).to.equal('a\n\nb\n\ntext\n');
  });
});

describe('headers and footers of RTF files', () => {
  const rtf = (body: string): Buffer => Buffer.from(String.raw`{\rtf1\ansi ${body}}`, 'latin1');
  const markdown = (body: string): Promise<string> => markdownBy(openRtf, rtf(body));

  it('stand before and behind their section, once', async () => {
    const first = String.raw`\sectd{\header\pard Invoice 4711\par}{\footer\pard IBAN 1\par}\pard one\par\sect`;
    expect(await markdown(first + String.raw`\sectd{\header\pard Annex\par}\pard two\par`)).to.equal(
      'Invoice 4711\n\none\n\nIBAN 1\n\nAnnex\n\ntwo\n',
    );
  });

  it('are those of the pages that there are', async () => {
    const heads = String.raw`{\headerf first\par}{\headerr right\par}{\headerl left\par}`;
    expect(await markdown(String.raw`${heads}\pard text\par`)).to.equal('text\n');
    expect(await markdown(String.raw`\facingp\sectd\titlepg ${heads}\pard text\par`)).to.equal(
      'first\n\nright\n\nleft\n\ntext\n',
    );
  });

  it('count no pages', async () => {
    const count = String.raw`Page {\field{\*\fldinst PAGE}{\fldrslt 2}} of {\field{\*\fldinst NUMPAGES}{\fldrslt 3}}`;
    expect(
      await markdown(String.raw`{\header\pard ${count}\par}{\footer ACME\tab\chpgn\par}\pard text\par`),
    ).to.equal('text\n\nACME\n');
  });

  it('have tables, and stand in each other without harm', async () => {
    const table = String.raw`\trowd\cellx1\cellx2\pard\intbl a\cell b\cell\row\pard`;
    expect(await markdown(String.raw`{\header ${table}\par}\pard text\par`)).to.equal('a\n\nb\n\ntext\n');
    const nested = String.raw`{\header x`.repeat(200) + '}'.repeat(200);
    expect(await markdown(String.raw`${nested}\pard text\par`)).to.contain('text');
  });
});

describe('headers and footers of Word 97 documents', () => {
  const markdown = (letterheads: Letterheads): Promise<string> =>
    markdownBy(openDoc, wordFile({ paragraphs: [{ runs: [{ text: 'text' }] }], letterheads }));

  it('stand before and behind the text, of first, odd and even pages', async () => {
    expect(await markdown({ header: 'Invoice 4711', footer: 'VAT DE1' })).to.equal(
      'Invoice 4711\n\ntext\n\nVAT DE1\n',
    );
    const all = { evenHeader: 'even', header: 'odd', firstHeader: 'first', firstFooter: 'end' };
    expect(await markdown(all)).to.equal('first\n\nodd\n\neven\n\ntext\n\nend\n');
  });

  it('count no pages', async () => {
    const page = '\u0013 PAGE \u00142\u0015';
    expect(await markdown({ header: `ACME, Seite ${page} von 3`, footer: `- ${page} -` })).to.equal(
      'ACME\n\ntext\n',
    );
  });

  it('never crash for a changed byte', async () => {
    const whole = wordFile({
      paragraphs: [{ runs: [{ text: 'text' }] }],
      letterheads: { header: 'a', evenFooter: 'b', firstHeader: 'c' },
    });
    for (let at = 30; at < whole.length; at += 23) {
      const changed = Buffer.from(whole);
      changed.writeUInt8((changed.readUInt8(at) + 101) & 0xff, at);
      const opened = await openedBy(openDoc, changed);
      if ('kind' in opened) expect(opened.kind).to.equal('unreadable');
    }
  });
});
