import { expect } from 'chai';
import { openDocx } from '../../formats/docx/openDocx.ts';
import { plainTextOf } from '../../document/plainText.ts';
import { documentBy, docx, markdownBy, openedBy, p, r, type DocxContent } from '../support/officeFiles.ts';

const markdown = (content: DocxContent): Promise<string> => markdownBy(openDocx, docx(content));
const style = (id: string): string => `<w:pStyle w:val="${id}"/>`;
const styled = (id: string, name: string, inner = ''): string =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${inner}</w:style>`;
const numbered = (id: number, level = 0): string =>
  `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${id}"/></w:numPr>`;
const level = (at: number, format: string, text: string): string =>
  `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`;
const NUMBERING = `<w:abstractNum w:abstractNumId="0">${level(0, 'decimal', '%1.')}${level(1, 'decimal', '%1.%2')}\
${level(2, 'lowerLetter', '(%3)')}</w:abstractNum>
  <w:abstractNum w:abstractNumId="1">${level(0, 'bullet', '•')}${level(1, 'bullet', 'o')}</w:abstractNum>
  <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
  <w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride \
w:val="5"/></w:lvlOverride></w:num>`;
const cell = (content: string, properties = ''): string =>
  `<w:tc><w:tcPr>${properties}</w:tcPr>${content.startsWith('<') ? content : p(content)}</w:tc>`;
const row = (...cells: readonly string[]): string => `<w:tr>${cells.join('')}</w:tr>`;
const table = (...rows: readonly string[]): string => `<w:tbl>${rows.join('')}</w:tbl>`;

describe('headings of Word documents', () => {
  it('stand at the level of their style, its base or their own outline', async () => {
    const styles =
      styled('A', 'heading 1') +
      styled('B', 'Chapter', '<w:basedOn w:val="A"/>') +
      styled('C', 'Clause', '<w:pPr><w:outlineLvl w:val="2"/></w:pPr>');
    const body =
      p('One', style('A')) +
      p('Two', style('B')) +
      p('Three', style('C')) +
      p('Four', '<w:outlineLvl w:val="3"/>') +
      p('Not', `${style('A')}<w:outlineLvl w:val="9"/>`);
    expect(await markdown({ body, styles })).to.equal('# One\n\n# Two\n\n### Three\n\n#### Four\n\nNot\n');
  });

  for (const id of ['berschrift2', 'Titre2', 'Heading2'])
    it(`are known by the style id ${id} alone`, async () => {
      expect(await markdown({ body: p('Name', style(id)) })).to.equal('## Name\n');
    });

  it('move one level below a title, and keep their visible numbers', async () => {
    const styles =
      styled('T', 'Title') +
      styled('H', 'heading 1', `<w:pPr>${numbered(1)}<w:outlineLvl w:val="0"/></w:pPr>`);
    const body = p('Report', style('T')) + p('Scope', style('H')) + p('Terms', style('H'));
    expect(await markdown({ body, styles, numbering: NUMBERING })).to.equal(
      '# Report\n\n## 1. Scope\n\n## 2. Terms\n',
    );
  });
});

describe('lists of Word documents', () => {
  it('are nested and numbered as they are seen', async () => {
    const body = [
      p('first', numbered(1)),
      p('second', numbered(1)),
      p('inner', numbered(1, 1)),
      p('letter', numbered(1, 2)),
      p('third', numbered(1)),
      p('other', numbered(3)),
    ].join('');
    expect(await markdown({ body, numbering: NUMBERING })).to.equal(
      '1. first\n2. second\n    - 2.1 inner\n        - (a) letter\n3. third\n5. other\n',
    );
  });

  it('go on after a paragraph, and begin at the left whatever their level', async () => {
    const body = p('a', numbered(2, 1)) + p('between') + p('b', numbered(1)) + p('no item', numbered(0));
    expect(await markdown({ body, numbering: NUMBERING })).to.equal('- a\n\nbetween\n\n1. b\n\nno item\n');
  });
});

