import { expect } from 'chai';
import { layoutPages } from '../../layout/pages/layoutPages.ts';
import type { OutlineTitle } from '../../layout/outlined.ts';
import type { PageContent } from '../../layout/content.ts';
import { line, pageOf } from '../support/drawnPages.ts';

const PROSE = ['This is a line of running text that fills the width', 'of its column, and it ends here.'];
const text = (y: number) => PROSE.map((words, i) => line(words, [50, y + 12 * i]));

const headings = (pages: readonly PageContent[], outline: readonly OutlineTitle[] = []): readonly string[] =>
  layoutPages(pages, outline)
    .flat()
    .flatMap((block) => (block.kind === 'heading' ? [`${block.level} ${block.text}`] : []));

describe('headings by what a document says itself', () => {
  it('lie as deep as the numbers of their sections', () => {
    const bold = { bold: true };
    const page = pageOf([
      line('A Report', [50, 30], { size: 20, bold: true }), ...text(60),
      line('1 Introduction', [50, 110], bold), ...text(130),
      line('1.1 Purpose', [50, 180], bold), ...text(200),
      line('1.1.1 Of this part', [50, 250], bold), ...text(270),
      line('2 Results', [50, 320], bold), ...text(340),
    ]); // prettier-ignore
    expect(headings([page])).to.deep.equal([
      '1 A Report',
      '2 1 Introduction',
      '3 1.1 Purpose',
      '4 1.1.1 Of this part',
      '2 2 Results',
    ]);
  });

  it('are those that its outline names, on their pages and as deep as they lie there', () => {
    const first = pageOf([
      line('A Report', [50, 30], { size: 20 }),
      ...text(60),
      line('Aims', [50, 110]),
      ...text(130),
    ]);
    const second = pageOf([
      line('3.2 What we found', [50, 30]),
      ...text(60),
      line('Aims', [50, 110]),
      ...text(130),
    ]);
    const outline = [
      { title: 'AIMS', depth: 1, page: 0 },
      { title: 'What we found', depth: 2, page: 1 },
    ];
    expect(headings([first, second])).to.deep.equal(['1 A Report']);
    expect(headings([first, second], outline)).to.deep.equal(['1 A Report', '2 Aims', '3 3.2 What we found']);
  });

  it('are not captions that an outline names, nor titles that no passage is', () => {
    const page = pageOf([line('Table 3: What was found', [50, 30]), ...text(60)]);
    const outline = [
      { title: 'Table 3: What was found', depth: 1, page: 0 },
      { title: 'scan0001.pdf', depth: 1, page: undefined },
    ];
    expect(headings([page], outline)).to.deep.equal([]);
  });
});
