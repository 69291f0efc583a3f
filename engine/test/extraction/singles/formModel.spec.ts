import { expect } from 'chai';
import { extract } from '../../../extraction/extract.ts';
import { textDocument } from '../../../formats/text/textDocument.ts';
import type { Document } from '../../../document/document.ts';
import type { Json } from '../../../kernel/json.ts';
import { laidOut, type Placed } from '../../support/laidOut.ts';

const text = { type: 'string' };
const number = { type: 'number' };
const date = { type: 'string', format: 'date' };
const valueOf = (document: Document, properties: Record<string, Json>): Json =>
  extract(document, { type: 'object', properties }).value;
const said = (lines: string, properties: Record<string, Json>): Json =>
  valueOf(textDocument(lines), properties);

describe('the number of a choice', () => {
  it('stands before what was chosen, and is not the value', () => {
    const asked = { tour_requested: text, tour_date: date };
    const lines = 'Tour requested: 2: Old Harbour (walk)\nTour date: 3 May 2031\n';
    expect(said(lines, asked)).to.deep.equal({
      tour_requested: 'Old Harbour (walk)',
      tour_date: '2031-05-03',
    });
  });
});

describe('a blank form', () => {
  const page: readonly Placed[] = [
    [50, 40, 'Your first name'],
    [250, 40, 'Last name'],
    [450, 40, 'Your registration number'],
    [50, 70, "If a joint form, partner's first name"],
    [250, 70, "Partner's last name"],
    [450, 70, "Partner's registration number"],
    ...['Wages', 'Interest', 'Refund', 'Total tax', 'Gross income', 'Penalty'].flatMap(
      (name, i): readonly Placed[] => [
        [50, 110 + 15 * i, `${7 + i}`],
        [80, 110 + 15 * i, name],
        [480, 110 + 15 * i, `${7 + i}`],
      ],
    ),
  ];

  it('yields nothing: neither labels nor the numbers of its lines', () => {
    const properties = {
      first_name: text,
      last_name: text,
      registration_number: text,
      wages: number,
      refund: number,
      total_tax: number,
    };
    expect(valueOf(laidOut([page]), properties)).to.deep.equal({});
  });

  it('has no values in its blanks and marks of templates', () => {
    const lines = 'Patient: ______\nDoctor: [name of doctor]\nWard: ###ward###\nBed: XXXX';
    const properties = { patient: text, doctor: text, ward: text, bed: text };
    expect(said(lines, properties)).to.deep.equal({});
  });
});

describe('a total', () => {
  it('is no number in a unit of measure', () => {
    const properties = { total_value: number, sender: text, consignee: text };
    expect(said('Total gross weight: 6.05 kg\nContainers: 2', properties)).to.deep.equal({});
  });

  const receipt = { company: text, total: number };

  it('is what is left to pay once it was rounded off', () => {
    const lines = 'Total amount: 60.31\nRounding adjustment: -0.01\nRM: 60.30\nThank you';
    expect(said(lines, receipt)).to.deep.include({ total: 60.3 });
    expect(said(lines.replace('-0.01', '0.00'), receipt)).to.deep.include({ total: 60.31 });
  });

  it('is of all that was sold, not of what was sold at one rate', () => {
    const lines = [
      'Total 6% supplies (excl. GST): 28.80',
      'GST: 1.72',
      'Total 6% supplies (incl. GST): 30.52',
      'Total 0% supplies: 23.63',
      'Total payable: 54.15',
    ];
    expect(said(lines.join('\n'), receipt)).to.deep.include({ total: 54.15 });
  });

  it('is what was given less the change, where no more than coins lies between', () => {
    const lines = 'Total amount: 80.91\nx 80.90\nCash: 100.00\nChange: 19.10';
    expect(said(lines, receipt)).to.deep.include({ total: 80.9 });
    expect(said(lines.replace('19.10', '10.10'), receipt)).to.deep.include({ total: 80.91 });
  });
});

describe('a name', () => {
  it('has no part in the code that stands in brackets behind it, nor in what follows', () => {
    const named = (value: string): Json => said(`Sponsor: ${value}`, { sponsor: text });
    expect(named('Friends of the Lake (135176)')).to.deep.equal({ sponsor: 'Friends of the Lake' });
    expect(named('Friends of the Lake (135459) Ash Media (18799)')).to.deep.equal({
      sponsor: 'Friends of the Lake',
    });
    expect(named('Friends of the Lake (2031)')).to.deep.equal({ sponsor: 'Friends of the Lake (2031)' });
    expect(named('Friends of the Lake (North)')).to.deep.equal({ sponsor: 'Friends of the Lake (North)' });
  });
});

