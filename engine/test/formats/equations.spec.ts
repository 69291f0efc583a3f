import { expect } from 'chai';
import { openDoc } from '../../formats/doc/openDoc.ts';
import { openDocx } from '../../formats/docx/openDocx.ts';
import { openRtf } from '../../formats/rtf/openRtf.ts';
import { eqText } from '../../formats/office/eqField.ts';
import { docx, markdownBy, p, r } from '../support/officeFiles.ts';
import { wordFile } from '../support/wordFiles.ts';

describe("equations of Word's old form", () => {
  const equations: readonly (readonly [string, string | null])[] = [
    [String.raw` EQ \f(1;2) `, '1/2'],
    [String.raw`EQ \f(a+b,2)`, '(a+b)/2'],
    [String.raw`eq \r(3;x) `, '3√(x)'],
    [String.raw`EQ \r(\f(1;2))`, '√(1/2)'],
    [String.raw`EQ x\s\up8(2)`, 'x^2'],
    [String.raw`EQ H\s\do4(2)O`, 'H_2O'],
    [String.raw`EQ \i\su(k=1;n;k)`, '∑_(k=1)^n k'],
    [String.raw`EQ \o\ac(○,1)`, '○1'],
    [String.raw`EQ \x(boxed)`, 'boxed'],
    [String.raw`EQ \b\bc\[(x)`, '[x]'],
    [String.raw`EQ \a\al\co2(1;2;3;4)`, '1; 2; 3; 4'],
    [String.raw`EQ \d\fo10()ab`, 'ab'],
    [String.raw`EQ f(x)\, \(y\)`, 'f(x), (y)'],
    [String.raw`EQ \f(1`, '1/'],
    ['SEQ Figure', null],
    ['EQUATION', null],
  ];
  for (const [instruction, text] of equations)
    it(`are said in a line: ${instruction.trim()}`, () => {
      expect(eqText(instruction)).to.equal(text);
    });

  it('end, however deep they are', () => {
    expect(eqText(`EQ ${String.raw`\f(`.repeat(1000)}`)).to.be.a('string');
    expect(eqText(`EQ ${'('.repeat(9000)}`)).to.be.a('string');
    expect(eqText(`EQ ${String.raw`\b\bc `.repeat(1500)}`)).to.be.a('string');
    expect(eqText(`EQ ${'('.repeat(1_000_000)}`)).to.equal(null);
  });

  it('are seen in DOCX, RTF and DOC, where they have no result', async () => {
    const mark = (type: string): string => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`;
    const field = `${mark('begin')}<w:r><w:instrText>EQ \\f(1;2)</w:instrText></w:r>${mark('end')}`;
    expect(await markdownBy(openDocx, docx({ body: p(r('half: ') + field + r(' l')) }))).to.equal(
      'half: 1/2 l\n',
    );
    const simple = `<w:fldSimple w:instr="EQ \\f(1;2)"/>`;
    expect(await markdownBy(openDocx, docx({ body: p(r('half: ') + simple) }))).to.equal('half: 1/2\n');
    const rtf = String.raw`{\rtf1\ansi half: {\field{\*\fldinst EQ \\f(1;2)}{\fldrslt }} l\par}`;
    expect(await markdownBy(openRtf, Buffer.from(rtf))).to.equal('half: 1/2 l\n');
    const doc = wordFile({ paragraphs: [{ runs: [{ text: 'half: \u0013EQ \\f(1;2)\u0015 l' }] }] });
    expect(await markdownBy(openDoc, doc)).to.equal('half: 1/2 l\n');
  });
});

describe('fields of old forms in RTF files', () => {
  const field = (instruction: string, form: string): string =>
    String.raw`{\rtf1\ansi a {\field{\*\fldinst ${instruction} {\*\formfield{${form}}}}{\fldrslt }} b\par}`;
  const fields: readonly (readonly [string, string, string])[] = [
    ['a ticked box', field('FORMCHECKBOX', String.raw`\fftype1\ffres1\ffdefres0`), 'a ☒ b\n'],
    ['a box as it began', field('FORMCHECKBOX', String.raw`\fftype1\ffres25\ffdefres1`), 'a ☒ b\n'],
    ['an empty box', field('FORMCHECKBOX', String.raw`\fftype1\ffres0\ffdefres1`), 'a ☐ b\n'],
    [
      'a list',
      field('FORMDROPDOWN', String.raw`\fftype2\ffres1{\*\ffname x}{\*\ffl red}{\*\ffl green}`),
      'a green b\n',
    ],
  ];
  for (const [name, file, text] of fields)
    it(`are seen: ${name}`, async () => {
      expect(await markdownBy(openRtf, Buffer.from(file))).to.equal(text);
    });
});
