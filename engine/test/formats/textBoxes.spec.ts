import { CFB } from '@e965/xlsx';
import { expect } from 'chai';
import { drawingsBySheet, type PlacedDrawing } from '../../formats/sheets/sheetTables.ts';
import { xlsTextBoxes } from '../../formats/sheets/openWorkbook.ts';

const { utils, write } = CFB as {
  readonly utils: {
    readonly cfb_new: () => object;
    readonly cfb_add: (container: object, name: string, content: Buffer) => void;
  };
  readonly write: (container: object, options: { readonly type: 'buffer' }) => Buffer;
};

const textsOf = (
  all: ReadonlyMap<string, readonly PlacedDrawing[]>,
): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    [...all].map(([name, drawings]) => [
      name,
      drawings.flatMap(({ blocks }) => blocks.map((block) => ('text' in block ? block.text : ''))),
    ]),
  );

const record = (type: number, data: Buffer): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(type, 0);
  head.writeUInt16LE(data.length, 2);
  return Buffer.concat([head, data]);
};
const begin = (version = 0x0600): Buffer => {
  const data = Buffer.alloc(16);
  data.writeUInt16LE(version, 0);
  return record(0x0809, data);
};
const sheet = (at: number, name: string): Buffer => {
  const data = Buffer.alloc(8);
  data.writeUInt32LE(at, 0);
  data.writeUInt8(name.length, 6);
  return record(0x0085, Buffer.concat([data, Buffer.from(name, 'latin1')]));
};
const box = (length: number, ...parts: readonly Buffer[]): Buffer => {
  const data = Buffer.alloc(18);
  data.writeUInt16LE(length, 10);
  return Buffer.concat([record(0x01b6, data), ...parts.map((part) => record(0x003c, part))]);
};
const narrow = (text: string): Buffer => Buffer.concat([Buffer.from([0]), Buffer.from(text, 'latin1')]);
const wide = (text: string): Buffer => Buffer.concat([Buffer.from([1]), Buffer.from(text, 'utf16le')]);

/** A workbook of two sheets, each with what it is given. */
function xls(first: Buffer, second: Buffer, version?: number): Buffer {
  const head = begin(version).length + sheet(0, 'One').length + sheet(0, 'Two').length;
  const stream = Buffer.concat([
    begin(version),
    sheet(head, 'One'),
    sheet(head + begin().length + first.length, 'Two'),
    begin(version),
    first,
    begin(version),
    second,
  ]);
  const container = utils.cfb_new();
  utils.cfb_add(container, '/Workbook', stream);
  return write(container, { type: 'buffer' });
}

describe('text boxes of Excel 97 workbooks', () => {
  it('are read by sheet, over as many records as they need', () => {
    const formats = Buffer.alloc(16);
    const bytes = xls(box(9, narrow('first '), wide('box'), formats), box(3, wide('Ωne')));
    expect(textsOf(xlsTextBoxes(bytes))).to.deep.equal({ One: ['first box'], Two: ['Ωne'] });
  });

  it('are none in older workbooks, without boxes, and in damaged files', () => {
    expect(xlsTextBoxes(xls(box(1, narrow('a')), box(0), 0x0500)).size).to.equal(0);
    expect(xlsTextBoxes(xls(box(0), box(0))).size).to.equal(0);
    const bytes = xls(box(1, narrow('a')), box(0));
    for (let at = 30; at < bytes.length; at += 11) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8((changed.readUInt8(at) + 101) & 0xff, at);
      expect(xlsTextBoxes(changed)).to.be.instanceOf(Map);
    }
  });
});

it('text boxes of Excel workbooks stand at the row where they begin', () => {
  const xdr = 'http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing';
  const a = 'http://schemas.openxmlformats.org/drawingml/2006/main';
  const r = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const near = (type: string, target: string): string =>
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">' +
    `<Relationship Id="r1" Type="${r}/${type}" Target="${target}"/></Relationships>`;
  const parts = {
    'xl/workbook.xml':
      '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ' +
      `xmlns:r="${r}"><sheets><sheet name="One" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': near('worksheet', 'worksheets/sheet1.xml'),
    'xl/worksheets/_rels/sheet1.xml.rels': near('drawing', '../drawings/drawing1.xml'),
    'xl/drawings/drawing1.xml':
      `<xdr:wsDr xmlns:xdr="${xdr}" xmlns:a="${a}"><xdr:twoCellAnchor><xdr:from>` +
      '<xdr:row>7</xdr:row></xdr:from><xdr:sp><xdr:txBody><a:p><a:r><a:t>a note</a:t>' +
      '</a:r></a:p></xdr:txBody></xdr:sp></xdr:twoCellAnchor></xdr:wsDr>',
  };
  const members = new Map(Object.entries(parts).map(([name, text]) => [name, Buffer.from(text)]));
  const drawings = drawingsBySheet(members);
  expect(drawings.get('One')?.map(({ row }) => row)).to.deep.equal([7]);
  expect(textsOf(drawings)).to.deep.equal({ One: ['a note'] });
});