describe('labels of a schema that knows no concept', () => {
  it('are found by the words that its description quotes', () => {
    const properties = { staff: { type: 'integer', description: "Column 'No. Of Employees'" } };
    expect(said('No. Of Employees: 412', properties)).to.deep.equal({ staff: 412 });
  });

  it('are found by words of one stem', () => {
    expect(said('Expires: 2031-05-06\nOpened: 2030-01-02', { expiry_date: date })).to.deep.equal({
      expiry_date: '2031-05-06',
    });
  });

  it('are found by a short word in the plural, but not by another short word', () => {
    expect(said('Tides: 12', { tide: number })).to.deep.equal({ tide: 12 });
    expect(said('Party: 12', { part: number })).to.deep.equal({});
  });

  it('may stand behind a count', () => {
    const page: readonly Placed[] = [
      [50, 40, '327 BALLOTS CAST'],
      [50, 60, '1100 REGISTERED VOTERS'],
    ];
    const properties = { ballots_cast: { type: 'integer' }, registered_voters: { type: 'integer' } };
    expect(valueOf(laidOut([page]), properties)).to.deep.equal({
      ballots_cast: 327,
      registered_voters: 1100,
    });
  });

  it('are those of a row and a column where both cross', () => {
    const page: readonly Placed[] = [
      [200, 40, 'Acquired'],
      [300, 40, 'Used'],
      [400, 40, 'Balance'],
      [50, 60, 'Holidays'],
      [205, 60, '30.00'],
      [305, 60, '24.00'],
      [405, 60, '6.00'],
      [50, 80, 'Overtime'],
      [205, 80, '12.50'],
      [305, 80, '2.00'],
      [405, 80, '10.50'],
    ];
    const properties = { holidays_balance: number, overtime_used: number };
    expect(valueOf(laidOut([page]), properties)).to.deep.equal({ holidays_balance: 6, overtime_used: 2 });
  });
});

describe('values', () => {
  it('have the shape of their field: a time, a year, an amount that a letter multiplies', () => {
    const lines = 'Opened at: 16h00\nModel year: 2031\nFund value: $545k';
    const properties = { opening_time: text, model_year: { type: 'integer' }, fund_value: number };
    const asked = { ...properties, opening_time: { type: 'string', description: 'Opened at' } };
    expect(said(lines, asked)).to.deep.equal({
      opening_time: '16h00',
      model_year: 2031,
      fund_value: 545_000,
    });
  });

  it('are never the same words for two fields', () => {
    const { berth, deck_berth } = said('Berth: 12 North', { berth: text, deck_berth: text }) as Record<
      string,
      Json
    >;
    expect([berth, deck_berth].filter((value) => value !== undefined)).to.deep.equal(['12 North']);
  });

  it('are asked of the box that is ticked', () => {
    const lines = 'Membership: ☐ single ☒ family\n☒ I want the newsletter\n☐ I pay by transfer';
    const properties = {
      membership: { type: 'string', enum: ['single', 'family'] },
      newsletter: { type: 'boolean', description: 'Wants the newsletter' },
      transfer: { type: 'boolean', description: 'Pays by transfer' },
    };
    expect(said(lines, properties)).to.deep.equal({
      membership: 'family',
      newsletter: true,
      transfer: false,
    });
  });
});

describe('the order of day and month', () => {
  const properties = { start_date: date, end_date: date };

  it('is that in which a term of the document lies between two dates', () => {
    const lines = 'Term: 6 months\nStart date: 09/01/2031\nEnd date: 03/01/2032';
    expect(said(lines, properties)).to.deep.equal({ start_date: '2031-09-01', end_date: '2032-03-01' });
  });

  it('is the American one where times are given in American zones', () => {
    const lines = 'Start date: 09/01/2031 09:52 AM EDT';
    expect(said(lines, { start_date: date })).to.deep.equal({ start_date: '2031-09-01' });
  });

  it('is decided once: a part above 12 says it for all', () => {
    const lines = 'Start date: 09/01/2031 09:52 AM EDT\nEnd date: 31/01/2032';
    expect(said(lines, properties)).to.deep.equal({ start_date: '2031-01-09', end_date: '2032-01-31' });
  });
});
