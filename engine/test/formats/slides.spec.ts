import { expect } from 'chai';
import { openOdp } from '../../formats/slides/openSlides.ts';
import { openPptx } from '../../formats/slides/openPptx.ts';
import { sniff } from '../../formats/sniff.ts';
import { documentBy, markdownBy, openedBy, zipOf } from '../support/officeFiles.ts';
import { odp, pptx, run, shape, text, type PptxContent } from '../support/slideFiles.ts';

const markdown = (content: PptxContent): Promise<string> => markdownBy(openPptx, pptx(content));
const title = (content: string): string => shape(text(content), { kind: 'title' });

describe('PowerPoint presentations', () => {
  it('have a page for each slide, titles as headings, notes at the end', async () => {
    const slides = [
      { shapes: title('One') + shape(text('first')), notes: 'say hello' },
      { shapes: title('Two') + shape(text('second'), { kind: 'ftr' }) },
    ];
    const document = await documentBy(openPptx, pptx({ slides }));
    expect(document.pages).to.have.length(2);
    expect(await markdown({ slides })).to.equal(
      '<!-- page 1 -->\n\n# One\n\nfirst\n\nNotes: say hello\n\n<!-- page 2 -->\n\n# Two\n',
    );
  });

  it('have bullets where the paragraph, the layout or the master says so', async () => {
    const styles =
      '<p:bodyStyle><a:lvl1pPr><a:buChar char="•"/></a:lvl1pPr><a:lvl2pPr><a:buChar ' +
      'char="–"/></a:lvl2pPr></p:bodyStyle>';
    const shapes = shape(
      text('a') + text('b', 'lvl="1"') + text('plain', '<a:buNone/>') + text('', '') + text('c'),
      { kind: 'body' },
    );
    expect(await markdown({ slides: [{ shapes }], styles })).to.equal('- a\n    - b\n\nplain\n\n- c\n');
    expect(await markdown({ slides: [{ shapes: shape(text('a')) }], styles }), 'a box of its own').to.equal(
      'a\n',
    );
  });

  it('number items as they are seen', async () => {
    const numbered = (type: string, start = 1): string => `<a:buAutoNum type="${type}" startAt="${start}"/>`;
    const shapes = shape(
      text('a', numbered('arabicPeriod')) +
        text('b', numbered('arabicPeriod')) +
        text('rest', '') +
        text('c', numbered('alphaLcParenR', 3)),
    );
    expect(await markdown({ slides: [{ shapes }] })).to.equal('1. a\n2. b\n\nrest\n\n- c) c\n');
  });

  it('read shapes from top to bottom, with places from the layout, the title first', async () => {
    const shapes =
      shape(text('low'), { at: [0, 900] }) +
      shape(text('right'), { at: [500, 100] }) +
      shape(text('left'), { at: [0, 100] }) +
      shape(text('middle'), { kind: 'body' }) +
      title('Title');
    const layout = shape('', { kind: 'body', at: [0, 500] });
    expect(await markdown({ slides: [{ shapes }], layout })).to.equal(
      '# Title\n\nleft\n\nright\n\nmiddle\n\nlow\n',
    );
  });

  it('have tables with merged cells, looks, links and line breaks', async () => {
    const cell = (content: string, spans = ''): string =>
      `<a:tc ${spans}><a:txBody>${text(content)}</a:txBody></a:tc>`;
    const table = `<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tblPr firstRow="1"/>
      <a:tr>${cell('wide', 'gridSpan="2"')}${cell('', 'hMerge="1"')}${cell('c')}</a:tr>
      <a:tr>${cell('tall', 'rowSpan="2"')}${cell('x')}${cell('y')}</a:tr>
      <a:tr>${cell('', 'vMerge="1"')}${cell('z')}${cell('w')}</a:tr>
      </a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;
    const link = '<a:hlinkClick r:id="h"/>';
    const linked = shape(
      text(run('bold', 'b="1"') + run(' and ') + run('there', link) + '<a:br/>' + run('below')),
    );
    const slides = [{ shapes: linked + table, near: [['h', 'hyperlink', 'https://example.com/']] as const }];
    expect(await markdown({ slides })).to.equal(
      '**bold** and [there](https://example.com/)\nbelow\n\n' +
        '| wide | wide | c |\n| --- | --- | --- |\n| tall | x | y |\n| tall | z | w |\n',
    );
  });

  it('have the texts of diagrams, groups and alternatives', async () => {
    const data = `<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"
      xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><dgm:ptLst>
      <dgm:pt><dgm:t>${text('step')}</dgm:t></dgm:pt><dgm:pt><dgm:t>${text('')}</dgm:t></dgm:pt>
      </dgm:ptLst></dgm:dataModel>`;
    const diagram =
      '<p:graphicFrame><a:graphic><a:graphicData><dgm:relIds r:dm="d"/></a:graphicData></a:graphic></p:graphicFrame>';
    const mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"';
    const shapes =
      `<p:grpSp>${shape(text('inner'))}</p:grpSp>${diagram}` +
      `<mc:AlternateContent ${mc}><mc:Choice>${shape(text('new'))}</mc:Choice>` +
      `<mc:Fallback>${shape(text('old'))}</mc:Fallback></mc:AlternateContent>`;
    const slides = [{ shapes, near: [['d', 'diagramData', '../diagrams/data1.xml']] as const }];
    expect(await markdown({ slides, members: { 'ppt/diagrams/data1.xml': data } })).to.equal(
      'inner\n\n- step\n\nnew\n',
    );
  });

  it('leave hidden slides out, and say so', async () => {
    const slides = [{ shapes: shape(text('shown')) }, { shapes: shape(text('secret')), isHidden: true }];
    const document = await documentBy(openPptx, pptx({ slides }));
    expect(document.pages).to.have.length(1);
    expect(document.warnings.map(({ code }) => code)).to.deep.equal(['hidden_text']);
  });

  it('are told from workbooks that they hold, and refused when damaged', async () => {
    const slides = [{ shapes: shape(text('a')) }];
    const bytes = pptx({ slides, members: { 'ppt/embeddings/book.bin': 'PK xl/workbook.xml' } });
    expect(await sniff(bytes, null)).to.include({ format: 'pptx' });
    expect(await openedBy(openPptx, zipOf({ 'ppt/slides/slide1.xml': '<a/>' }))).to.include({
      kind: 'unreadable',
    });
    expect(await openedBy(openPptx, bytes.subarray(0, 300))).to.include({ kind: 'unreadable' });
  });

  it('without a slide have one empty page', async () => {
    const document = await documentBy(openPptx, pptx({ slides: [] }));
    expect(document.pages).to.have.length(1);
    expect(document.warnings.map(({ code }) => code)).to.deep.equal(['no_text_found']);
  });
});

describe('OpenDocument presentations', () => {
  const frame = (content: string, kind = ''): string =>
    `<draw:frame presentation:class="${kind}"><draw:text-box>${content}</draw:text-box></draw:frame>`;
  const p = (content: string): string => `<text:p>${content}</text:p>`;

  it('have a page for each slide, titles as headings, lists and notes', async () => {
    const list = '<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>';
    const notes = `<presentation:notes>${frame(p('aside'), 'notes')}</presentation:notes>`;
    const pages =
      `<draw:page>${frame(p('text'))}${frame(p('First'), 'title')}${frame(p('9'), 'page-number')}${notes}</draw:page>` +
      `<draw:page>${frame(p('Second'), 'title')}${frame(list, 'outline')}</draw:page>`;
    const bytes = odp(pages);
    expect(await sniff(bytes, null)).to.include({ format: 'odp' });
    expect(await markdownBy(openOdp, bytes)).to.equal(
      '<!-- page 1 -->\n\n# First\n\ntext\n\nNotes: aside\n\n<!-- page 2 -->\n\n# Second\n\nitem\n',
    );
  });

  it('leave hidden slides out', async () => {
    const styles =
      '<style:style style:name="dp" style:family="drawing-page"><style:drawing-page-properties ' +
      'presentation:visibility="hidden"/></style:style>';
    const pages =
      `<draw:page draw:style-name="dp">${frame(p('secret'))}</draw:page><draw:page>` +
      `${frame(p('shown'))}</draw:page>`;
    const document = await documentBy(openOdp, odp(pages, styles));
    expect(document.pages).to.have.length(1);
    expect(document.warnings.map(({ code }) => code)).to.deep.equal(['hidden_text']);
  });
});
