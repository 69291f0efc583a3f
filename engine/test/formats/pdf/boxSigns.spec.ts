import { expect } from 'chai';
import { boxSigns } from '../../../formats/pdf/boxSigns.ts';
import { pdfWords } from '../../../formats/pdf/pdfWords.ts';
import type { ParsedPage, TextItem } from '../../../recognition/liteparse.ts';

const item = (text: string, fontName: string): TextItem => ({
  text,
  fontName,
  x: 0,
  y: 0,
  width: 9,
  height: 9,
});
const pageOf = (...textItems: readonly TextItem[]): ParsedPage => ({
  pageNum: 1,
  width: 100,
  height: 100,
  text: '',
  textItems,
});

describe('check boxes that a font of symbols draws', () => {
  const empty = item('\uf0a8', 'ABCDEF+Wingdings-Regular');

  it('are the signs of Unicode', () => {
    for (const ticked of ['\uf0fe', '\uf0fd', '\uf078', 'x']) {
      const page = pageOf(item(ticked, 'Wingdings'), item('Quay', 'Arial'), empty, item('x', 'Arial'));
      expect(pdfWords(page).map(({ text }) => text)).to.deep.equal(['☒', 'Quay', '☐', 'x']);
    }
  });

  it('stay the marks of a list where none is ticked', () => {
    expect(boxSigns(pageOf(empty, item('Quay', 'Arial')))).to.equal(undefined);
  });
});
