import { expect } from 'chai';
import { openDoc } from '../../formats/doc/openDoc.ts';
import { openDocx } from '../../formats/docx/openDocx.ts';
import { openRtf } from '../../formats/rtf/openRtf.ts';
import { docx, markdownBy, p, r } from '../support/officeFiles.ts';
import { wordFile } from '../support/wordFiles.ts';

const A = 'http://schemas.openxmlformats.org/drawingml/2006/main';
const C = 'http://schemas.openxmlformats.org/drawingml/2006/chart';
const DGM = 'http://schemas.openxmlformats.org/drawingml/2006/diagram';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';

/** A document whose only drawing shows what a part of it says. */
function drawnDocx(data: string, type: string, [name, part]: readonly [string, string]): Buffer {
  const drawing = `<w:drawing><a:graphic xmlns:a="${A}"><a:graphicData>${data}</a:graphicData></a:graphic></w:drawing>`;
  const rels =
    `<Relationships xmlns="${PACKAGE}"><Relationship Id="x" Type="${OFFICE}/${type}" Target="${name}"/>` +
    '</Relationships>';
  const members = { 'word/_rels/document.xml.rels': rels, [`word/${name}`]: part };
  return docx({ body: p(r('before') + `<w:r>${drawing}</w:r>`), members });
}

describe('drawings of Word documents', () => {
  it('show their charts as tables', async () => {
    const points = (...values: readonly string[]): string =>
      values.map((value, index) => `<c:pt idx="${index}"><c:v>${value}</c:v></c:pt>`).join('');
    const chart =
      `<c:chartSpace xmlns:c="${C}"><c:chart><c:plotArea><c:barChart><c:ser><c:tx><c:strRef><c:strCache>` +
      `${points('Sales')}</c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache>${points('May', 'June')}` +
      `</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache>${points('3', '4')}</c:numCache></c:numRef>` +
      '</c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>';
    const file = drawnDocx(`<c:chart xmlns:c="${C}" r:id="x"/>`, 'chart', ['charts/chart1.xml', chart]);
    expect(await markdownBy(openDocx, file)).to.equal(
      'before\n\n|  | Sales |\n| --- | --- |\n| May | 3 |\n| June | 4 |\n',
    );
  });

  it('show the texts of their diagrams', async () => {
    const point = (text: string): string =>
      `<dgm:pt><dgm:t><a:p><a:r><a:t>${text}</a:t></a:r></a:p></dgm:t></dgm:pt>`;
    const model = `<dgm:dataModel xmlns:dgm="${DGM}" xmlns:a="${A}">${point('plan')}${point('do')}</dgm:dataModel>`;
    const file = drawnDocx(`<dgm:relIds xmlns:dgm="${DGM}" r:dm="x"/>`, 'diagramData', [
      'diagrams/data1.xml',
      model,
    ]);
    expect(await markdownBy(openDocx, file)).to.equal('before\n\n- plan\n- do\n');
  });
});

it('tables in notes of Word documents are read', async () => {
  const cell = (text: string): string => `<w:tc>${p(text)}</w:tc>`;
  const table = `<w:tbl><w:tr>${cell('a')}${cell('b')}</w:tr><w:tr>${cell('c')}${cell('d')}</w:tr></w:tbl>`;
  const footnotes = `<w:footnote w:id="1">${p('See:')}${table}${p('end')}</w:footnote>`;
  const body = p(r('x') + '<w:r><w:footnoteReference w:id="1"/></w:r>');
  expect(await markdownBy(openDocx, docx({ body, footnotes }))).to.equal('x[^1]\n\n[^1]: See: a b c d end\n');
});

describe('groups of RTF files that other readers skip', () => {
  const groups: readonly (readonly [string, string, string])[] = [
    [
      'text boxes of the old form',
      String.raw`a\par{\*\do\dobxcolumn\dptxbx{\dptxbxtext\pard boxed\par}\dpx0}b\par`,
      'a\n\nb\n\nboxed\n',
    ],
    ['text in two encodings', String.raw`a {\upr{cafe}{\*\ud{caf\u233 e}}}\par`, 'a cafe\n'],
  ];
  for (const [name, body, text] of groups)
    it(`are read: ${name}`, async () => {
      expect(await markdownBy(openRtf, Buffer.from(String.raw`{\rtf1\ansi ${body}}`))).to.equal(text);
    });
});

describe('check boxes of Word 97 forms', () => {
  /** A header of 68 bytes, then the data of a field: its kind and result, sizes, its name and its standard value. */
  const dataOf = (kind: number, result: number, standard: number): Buffer => {
    const data = Buffer.alloc(68 + 10 + 2 + 6 + 2 + 2);
    data.writeUInt32LE(data.length, 0);
    data.writeUInt16LE(68, 4);
    data.writeUInt32LE(0xffffffff, 68);
    data.writeUInt16LE(kind | (result << 2), 72);
    data.writeUInt16LE(3, 78);
    data.write('Box', 80, 'utf16le');
    data.writeUInt16LE(standard, 88);
    return data;
  };
  const form = (data: Buffer): Buffer =>
    wordFile({
      paragraphs: [
        {
          runs: [
            { text: 'paid \u0013 FORMCHECKBOX ' },
            { text: '\u0001', modifiers: [0x03, 0x6a, 0, 0, 0, 0] },
            { text: '\u0015 yes' },
          ],
        },
      ],
      data,
    });

  for (const [name, data, sign] of [
    ['ticked', dataOf(1, 1, 0), '☒ '],
    ['empty', dataOf(1, 0, 1), '☐ '],
    ['ticked from the beginning', dataOf(1, 25, 1), '☒ '],
    ['of another kind', dataOf(2, 1, 0), ''],
    ['cut off', dataOf(1, 1, 0).subarray(0, 70), ''],
  ] as const)
    it(`are seen: ${name}`, async () => {
      expect((await markdownBy(openDoc, form(data))).replace('  ', ' ')).to.equal(`paid ${sign}yes\n`);
    });
});
