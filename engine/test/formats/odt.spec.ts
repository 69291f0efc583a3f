import { expect } from 'chai';
import { openOdt } from '../../formats/odt/openOdt.ts';
import { plainTextOf } from '../../document/plainText.ts';
import { documentBy, markdownBy, OASIS, odt, openedBy, type OdtContent } from '../support/officeFiles.ts';

const markdown = (content: OdtContent): Promise<string> => markdownBy(openOdt, odt(content));
const p = (content: string, style = ''): string => `<text:p text:style-name="${style}">${content}</text:p>`;
const span = (content: string, style: string): string =>
  `<text:span text:style-name="${style}">${content}</text:span>`;
const look = (name: string, properties: string): string =>
  `<style:style style:name="${name}" style:family="text"><style:text-properties ${properties}/></style:style>`;
const list = (style: string, ...items: readonly string[]): string =>
  `<text:list text:style-name="${style}">` +
  `${items.map((item) => `<text:list-item>${item}</text:list-item>`).join('')}</text:list>`;
const LISTS = `<text:list-style style:name="N">
    <text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>
    <text:list-level-style-number text:level="2" style:num-format="1" text:display-levels="2"/>
    <text:list-level-style-number text:level="3" style:num-format="a" style:num-prefix="(" style:num-suffix=")"/>
  </text:list-style>
<text:list-style style:name="B"><text:list-level-style-bullet text:level="1" \
text:bullet-char="•"/></text:list-style>`;
const cell = (content: string, attributes = ''): string =>
  `<table:table-cell ${attributes}>${p(content)}</table:table-cell>`;
const COVERED = '<table:covered-table-cell/>';
const table = (...rows: readonly string[]): string =>
  `<table:table>${rows.map((row) => `<table:table-row>${row}</table:table-row>`).join('')}</table:table>`;

