import { expect } from 'chai';
import { openRtf } from '../../formats/rtf/openRtf.ts';
import { plainTextOf } from '../../document/plainText.ts';
import { documentBy, markdownBy, openedBy } from '../support/officeFiles.ts';

const HEAD =
  String.raw`\ansi\ansicpg1252\deff0` +
  String.raw`{\fonttbl{\f0 Serif;}{\f1\fcharset204 Cyr;}{\f2\fcharset2 Symbol;}{\f3\fcharset128 Kana;}}`;
const STYLES =
  String.raw`{\stylesheet{\ql Normal;}{\s1 heading 1;}{\s2\sbasedon1 Chapter;}` +
  String.raw`{\s3\outlinelevel2 Clause;}{\s4 Title;}}`;
const rtf = (body: string): Buffer => Buffer.from(`{\\rtf1${HEAD}${STYLES}${body}}`, 'latin1');
const markdown = (body: string): Promise<string> => markdownBy(openRtf, rtf(body));

describe('RTF texts', () => {
  it('have headings by the styles of their paragraphs', async () => {
    expect(
      await markdown(
        String.raw`\pard\s1 One\par\pard\s2 Two\par\pard\s3 Three\par\pard\outlinelevel3 Four\par\pard text\par`,
      ),
    ).to.equal('# One\n\n# Two\n\n### Three\n\n#### Four\n\ntext\n');
  });

  const texts: readonly (readonly [string, string, string])[] = [
    ['bytes of the code page', String.raw`Caf\'e9 \'80`, 'Café €'],
    ['bytes of the code page of a font', String.raw`{\f1\'cf\'f0}`, 'Пр'],
    ['characters of two bytes', String.raw`{\f3\'83\'41\'83\'43}`, 'アイ'],
    ['raw bytes above 127', 'na\u00efve', 'naïve'],
    [
      'Unicode with what stands in for it',
      String.raw`\u8364?\u-10179 ?\u-8704 ?\uc0\u960 x\uc2\u8805 >=`,
      '€😀πx≥',
    ],
    ['signs of symbol fonts', String.raw`{\f2\'61\u61619?}`, 'α≥'],
    ['special signs', String.raw`\ldblquote a\rdblquote\~\endash\_\{\}\\`, '“a”\u00a0–-{}\\'],
    ['raised and lowered digits', String.raw`10{\super 3} H{\sub 2}O`, '10³ H₂O'],
    ['binary data skipped', String.raw`a{\pict\bin6 {}{}{}}b`, 'ab'],
    ['no unknown destinations', String.raw`a{\*\unknown no}{\info{\title no}}b`, 'ab'],
    ['no deleted text', String.raw`a{\deleted gone}b`, 'ab'],
  ];
  for (const [name, body, text] of texts)
    it(`have ${name}`, async () => {
      expect(plainTextOf(await documentBy(openRtf, rtf(body))).trimEnd()).to.equal(text);
    });

  it('have emphasis and links', async () => {
    expect(
      await markdown(
        String.raw`a {\b bold} {\i it}alic {\field{\*\fldinst HYPERLINK "https://a.example/"}{\fldrslt{\ul here}}} ` +
          String.raw`{\field{\*\fldinst HYPERLINK "javascript:a"}{\fldrslt there}}\par`,
      ),
    ).to.equal('a **bold** italic [here](https://a.example/) there\n');
  });

  it('have lists by their visible labels', async () => {
    const item = (label: string, level: number, text: string): string =>
      String.raw`\pard{\listtext ${label}\tab}\ls1\ilvl${level} ${text}\par`;
    expect(
      await markdown(
        item('1.', 0, 'a') + item(String.raw`\'b7`, 1, 'b') + item('2.', 0, 'c') + item('ii)', 1, 'd'),
      ),
    ).to.equal('1. a\n    - b\n2. c\n    - ii) d\n');
  });

  it('have tables with merged cells', async () => {
    const row = (cells: string, texts: readonly string[]): string =>
      String.raw`\trowd${cells}\pard\intbl ${texts.map((text) => String.raw`${text}\cell `).join('')}\row `;
    const body =
      row(String.raw`\cellx1000\cellx2000\cellx3000`, ['a', 'b', 'c']) +
      row(String.raw`\clvmgf\cellx1000\cellx3000`, ['up', 'wide']) +
      row(String.raw`\clvmrg\cellx1000\cellx2000\cellx3000`, ['', 'd', String.raw`e\par f`]) +
      String.raw`\pard after\par`;
    expect(await markdown(body)).to.equal(
      '| a | b | c |\n| --- | --- | --- |\n| up | wide | wide |\n| up | d | e f |\n\nafter\n',
    );
  });

  it('have notes at the end and frames after their paragraph', async () => {
    expect(
      await markdown(
        String.raw`\pard a{\footnote\pard{\super\chftn} Why.}` +
          String.raw`{\shp{\*\shpinst{\sp{\sn x}{\sv y}}{\shptxt\pard framed\par}}{\shprslt no}} b\par`,
      ),
    ).to.equal('a[^1] b\n\nframed\n\n[^1]: Why.\n');
  });

  it('leave hidden text out, and say so', async () => {
    const document = await documentBy(openRtf, rtf(String.raw`seen {\v secret}{\fs2 tiny}`));
    expect(plainTextOf(document)).to.equal('seen\n');
    expect(document.warnings.map(({ code }) => code)).to.deep.equal(['hidden_text']);
  });
});

