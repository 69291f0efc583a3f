import { expect } from 'chai';
import { textDocument } from '../../../formats/text/textDocument.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import { extract } from '../../../extraction/extract.ts';
import { laidOut, type Placed } from '../../support/laidOut.ts';

const TEXT = { type: 'string' };
const NUMBER = { type: 'number' };
const schemaOf = (properties: JsonObject): JsonObject => ({ type: 'object', properties });

const fromText = (text: string, properties: JsonObject): Json =>
  extract(textDocument(text), schemaOf(properties)).value;
const fromPage = (placed: readonly Placed[], properties: JsonObject): Json =>
  extract(laidOut([placed]), schemaOf(properties)).value;

describe('labels that say whose and which by what stands around them', () => {
  const PARTIES = [
    ['Name', 'Halden Yard', 'Osprey Stores'],
    ['Berth', 'Quay 4', 'Quay 9'],
    ['Reference', 'HY-1182', 'OS-5512'],
    ['Permit', 'PX-311', 'PX-704'],
  ] as const;

  /** Two sections below each other: a heading, and labels with their values at the right. */
  const sections = (heads: readonly [string, string]): readonly Placed[] =>
    heads.flatMap((head, side): Placed[] => [
      [40, 60 + 160 * side, head],
      ...PARTIES.flatMap(([label, ...values], i): Placed[] => [
        [40, 80 + 160 * side + 16 * i, label],
        [170, 80 + 160 * side + 16 * i, values[side] ?? ''],
      ]),
    ]);
  const MEMBERS = schemaOf({ reference: TEXT, permit: TEXT });

  it('a heading gives its role to all labels below it, past labels that have their own values', () => {
    const page = sections(['Lessor', 'Charterer']);
    const lessor = { reference: 'HY-1182', permit: 'PX-311' };
    const charterer = { reference: 'OS-5512', permit: 'PX-704' };
    expect(fromPage(page, { lessor: MEMBERS, charterer: MEMBERS })).to.deep.equal({ lessor, charterer });
    expect(fromPage(page, { charterer: MEMBERS, lessor: MEMBERS })).to.deep.equal({ lessor, charterer });
  });

  it('what stands below the heading of another object is not the value of an object that is not there', () => {
    const page = sections(['Lessor', 'Charterer']).filter(([, y]) => y < 200);
    const { charterer = {} } = fromPage(page, { lessor: MEMBERS, charterer: MEMBERS }) as JsonObject;
    expect(charterer).to.deep.equal({});
  });

  const BOXES = '3 Pay: 4100\n4 Pay: 620\n5 Pay: 88';

  it('a schema may name the line or box of a form', () => {
    expect(fromText(BOXES, { held: { ...NUMBER, description: 'Line 4: pay' } })).to.deep.equal({ held: 620 });
    expect(fromText(BOXES, { box5Pay: NUMBER, box3Pay: NUMBER })).to.deep.equal({
      box5Pay: 88,
      box3Pay: 4100,
    });
  });

  it('both sides of a joined label have their sides of the value, of which one may be a letter', () => {
    const page = 'Age / Sex: 41 YRS / F\nWard: Elm';
    expect(fromText(page, { age: TEXT, sex: TEXT })).to.deep.equal({ age: '41 YRS', sex: 'F' });
  });

  it('a date is given as it is printed where the schema asks for that', () => {
    const page = 'Invoice date: 3 May 2031\nSurveyor: Ada Low';
    const said = (description: string): JsonObject => ({ invoiceDate: { ...TEXT, description } });
    expect(fromText(page, said('invoice date as printed'))).to.deep.equal({ invoiceDate: '3 May 2031' });
    expect(fromText(page, said('invoice date'))).to.deep.equal({ invoiceDate: '2031-05-03' });
    expect(fromText(page, said('invoice date as printed, YYYY-MM-DD'))).to.deep.equal({
      invoiceDate: '2031-05-03',
    });
  });

  it('a cover says who has which role above the role, and not below it', () => {
    const page = [
      'BRIDGE LOAN',
      '',
      'HARROW FREIGHT CORPORATION,',
      'as Borrower,',
      '',
      'ELM CITY BANK, N.A.,',
      'as Paying Agent',
    ].join('\n');
    expect(fromText(page, { borrower: TEXT, payingAgent: TEXT })).to.deep.equal({
      borrower: 'HARROW FREIGHT CORPORATION',
      payingAgent: 'ELM CITY BANK, N.A.',
    });
  });

  it('the first of a column of figures is not the figure of the document', () => {
    const row = (...cells: readonly string[]): string => cells.map((cell) => cell.padEnd(16)).join('');
    const page = [
      row('Boat', 'Catch', 'Profit'),
      row('Heron', '410', '1,250.00'),
      row('Tern', '95', '980.00'),
      row('Gull', '260', '1,775.00'),
    ].join('\n');
    const total = { ...NUMBER, description: 'total profit of all boats' };
    expect(fromText(page, { totalProfit: total })).to.not.have.property('totalProfit', 1250);
  });

  const PARTNERS = {
    shipmentId: TEXT,
    carrier: schemaOf({ name: TEXT, scac: TEXT }),
    consignee: schemaOf({ name: TEXT, city: TEXT }),
    grossWeightKg: NUMBER,
  };
  const SHIPMENT = {
    shipmentId: 'SH-20411',
    carrier: { name: 'Osprey Lines', scac: 'OSPR' },
    consignee: { name: 'Halden Yard', city: 'Hull' },
    grossWeightKg: 1820.5,
  };

  it('the members of JSON are the fields, without its marks', () => {
    expect(fromText(JSON.stringify(SHIPMENT, null, 2), PARTNERS)).to.deep.equal(SHIPMENT);
  });

  it('a value of data that are shown as a form ends with its line', () => {
    const page = [
      'shipment Id: SH-20411',
      'carrier',
      'carrier name: Osprey Lines',
      'carrier scac: OSPR',
      'consignee',
      'consignee name: Halden Yard',
      'address city: Hull',
      'totals',
      'gross Weight Kg: 1820.5',
    ].join('\n');
    expect(fromText(page, PARTNERS)).to.deep.equal(SHIPMENT);
  });
});