describe('OpenDocument texts', () => {
  it('have headings by outline level, one below their title', async () => {
    const styles =
      '<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>' +
      '<style:style style:name="Title" style:family="paragraph"/>';
    const body =
      p('Report', 'P1') +
      '<text:h text:outline-level="1">One</text:h><text:h text:outline-level="2">Two</text:h>';
    expect(await markdown({ body, styles })).to.equal('# Report\n\n## One\n\n### Two\n');
  });

  it('show what stands in the fields of forms, and which boxes are ticked', async () => {
    const form = `xmlns:form="${OASIS}:form:1.0"`;
    const forms =
      `<office:forms ${form}><form:form><form:text form:id="c1" form:value="old" form:current-value="Ann Ames"/>` +
      '<form:checkbox form:id="c2" form:label="by post" form:current-state="checked"/>' +
      '<form:radio xml:id="c3" form:id="c3" form:label="by mail"/>' +
      '<form:listbox form:id="c4"><form:option form:label="North"/>' +
      '<form:option form:label="South" form:current-selected="true"/></form:listbox>' +
      '<form:password form:id="c5" form:current-value="secret"/></form:form></office:forms>';
    const field = (id: string): string => `<draw:control draw:control="${id}"/>`;
    const body =
      forms +
      p(`Name: ${field('c1')}`) +
      p(`Sent ${field('c2')}`) +
      p(field('c3')) +
      field('c4') +
      field('c5');
    expect(await markdown({ body })).to.equal('Name: Ann Ames\n\nSent ☒ by post\n\n☐ by mail\n\nSouth\n');
  });

  it('show the titles and the values of charts', async () => {
    const row = (...texts: readonly string[]): string =>
      `<table:table-row>${texts.map((text) => cell(text)).join('')}</table:table-row>`;
    const chart =
      `<office:document-content xmlns:office="${OASIS}:office:1.0" xmlns:text="${OASIS}:text:1.0" ` +
      `xmlns:table="${OASIS}:table:1.0" xmlns:chart="${OASIS}:chart:1.0"><office:body><office:chart><chart:chart>` +
      '<chart:title><text:p>Catch by year</text:p></chart:title>' +
      `<table:table><table:table-header-rows>${row('', 'Cod', 'Herring')}</table:table-header-rows>` +
      `<table:table-rows>${row('2019', '12', '7.5')}${row('2020', '9', '8')}</table:table-rows></table:table>` +
      '</chart:chart></office:chart></office:body></office:document-content>';
    const body = p('<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>');
    expect(await markdown({ body, members: { 'Object 1/content.xml': chart } })).to.equal(
      'Catch by year\n\n|  | Cod | Herring |\n| --- | --- | --- |\n| 2019 | 12 | 7.5 |\n| 2020 | 9 | 8 |\n',
    );
  });

  it('number headings as the outline says', async () => {
    const outline =
      '<text:outline-style><text:outline-level-style text:level="1" style:num-format="1"/>' +
      '<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>' +
      '</text:outline-style>';
    const h = (level: number, text: string): string =>
      `<text:h text:outline-level="${level}">${text}</text:h>`;
    expect(await markdown({ body: h(1, 'a') + h(2, 'b') + h(2, 'c') + h(1, 'd'), styles: outline })).to.equal(
      '# 1 a\n\n## 1.1 b\n\n## 1.2 c\n\n# 2 d\n',
    );
  });

  it('have lists with their numbers, levels and continued lists', async () => {
    const inner = list('', p('in'), p('deep') + list('', p('letter'))).replaceAll(' text:style-name=""', '');
    const body =
      list('N', p('a'), p('b') + inner, p('c') + p('more')) +
      p('between') +
      list('N', p('d')).replace('<text:list ', '<text:list text:continue-numbering="true" ') +
      list('B', p('e'));
    expect(await markdown({ body, styles: LISTS })).to.equal(
      '1. a\n2. b\n    - 2.1 in\n    - 2.2 deep\n        - (a) letter\n3. c\n\nmore\n\nbetween\n\n4. d\n\n- e\n',
    );
  });

  it('have emphasis, links, spaces, tabs and line breaks', async () => {
    const styles = look('T1', 'fo:font-weight="bold"') + look('T2', 'style:text-position="super 58%"');
    const body = p(
      `a ${span('bold', 'T1')}<text:s text:c="2"/>b<text:tab/>10${span('2', 'T2')}` +
        '<text:line-break/><text:a xlink:href="https://a.example/">here</text:a> <text:a ' +
        'xlink:href="file:///etc">there</text:a>',
    );
    expect(await markdown({ body, styles })).to.equal(
      'a **bold**  b 10²\n[here](https://a.example/) there\n',
    );
  });

  it('leave tracked deletions and comments out', async () => {
    const body =
      `<text:tracked-changes><text:changed-region><text:deletion>${p('old')}</text:deletion>` +
      '</text:changed-region></text:tracked-changes>' +
      p('new<office:annotation>' + p('remark') + '</office:annotation>');
    expect(await markdown({ body })).to.equal('new\n');
  });

  it('leave hidden text out, and say so', async () => {
    const document = await documentBy(
      openOdt,
      odt({ body: p(`seen${span(' not', 'H')}`), styles: look('H', 'text:display="none"') }),
    );
    expect(plainTextOf(document)).to.equal('seen\n');
    expect(document.warnings.map(({ code }) => code)).to.deep.equal(['hidden_text']);
  });

  it('leave white text on white out, and no other', async () => {
    const white = look('W', 'fo:color="#ffffff"');
    const dark =
      look('D', 'fo:color="#ffffff" fo:background-color="#000080"') + look('B', 'fo:color="#000000"');
    const filled =
      '<style:style style:name="F" style:family="table-cell"><style:table-cell-properties ' +
      'fo:background-color="#000080"/></style:style>';
    const cell = (name: string): string =>
      `<table:table><table:table-row><table:table-cell${name}>${p(span('cell', 'W'))}</table:table-cell>` +
      `<table:table-cell>${p('b')}</table:table-cell></table:table-row></table:table>`;
    const styles = white + dark + filled;
    const inner = `<text:span text:style-name="W">no<text:span text:style-name="B"> black</text:span></text:span>`;
    const body = p(`seen${span(' not', 'W')}${span(' dark', 'D')}${inner}`);
    const document = await documentBy(openOdt, odt({ body, styles }));
    expect(plainTextOf(document)).to.equal('seen dark black\n');
    expect(document.warnings.map(({ code }) => code)).to.deep.equal(['hidden_text']);
    expect(await markdown({ body: cell(''), styles })).not.to.contain('cell');
    expect(await markdown({ body: cell(' table:style-name="F"'), styles })).to.contain('cell');
    const page =
      '<style:page-layout style:name="P"><style:page-layout-properties fo:background-color="#000080"/>';
    const members = {
      'styles.xml':
        `<office:document-styles xmlns:office="${OASIS}:office:1.0" xmlns:style="${OASIS}:style:1.0" ` +
        `xmlns:fo="${OASIS}:xsl-fo-compatible:1.0"><office:automatic-styles>${page}</style:page-layout>` +
        '</office:automatic-styles></office:document-styles>',
    };
    expect(await markdown({ body: p(span('light', 'W')), styles, members })).to.equal('light\n');
  });

  it('have notes at the end, frames and descriptions after their paragraph', async () => {
    const note =
      '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation>' +
      `<text:note-body>${p('Why.')}</text:note-body></text:note>`;
    const frame = `<draw:frame><draw:text-box>${p('framed')}</draw:text-box></draw:frame>`;
    const image = '<draw:frame><draw:image/><svg:desc>A map</svg:desc></draw:frame>';
    expect(await markdown({ body: p(`a${note}${frame}${image}`) })).to.equal(
      'a[^1]\n\nframed\n\nA map\n\n[^1]: Why.\n',
    );
  });

  it('have equations as text', async () => {
    const math =
      '<math xmlns="http://www.w3.org/1998/Math/MathML"><msup><mi>x</mi><mn>2</mn></msup><mo>' +
      '=</mo><mfrac><mn>1</mn><mn>4</mn></mfrac></math>';
    const body = p('<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>');
    expect(await markdown({ body, members: { 'Object 1/content.xml': math } })).to.equal('x^2 = 1/4\n');
  });

  it('have tables with cells that span columns and rows', async () => {
    const body = table(
      cell('a') + cell('b', 'table:number-columns-spanned="2"') + COVERED,
      cell('c', 'table:number-rows-spanned="2"') + cell('d', 'table:number-columns-repeated="2"'),
      COVERED + cell('e') + cell('f'),
    );
    expect(await markdown({ body })).to.equal(
      '| a | b | b |\n| --- | --- | --- |\n| c | d | d |\n| c | e | f |\n',
    );
  });
});