describe('white text in RTF files', () => {
  const colours = String.raw`{\colortbl;\red255\green255\blue255;\red0\green0\blue128;}`;
  const unseen: readonly (readonly [string, string])[] = [
    ['on white', String.raw`seen {\cf1 secret}`],
    ['on white behind it', String.raw`seen {\cf1\highlight1 secret}`],
    ['in a cell without a colour', String.raw`seen\par\trowd\cellx9 \pard\intbl{\cf1 secret}\cell\row`],
  ];
  for (const [where, body] of unseen)
    it(`is left out ${where}`, async () => {
      const document = await documentBy(openRtf, rtf(colours + body));
      expect(plainTextOf(document).trim()).to.equal('seen');
      expect(document.warnings.map(({ code }) => code)).to.deep.equal(['hidden_text']);
    });

  const seen: readonly (readonly [string, string])[] = [
    ['of another colour', String.raw`{\cf2 text}`],
    ['on another colour', String.raw`{\cf1\highlight2 text}`],
    ['in a paragraph of another colour', String.raw`\pard\cbpat2{\cf1 text}\par`],
    ['in a row with a colour', String.raw`\trowd\clcbpat2\cellx9 \pard\intbl{\cf1 text}\cell\row`],
    ['on pages with a colour', String.raw`\viewbksp1{\cf1 text}`],
    ['that is plain again', String.raw`\cf1\plain text`],
  ];
  for (const [what, body] of seen)
    it(`stays: ${what}`, async () => {
      const document = await documentBy(openRtf, rtf(colours + body));
      expect(plainTextOf(document).trim()).to.equal('text');
      expect(document.warnings).to.deep.equal([]);
    });
});

describe('RTF files that are damaged', () => {
  it('are refused when nested too deeply', async () => {
    expect(await openedBy(openRtf, rtf('{'.repeat(100_000)))).to.deep.include({ kind: 'unreadable' });
  });

  it('are refused for a row of cells without end', async () => {
    const row = String.raw`\trowd${String.raw`\intbl a\cell`.repeat(2000)}\row`;
    expect(await openedBy(openRtf, rtf(row))).to.include({ kind: 'unreadable' });
  });

  it('are refused when they are none', async () => {
    expect(await openedBy(openRtf, Buffer.from('hello'))).to.include({ kind: 'unreadable' });
  });

  it('are read as far as they go when they are cut off', async () => {
    const whole = rtf(String.raw`one\par two{\b three\par \trowd\cellx100 in`);
    expect(await markdownBy(openRtf, whole.subarray(0, whole.length - 2))).to.contain('one');
  });
});
