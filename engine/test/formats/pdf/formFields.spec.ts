import { expect } from 'chai';
import { extract } from '../../../extraction/extract.ts';
import { openPdf } from '../../../formats/pdf/readPdf.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { documentBy, markdownBy } from '../../support/officeFiles.ts';
import { pdfOf } from '../../support/pdfs.ts';

/** A text at a place of a page, points from the bottom left. */
type Drawn = readonly [x: number, y: number, size: number, text: string];
/** A field that a program draws: its box, and what is written in it. */
type Field = readonly [box: string, value: string];

/** One page of A4 with texts and fields of text. */
const formPdf = (texts: readonly Drawn[], fields: readonly Field[] = []): Buffer => {
  const ids = fields.map((_, at) => `${String(6 + at)} 0 R`).join(' ');
  const content = texts
    .map(([x, y, size, text]) => `BT /F1 ${String(size)} Tf ${String(x)} ${String(y)} Td (${text}) Tj ET`)
    .join('\n');
  return pdfOf(
    [
      `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [${ids}] /DA (/F1 0 Tf) ` +
        '/DR << /Font << /F1 3 0 R >> >> >> >>',
      '<< /Type /Pages /Kids [4 0 R] /Count 1 >>',
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> ' +
        `/Contents 5 0 R /Annots [${ids}] >>`,
      `<< /Length ${String(content.length)} >>\nstream\n${content}\nendstream`,
      ...fields.map(
        ([box, value], at) =>
          `<< /Type /Annot /Subtype /Widget /FT /Tx /Ff 4096 /T (f${String(at)}) /Rect [${box}] /V (${value}) >>`,
      ),
    ],
    '',
  );
};

const asking = (...names: readonly string[]): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
});

const valuesIn = async (bytes: Buffer, ...names: readonly string[]): Promise<JsonObject> =>
  extract(await documentBy(openPdf, bytes), asking(...names)).value;

describe('a form of labels and values', () => {
  const labels: readonly Drawn[] = [
    [60, 760, 10, 'Full name'],
    [60, 730, 10, 'Parcel size'],
    [60, 700, 10, 'Access road'],
    [60, 670, 10, 'Remarks'],
  ];
  const fields: readonly Field[] = [
    ['190 755 420 772', 'Nora Lindqvist'],
    ['190 722 420 744', 'Large'],
    ['190 694 420 712', 'North gate'],
    ['190 620 420 682', 'Ring the bell.\\nKnock loudly after six.'],
  ];

  it('reads row by row where its values are fields that a program draws', async () => {
    expect(await markdownBy(openPdf, formPdf(labels, fields))).to.match(
      /Full name\W+Nora Lindqvist\W+Parcel size\W+Large\W+Access road\W+North gate\W+Remarks\W+Ring the bell/,
    );
  });

  it('gives all lines of a field', async () => {
    const values = await valuesIn(formPdf(labels, fields), 'full_name', 'parcel_size', 'remarks');
    expect(values).to.deep.equal({
      full_name: 'Nora Lindqvist',
      parcel_size: 'Large',
      remarks: 'Ring the bell. Knock loudly after six.',
    });
  });

  it('gives a value of two lines that is printed beside a smaller label', async () => {
    const printed = formPdf([
      ...([760, 725, 690, 640] as const).map((y, at): Drawn => [60, y, 7, labels[at]?.[3] ?? '']),
      [180, 760, 12, 'Nora Lindqvist'],
      [180, 725, 12, 'Large'],
      [180, 690, 12, 'North gate, opens'],
      [180, 675, 12, 'Monday to Friday'],
      [180, 640, 12, 'Ring the bell'],
    ] as const);
    expect(await valuesIn(printed, 'full_name', 'access_road', 'remarks')).to.deep.equal({
      full_name: 'Nora Lindqvist',
      access_road: 'North gate, opens Monday to Friday',
      remarks: 'Ring the bell',
    });
    expect(await markdownBy(openPdf, printed)).to.match(/Full name\W+Nora Lindqvist\W+Parcel size\W+Large/);
  });

  it('gives a value of two lines below a smaller label', async () => {
    const above = formPdf([
      [60, 770, 7, 'Delivery instructions'],
      [60, 757, 11, 'Leave at the office'],
      [60, 743, 11, 'Ask for Per'],
      [320, 770, 7, 'Carrier service'],
      [320, 757, 11, 'Overnight'],
      [60, 715, 7, 'Contents'],
      [60, 702, 11, 'Two lamps'],
      [320, 715, 7, 'Packing'],
      [320, 702, 11, 'Wooden crate'],
    ] as const);
    const values = await valuesIn(above, 'delivery_instructions', 'carrier_service', 'contents', 'packing');
    expect(values).to.deep.equal({
      delivery_instructions: 'Leave at the office Ask for Per',
      carrier_service: 'Overnight',
      contents: 'Two lamps',
      packing: 'Wooden crate',
    });
  });

  it('keeps two columns of labels and values apart', async () => {
    const pairs = formPdf([
      [50, 760, 8, 'Consignor'],
      [130, 760, 11, 'Fjord Timber'],
      [320, 760, 8, 'Truck'],
      [390, 760, 11, 'Blue Volvo'],
      [50, 735, 8, 'Cargo'],
      [130, 735, 11, 'Spruce boards'],
      [130, 721, 11, 'Planed on one side'],
      [320, 735, 8, 'Driver remarks'],
      [390, 735, 11, 'Wet when loaded'],
      [50, 695, 8, 'Route'],
      [130, 695, 11, 'Coast road'],
      [320, 695, 8, 'Stop'],
      [390, 695, 11, 'Bergen'],
    ] as const);
    expect(await valuesIn(pairs, 'cargo', 'driver_remarks', 'route', 'stop')).to.deep.equal({
      cargo: 'Spruce boards Planed on one side',
      driver_remarks: 'Wet when loaded',
      route: 'Coast road',
      stop: 'Bergen',
    });
  });

  it('ends a value where the next label begins', async () => {
    const dense = formPdf([
      [60, 760, 10, 'Cargo'],
      [180, 760, 10, 'Spruce boards'],
      [60, 747, 10, 'Route'],
      [180, 747, 10, 'Coast road'],
      [60, 734, 10, 'Packing'],
      [180, 734, 10, 'Wooden crate'],
      [60, 708, 10, 'All goods travel at the risk of their owner.'],
    ] as const);
    expect(await valuesIn(dense, 'cargo', 'route', 'packing')).to.deep.equal({
      cargo: 'Spruce boards',
      route: 'Coast road',
      packing: 'Wooden crate',
    });
  });
});