describe('text of Word documents', () => {
  it('has emphasis on whole words only', async () => {
    const body = p(
      r('A ') +
        r('bold ', '<w:b/>') +
        r('word', '<w:b/>') +
        r(', half', '<w:i/>') +
        r('way') +
        r(' off', '<w:b w:val="0"/>'),
    );
    expect(await markdown({ body })).to.equal('A **bold word**, halfway off\n');
  });

  it('escapes what would be markup', async () => {
    expect(await markdown({ body: p('1. *no* &lt;b&gt; # list') })).to.equal('1\\. \\*no\\* \\<b> # list\n');
  });

  it('links only where links may go', async () => {
    const link = (id: string): string => `<w:hyperlink r:id="${id}">${r('here')}</w:hyperlink>`;
    const field =
      '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>HYPERLINK ' +
      '"https://b.example"</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>' +
      `${r('there')}<w:r><w:fldChar w:fldCharType="end"/></w:r>`;
    const links = { a: 'https://a.example/x (1)', b: 'javascript:alert(1)' };
    expect(await markdown({ body: p(link('a') + r(' ') + link('b') + r(' ') + field), links })).to.equal(
      '[here](https://a.example/x%20%281%29) here [there](https://b.example)\n',
    );
  });

  it('leaves deleted text out and keeps inserted text', async () => {
    const body = p(
      `<w:ins>${r('new')}</w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>` +
        `<w:moveFrom>${r('gone')}</w:moveFrom>${r(' text')}`,
    );
    expect(await markdown({ body })).to.equal('new text\n');
  });

  it('joins paragraphs whose end was deleted', async () => {
    expect(await markdown({ body: p('one ', '<w:rPr><w:del/></w:rPr>') + p('two') })).to.equal('one two\n');
  });

  const hidden: readonly (readonly [string, string])[] = [
    ['hidden', '<w:vanish/>'],
    ['tiny', '<w:sz w:val="2"/>'],
    ['white', '<w:color w:val="FFFFFF"/>'],
  ];
  for (const [name, properties] of hidden)
    it(`leaves ${name} text out, and says so`, async () => {
      const document = await documentBy(openDocx, docx({ body: p(r('seen') + r(' secret', properties)) }));
      expect(plainTextOf(document)).to.equal('seen\n');
      expect(document.warnings.map(({ code }) => code)).to.deep.equal(['hidden_text']);
    });

  it('keeps white text on a dark ground', async () => {
    const white = r('white', '<w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="000000"/>');
    expect(await markdown({ body: p(white) })).to.equal('white\n');
  });

  it('has its notes at the end, in the order of their marks', async () => {
    const mark = (kind: string, id: number): string => `<w:r><w:${kind}Reference w:id="${id}"/></w:r>`;
    const footnotes = `<w:footnote w:id="7">${p('Second.')}</w:footnote>`;
    const endnotes = `<w:endnote w:id="7">${p('First.')}</w:endnote>`;
    const body = p(r('A') + mark('endnote', 7) + r(' b') + mark('footnote', 7));
    const content = { body, footnotes, endnotes };
    expect(await markdown(content)).to.equal('A[^1] b[^2]\n\n[^1]: First.\n\n[^2]: Second.\n');
    expect(plainTextOf(await documentBy(openDocx, docx(content)))).to.equal(
      'A[1] b[2]\n\n[1] First.\n\n[2] Second.\n',
    );
  });

  it('shows what is raised, equations, check boxes and symbols', async () => {
    const body =
      p(r('10') + r('6', '<w:vertAlign w:val="superscript"/>') + r(' m')) +
      p(
        '<m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>',
      ) +
      p('<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>' + r(' yes'));
    expect(await markdown({ body })).to.equal('10⁶ m\n\n(a+b)/2\n\n☑ yes\n');
  });

  it('has the text of frames once, and the descriptions of images that people wrote', async () => {
    const frame = `<w:txbxContent>${p('framed')}</w:txbxContent>`;
    const image = (text: string): string =>
      `<w:r><w:drawing><wp:inline><wp:docPr id="1" descr="${text}"/></wp:inline></w:drawing></w:r>`;
    const body =
      p(
        `${r('before')}<w:r><mc:AlternateContent><mc:Choice><w:drawing>${frame}</w:drawing>` +
          `</mc:Choice><mc:Fallback><w:pict>${frame}</w:pict></mc:Fallback></mc:AlternateContent>` +
          '</w:r>',
      ) +
      p(image('A plan of the house')) +
      p(image('A cat. Description automatically generated'));
    expect(await markdown({ body })).to.equal('before\n\nframed\n\nA plan of the house\n');
  });
});

it('text that Word documents draw as a picture is read, and watermarks are not', async () => {
  const shape = (id: string, text: string): string =>
    `<w:r><w:pict><v:shape id="${id}"><v:textpath string="${text}"/></v:shape></w:pict></w:r>`;
  const body = p('a') + p(shape('Art1', 'ACME')) + p(shape('PowerPlusWaterMarkObject1', 'DRAFT'));
  expect(await markdown({ body })).to.equal('a\n\nACME\n');
});

