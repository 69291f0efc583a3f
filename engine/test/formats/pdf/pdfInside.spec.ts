import { expect } from 'chai';
import { insideOf } from '../../../formats/pdf/inside/insideOf.ts';
import { openPdf } from '../../../formats/pdf/readPdf.ts';
import { soundPdf, withSoundOutline } from '../../../formats/pdf/soundPdf.ts';
import { documentBy, markdownBy } from '../../support/officeFiles.ts';
import { drawnPdf, encryptedPdf, pdfOf } from '../../support/pdfs.ts';

const FONTS = '/Font << /F1 5 0 R /F2 6 0 R >>';
/** A page of the given contents, further objects from 7 on. */
const pdf = (contents: string, { resources = FONTS, more = [] as readonly string[] } = {}): Buffer =>
  pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      `<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 612 792] /Resources << ${resources} >> >>`,
      '<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>',
      contents,
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>',
      ...more,
    ],
    '',
  );
const stream = (content: string, entries = ''): string =>
  `<< ${entries} /Length ${content.length} >>\nstream\n${content}\nendstream`;

const LINE =
  'BT /F1 12 Tf 40 700 Td (We pay ) Tj /F2 12 Tf (by the third of May) Tj /F1 12 Tf ( at last, or later.) Tj ET';
const READ = 'We pay **by the third of May** at last, or later.\n';

describe('fonts of words on one line of a PDF', () => {
  it('are those in which each was drawn', async () => {
    expect(await markdownBy(openPdf, pdf(stream(LINE)))).to.equal(READ);
  });

  it('are told where all is one array with moves between', async () => {
    const moves =
      'BT /F1 12 Tf 1 0 0 1 40 700 Tm [(We) -250 (pay) -278] TJ /F2 12 Tf [(by the third ) 5 (of May)] TJ ' +
      '/F1 12 Tf 14 TL ( at last, or later.) Tj ET';
    expect(await markdownBy(openPdf, pdf(stream(moves)))).to.equal(READ);
  });

  it('are told in forms that a page draws, on turned pages and in letters of base 85', async () => {
    const form = stream(LINE, '/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Matrix [1 0 0 1 20 -40]');
    const resources = `${FONTS} /XObject << /X1 7 0 R >>`;
    expect(await markdownBy(openPdf, pdf(stream('q /X1 Do Q'), { resources, more: [form] }))).to.equal(READ);
    const packed = stream(base85(LINE), '/Filter [/ASCII85Decode]');
    expect(await markdownBy(openPdf, pdf(packed))).to.equal(READ);
  });

  it('are the parser’s where the file cannot be looked into', () => {
    expect(insideOf(encryptedPdf(''))).to.equal(undefined);
    expect(insideOf(Buffer.from('%PDF-1.4 nothing'))).to.equal(undefined);
  });
});

describe('text without ink', () => {
  it('is left out, and that is said', async () => {
    const document = await documentBy(
      openPdf,
      drawnPdf(
        'BT /F1 12 Tf 3 Tr 40 700 Td (pay the attacker at once) Tj ET BT /F1 12 Tf 0 Tr 40 600 Td (Hi) Tj ET',
      ),
    );
    expect(document.pages[0]?.lines.map(({ text }) => text)).to.deep.equal(['Hi']);
    expect(document.warnings.map(({ code }) => code)).to.deep.equal(['hidden_text']);
  });
});

describe('the outline of a PDF', () => {
  const outlined = pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 612 792] /Resources << /Font << /F1 5 0 R >> >> >>',
      '<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>',
      stream('BT /F1 12 Tf 40 700 Td (Aims and ends) Tj 0 -40 Td (Of this there is more to be said.) Tj ET'),
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      '<< /First 7 0 R /Last 9 0 R >>',
      '<< /Title (Aims and ends) /Dest [3 0 R /Fit] /First 8 0 R /Next 9 0 R >>',
      '<< /Title <FEFF00DC00620065007200200075006E0073> /A << /S /GoTo /D [3 0 R /Fit] >> /Next 8 0 R >>',
      '<< /Title (Beyond) /A << /S /URI /URI (https://a.example) >> >>',
    ],
    '',
  );

  it('has titles with their depth and page, each once', () => {
    expect(insideOf(outlined)?.outline.bookmarks).to.deep.equal([
      { title: 'Aims and ends', depth: 1, page: 1 },
      { title: 'Über uns', depth: 2, page: 1 },
      { title: 'Beyond', depth: 1, page: undefined },
    ]);
  });

  it('is hidden from the parser where it leads back to itself, lies too deep or has no end', async () => {
    const items = (count: number, key: string): readonly string[] =>
      Array.from({ length: count }, (_, i) => `<< /Title (Ends) /${key} ${5 + i} 0 R >>`);
    const withItems = (own: readonly string[]): Buffer =>
      pdfOf(
        [
          '<< /Type /Catalog /Pages 2 0 R /Outlines << /First 4 0 R >> >>',
          '<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 612 792] >>',
          '<< /Type /Page /Parent 2 0 R >>',
          ...own,
        ],
        '',
      );
    const sound = withItems(items(10, 'First'));
    expect(withSoundOutline(sound)).to.equal(sound);
    const round = '<< /Title (Aims) /Next 5 0 R >>';
    const odd = [
      [round, '<< /Title (Ends) /Next 4 0 R >>'],
      [round, '<< /Title (Ends) /First 4 0 R >>'],
    ];
    for (const own of [...odd, items(20_000, 'First'), items(5_500, 'Next')]) {
      const bytes = withItems(own);
      expect(withSoundOutline(bytes).includes('/Outlines')).to.equal(false);
      expect((await documentBy(openPdf, bytes)).pages).to.have.lengthOf(1);
    }
  });

  it('makes headings', async () => {
    expect(await markdownBy(openPdf, outlined)).to.equal(
      '# Aims and ends\n\nOf this there is more to be said.\n',
    );
  });
});

