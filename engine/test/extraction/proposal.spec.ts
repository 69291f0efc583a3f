import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { proposalFor } from '../../extraction/schema/proposal.ts';
import type { Document } from '../../document/document.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { laidOut, type Placed } from '../support/laidOut.ts';
import { extract } from '../../extraction/extract.ts';
import { readFileAsDocument } from '../../formats/readDocument.ts';

const sampleInvoice = async () => {
  const bytes = readFileSync('test/fixtures/invoice.pdf');
  const parsed = await readFileAsDocument({
    bytes,
    fileName: 'invoice.pdf',
    pagesMax: 5,
    effort: 'standard',
    languages: [],
  });
  if (parsed.kind !== 'ok') throw new Error(parsed.kind);
  return parsed.document;
};

describe('the schema that a document suggests', () => {
  it('has number, dates, parties, items and totals of an invoice, all of which are found', async () => {
    const document = await sampleInvoice();
    const schema = proposalFor(document);
    const { value } = extract(document, schema);
    expect(Object.keys(value)).to.have.members(Object.keys(schema['properties'] as object));
    expect(value).to.deep.include({
      seller: 'Larkspur & Finch Ltd',
      bill_to: 'Brindlemere Observatory',
      invoice_number: 'LF-2031-0417',
      invoice_date: '2031-03-17',
      due_date: '2031-04-16',
      subtotal: 631,
      vat: 126.2,
      total: 757.2,
    });
    expect(value).not.to.have.property('authors');
    expect(value['items']).to.have.length(4);
    expect((value['items'] as unknown[])[0]).to.deep.equal({
      pos: 1,
      description: 'Brass telescope mount, polished',
      quantity: 2,
      unit_price: 184.5,
      amount: 369,
    });
  });

  it('is what the document names itself where no time is left', async () => {
    const document = await sampleInvoice();
    const properties = (schema: object): readonly string[] =>
      Object.keys((schema as { properties: object }).properties);
    const hurried = proposalFor(document, () => true);
    expect(properties(hurried)).to.include('invoice_number');
    expect(properties(proposalFor(document))).to.include.members(['currency']);
    expect(properties(hurried)).not.to.include('currency');
  });

  const textFile = async (text: string, fileName: string) => {
    const bytes = Buffer.from(text);
    const parsed = await readFileAsDocument({
      bytes,
      fileName,
      pagesMax: 5,
      effort: 'standard' as const,
      languages: [],
    });
    if (parsed.kind !== 'ok') throw new Error(parsed.kind);
    return parsed.document;
  };

  const proposed = (document: Document) => {
    const schema = proposalFor(document);
    return { schema, properties: schema['properties'] as JsonObject, value: extract(document, schema).value };
  };

  it('has the labels of a form that stand left of their values without a mark', () => {
    const rows = [
      ['Advertiser', 'Grey Heron Books'],
      ['Agency', 'Tern and Tide'],
      ['Salesperson', 'Ada Low'],
      ['Order Type', 'Normal'],
    ];
    const { value } = proposed(
      laidOut([
        rows.flatMap(([label = '', said = ''], i): Placed[] => [
          [40, 60 + 20 * i, label],
          [180, 60 + 20 * i, said],
        ]),
      ]),
    );
    expect(value).to.deep.include({ advertiser: 'Grey Heron Books', agency: 'Tern and Tide' });
    expect(value).to.deep.include({ salesperson: 'Ada Low', order_type: 'Normal' });
  });

  it('has the date of a stamp, and both days of a range', async () => {
    const { value } = proposed(
      await textFile(
        'Received by the Registry 3/14/2031\n\nFlight Dates: 02/07/2031 - 02/13/2031\n',
        'a.txt',
      ),
    );
    expect(value).to.deep.include({ received: '2031-03-14' });
    expect(value).to.deep.include({ flight_dates_from: '2031-02-07', flight_dates_to: '2031-02-13' });
  });

  it('has the sections of a CV as lists of entries, and none of their labels again', async () => {
    const { properties, value } = proposed(
      await textFile(
        [
          '# Ada Low',
          '## Work experience',
          'Cook - Grey Heron Ltd',
          'March 2028 - December 2030',
          'Led the kitchen: soups, bread.',
          'Kitchen porter - Tern Inn',
          'May 2025 - February 2028',
          '## Education',
          'BA - Quill College',
          'September 2021 - June 2025',
          '## Languages',
          '- English',
          '- Dutch',
        ].join('\n\n'),
        'cv.md',
      ),
    );
    expect(value['work_experience']).to.have.length(2);
    expect((value['work_experience'] as unknown[])[1]).to.deep.include({
      title: 'Kitchen porter',
      organization: 'Tern Inn',
      from: 'May 2025',
      to: 'February 2028',
    });
    expect(value['education']).to.have.length(1);
    expect(value['languages']).to.deep.equal(['English', 'Dutch']);
    expect(properties).not.to.have.property('led_the_kitchen');
    expect(properties).not.to.have.property('seller');
  });

  it('calls nobody a seller, and no day that of an agreement, where nothing shows either', async () => {
    const { properties } = proposed(
      await textFile('Grey Heron Society Ltd\n\n7 May 2031\n\nThe gate is painted green.\n', 'a.txt'),
    );
    expect(properties).not.to.have.any.keys('seller', 'buyer', 'effective_date', 'invoice_date');
  });
});