describe('tables of Word documents', () => {
  it('have cells that span columns and rows', async () => {
    const merge = (value: string): string => `<w:vMerge w:val="${value}"/>`;
    const body = table(
      row(cell('a'), cell('b', '<w:gridSpan w:val="2"/>')),
      row(cell('c', merge('restart')), cell('d'), cell('e')),
      row(cell('', merge('continue')), cell('f|g'), cell(p('x') + p('y'))),
      row('<w:trPr><w:gridBefore w:val="1"/></w:trPr>' + cell('h')),
    );
    expect(await markdown({ body })).to.equal(
      '| a | b | b |\n| --- | --- | --- |\n| c | d | e |\n| c | f\\|g | x y |\n|  | h |  |\n',
    );
  });

  it('of one cell are frames; of others inside, the text', async () => {
    const inner = table(row(cell('1'), cell('2')), row(cell('3'), cell('4')));
    const body = table(row(cell('boxed'))) + p('and') + table(row(cell('a'), cell(inner + p('b'))));
    expect(await markdown({ body })).to.equal('boxed\n\nand\n\n| a | 1 2 3 4 b |\n| --- | --- |\n');
  });

  it('keep deleted rows out', async () => {
    const body = table(
      row(cell('a'), cell('b')),
      row('<w:trPr><w:del/></w:trPr>' + cell('c'), cell('d')),
      row(cell('e'), cell('f')),
    );
    expect(await markdown({ body })).to.equal('| a | b |\n| --- | --- |\n| e | f |\n');
  });
});

describe('Word files that are no documents', () => {
  const entity = '<!DOCTYPE a [<!ENTITY b "c">]><w:document/>';
  const files: readonly (readonly [string, Buffer, RegExp])[] = [
    ['a document type', docx({ body: '', members: { 'word/document.xml': entity } }), /document type/],
    ['too deep nesting', docx({ body: '<w:sdt>'.repeat(5000) + '</w:sdt>'.repeat(5000) }), /nested/],
    ['an early end', docx({ body: '', members: { 'word/document.xml': '<a><b>' } }), /too early/],
    ['a truncated archive', docx({ body: p('a') }).subarray(0, 200), /damaged/],
    [
      'a table that claims too much',
      docx({
        body: table(
          ...Array.from({ length: 2 }, () =>
            row(...Array.from({ length: 63 }, () => cell('a', '<w:gridSpan w:val="63"/>'))),
          ),
        ),
      }),
      /too large/,
    ],
  ];
  for (const [name, bytes, detail] of files)
    it(`are refused for ${name}`, async () => {
      const opened = await openedBy(openDocx, bytes);
      expect(opened).to.include({ kind: 'unreadable' });
      expect(opened).to.have.property('detail').that.matches(detail);
    });

  it('survive styles that are based on each other and fields that do not end', async () => {
    const styles = styled('A', 'a', '<w:basedOn w:val="B"/>') + styled('B', 'b', '<w:basedOn w:val="A"/>');
    const body = p(`<w:r><w:fldChar w:fldCharType="begin"/></w:r>${r('lost')}`, style('A')) + p('kept');
    expect(await markdown({ body, styles })).to.equal('kept\n');
  });

  it('are read alike with other prefixes and in the strict form', async () => {
    const strict =
      '<x:document xmlns:x="http://purl.oclc.org/ooxml/wordprocessingml/main"><x:body><x:p>' +
      '<x:r><x:t>a</x:t></x:r></x:p></x:body></x:document>';
    expect(await markdown({ body: '', members: { 'word/document.xml': strict } })).to.equal('a\n');
  });
});

describe('controls of Word documents that nobody filled in', () => {
  const control = (inner: string, isFilled: boolean): string =>
    `<w:sdt><w:sdtPr><w:showingPlcHdr w:val="${isFilled ? '0' : '1'}"/></w:sdtPr>` +
    `<w:sdtContent>${inner}</w:sdtContent></w:sdt>`;

  it('show nothing: their prompt is no value', async () => {
    const prompt = 'Click or tap here to enter text.';
    const body =
      p(`${r('VAT number: ')}${control(r(prompt), false)}`) +
      p(`${r('Country: ')}${control(r('Latvia'), true)}`) +
      control(p(prompt), false) +
      table(
        row(cell('Terms'), control(cell(prompt), false), cell('Net')),
        row(cell('a'), cell('b'), cell('c')),
      );
    expect(await markdown({ body })).to.equal(
      'VAT number:\n\nCountry: Latvia\n\n| Terms |  | Net |\n| --- | --- | --- |\n| a | b | c |\n',
    );
  });
});