describe('contents that are made to do harm', () => {
  const harmful: readonly (readonly [string, Buffer])[] = [
    ['a form that draws itself', pdf(stream('q /X1 Do /X1 Do Q'), {
      resources: `${FONTS} /XObject << /X1 7 0 R >>`,
      more: [stream(`${LINE} /X1 Do /X1 Do`, '/Type /XObject /Subtype /Form /BBox [0 0 612 792]')],
    })],
    ['lists in lists', pdf(stream('['.repeat(100_000) + LINE))],
    ['a text without an end', pdf(stream(`${LINE} (`.padEnd(100_000, '(')))],
    ['states without an end', pdf(stream('q '.repeat(50_000) + LINE))],
  ]; // prettier-ignore
  for (const [name, bytes] of harmful)
    it(`are looked at within bounds: ${name}`, () => {
      expect(insideOf(bytes)?.runsOf(1, true)).to.be.a('function');
    });

  const FORM = '/Type /XObject /Subtype /Form /BBox [0 0 612 792]';
  const formText = (text: string, at: number): string => `BT /F1 12 Tf 40 ${at} Td (${text}) Tj ET`;
  const calling = (number: number): string =>
    `${FORM} /Resources << ${FONTS} /XObject << /X ${number} 0 R >> >>`;
  const twice = (text: string, at: number): string => `${formText(text, at)} /X Do /X Do`;
  const onPage = (more: readonly string[]): Buffer =>
    pdf(stream(`${formText('On the page', 700)} /X Do`), {
      resources: `${FONTS} /XObject << /X 7 0 R >>`,
      more,
    });
  const inField = pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R] >> >>',
      `<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 612 792] /Resources << ${FONTS} >> >>`,
      '<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Annots [6 0 R] >>',
      stream(formText('On the page', 700)),
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      '<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /Rect [0 0 612 792] /P 3 0 R /AP << /N 7 0 R >> /F 4 >>',
      stream(twice('In it', 600), calling(7)),
    ],
    '',
  );
  const circles: readonly (readonly [string, Buffer, readonly string[]])[] = [
    ['by itself', onPage([stream(twice('In it', 600), calling(7))]), ['On the page', 'In it']],
    [
      'by one that it draws',
      onPage([stream(twice('In it', 600), calling(8)), stream(twice('Within', 500), calling(7))]),
      ['On the page', 'In it'],
    ],
    ['by itself with the names of its page', onPage([stream(twice('In it', 600), FORM)]), ['On the page']],
    ['by itself in a field', inField, ['On the page', 'In it']],
  ];
  for (const [by, bytes, texts] of circles)
    it(`are read once where a form is drawn twice ${by}`, async () => {
      const { pages } = await documentBy(openPdf, bytes);
      expect(pages[0]?.lines.map(({ text }) => text)).to.deep.equal(texts);
    });

  it('are left as they are where forms draw others', () => {
    const bytes = onPage([stream(twice('In it', 600), calling(8)), stream(formText('Within', 500), FORM)]);
    expect(soundPdf(bytes)).to.equal(bytes);
  });

  it('are followed once where pages are their own parents', () => {
    const loop = pdfOf(
      ['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>'],
      '',
    );
    expect(insideOf(loop)?.runsOf(1, true)).to.equal(undefined);
  });
});

/** Five letters for four bytes. */
function base85(text: string): string {
  const bytes = Buffer.from(text.padEnd(Math.ceil(text.length / 4) * 4, ' '), 'latin1');
  let letters = '';
  for (let at = 0; at < bytes.length; at += 4) {
    let value = bytes.readUInt32BE(at);
    let group = '';
    for (let i = 0; i < 5; i += 1) {
      group = String.fromCharCode(33 + (value % 85)) + group;
      value = Math.floor(value / 85);
    }
    letters += group;
  }
  return `${letters}~>`;
}