describe('OpenDocument files that are none', () => {
  const repeated = table(cell('a', 'table:number-columns-repeated="9999999"'));
  const rows = table(cell('a') + cell('b')).replace(
    '<table:table-row>',
    '<table:table-row table:number-rows-repeated="9999">',
  );
  const files: readonly (readonly [string, Buffer, RegExp])[] = [
    ['columns without end', odt({ body: repeated }), /too large/],
    [
      'rows without end',
      odt({
        body: Array.from({ length: 60 }, () => rows)
          .join('')
          .replaceAll('</table:table><table:table>', ''),
      }),
      /too large/,
    ],
    ['no text', odt({ body: '', members: { 'content.xml': '' } }), /damaged/],
    [
      'a document type',
      odt({ body: '', members: { 'content.xml': '<!DOCTYPE a><office:document-content/>' } }),
      /document type/,
    ],
    [
      'encryption',
      odt({ body: '', members: { 'META-INF/manifest.xml': '<m><manifest:encryption-data/></m>' } }),
      /password/,
    ],
    ['truncation', odt({ body: p('a') }).subarray(0, 300), /damaged/],
  ];
  for (const [name, bytes, detail] of files)
    it(`are refused for ${name}`, async () => {
      const opened = await openedBy(openOdt, bytes);
      expect(opened).to.include({ kind: 'unreadable' });
      expect(opened).to.have.property('detail').that.matches(detail);
    });
});

describe('places of OpenDocument texts that nobody filled in', () => {
  it('show nothing: their prompt is no value', async () => {
    const loext = 'xmlns:loext="urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"';
    const body =
      '<text:p>Name: <text:placeholder text:placeholder-type="text">&lt;Your name&gt;</text:placeholder></text:p>' +
      `<text:p>Terms: <loext:content-control ${loext} loext:showing-place-holder="true">Choose` +
      ' an item</loext:content-control></text:p>' +
      `<text:p>Country: <loext:content-control ${loext}>Latvia</loext:content-control></text:p>`;
    expect(await markdownBy(openOdt, odt({ body }))).to.equal('Name:\n\nTerms:\n\nCountry: Latvia\n');
  });
});
