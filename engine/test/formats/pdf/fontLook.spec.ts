import { expect } from 'chai';
import { fontLook } from '../../../formats/pdf/inside/fontLook.ts';

const lookOf = (fontName: string, fontWeight?: number): string => {
  const { bold, italic, mono } = fontLook(fontName, fontWeight);
  return [bold && 'bold', italic && 'italic', mono && 'mono'].filter(Boolean).join(' ');
};

describe('the look of a font', () => {
  const names: readonly (readonly [string, string])[] = [
    ['ABCDEF+Arial-BoldMT', 'bold'],
    ['TimesNewRoman,BoldItalic', 'bold italic'],
    ['HelveticaNeueLTStd-BdCn', 'bold'],
    ['MyriadPro-SemiboldIt', 'bold italic'],
    ['MinionPro-It', 'italic'],
    ['NimbusRomNo9L-Medi', 'bold'],
    ['NimbusRomNo9L-ReguItal', 'italic'],
    ['CMBX12', 'bold'],
    ['CMBXTI10', 'bold italic'],
    ['CMTI10', 'italic'],
    ['CMTT10', 'mono'],
    ['CMR10', ''],
    ['Courier-Oblique', 'italic mono'],
    ['HelveticaNeue-Medium', ''],
    ['Itim-Regular', ''],
  ];
  for (const [name, look] of names)
    it(`is ${look === '' ? 'plain' : look} of ${name}`, () => expect(lookOf(name)).to.equal(look));

  it('is not told by the weight where the name says a plain style', () => {
    expect([lookOf('AGaramondPro-Regular', 768), lookOf('Helvetica', 695)]).to.deep.equal(['', '']);
  });

  it('is told by the weight where the name says nothing', () => {
    expect([lookOf('CIDFont+F1', 700), lookOf('TTF9t00', 640), lookOf('F2', 400)]).to.deep.equal([
      'bold',
      'bold',
      '',
    ]);
  });
});
