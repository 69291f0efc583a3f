import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { proposalFor } from '../../extraction/schema/proposal.ts';
import { extract } from '../../extraction/extract.ts';
import { readFileAsDocument } from '../../formats/readDocument.ts';

const sampleInvoice = async () => {
  const bytes = readFileSync('test/fixtures/invoice.pdf');
  const parsed = await readFileAsDocument({
    ...{ bytes, fileName: 'invoice.pdf', pagesMax: 5, effort: 'standard', languages: [] },
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
      ...{ seller: 'Larkspur & Finch Ltd', bill_to: 'Brindlemere Observatory' },
      ...{ invoice_number: 'LF-2031-0417', invoice_date: '2031-03-17', due_date: '2031-04-16' },
      ...{ subtotal: 631, vat: 126.2, total: 757.2 },
    });
    expect(value).not.to.have.property('authors');
    expect(value['items']).to.have.length(4);
    expect((value['items'] as unknown[])[0]).to.deep.equal({
      ...{
        pos: 1,
        description: 'Brass telescope mount, polished',
        quantity: 2,
        unit_price: 184.5,
        amount: 369,
      },
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
});
