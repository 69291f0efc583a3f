import { expect } from 'chai';
import { markdownOf } from '../../document/markdown.ts';
import { extract } from '../../extraction/extract.ts';
import { readText } from '../support/readText.ts';

const read = (xml: string) => readText(xml, 'a.xml');

describe('XML that programs wrote', () => {
  it('is a form: a label before each value, and elements of one name as rows', async () => {
    const xml =
      '<?xml version="1.0"?><o:order xmlns:o="urn:x" priority="high"><o:id>A-1</o:id>' +
      '<o:PlacedOn>2031-03-04</o:PlacedOn>' +
      '<o:ShipTo><o:Address><o:City>Ulm</o:City></o:Address></o:ShipTo>' +
      '<o:Buyer><o:Name>Ann</o:Name><o:Phone>1</o:Phone></o:Buyer>' +
      '<o:line no="1"><o:sku>X</o:sku><o:price currencyID="EUR">3.50</o:price></o:line>' +
      '<o:line no="2"><o:sku>Y</o:sku><o:price currencyID="EUR">4.00</o:price><o:note>late</o:note></o:line></o:order>';
    expect(markdownOf(await read(xml))).to.equal(
      '# order\n\norder priority: high\norder id: A-1\nPlaced On: 2031-03-04\nShip To City: Ulm\n\n## Buyer\n\n' +
        'Buyer Name: Ann\nBuyer Phone: 1\n\n' +
        '| line no | line sku | line price | line note |\n| --- | --- | --- | --- |\n' +
        '| 1 | X | 3.50 EUR |  |\n| 2 | Y | 4.00 EUR | late |\n',
    );
  });

  const schema = {
    type: 'object',
    properties: {
      invoice_number: { type: 'string' },
      invoice_date: { type: 'string', format: 'date' },
      due_date: { type: 'string', format: 'date' },
      total: { type: 'number', description: 'grand total incl. tax' },
      currency: { type: 'string' },
    },
  };
  const values = {
    invoice_number: 'R-19',
    invoice_date: '2025-03-14',
    due_date: '2025-04-13',
    total: 238,
    currency: 'EUR',
  };
  const invoices: readonly (readonly [string, string])[] = [
    [
      'UBL',
      '<?xml version="1.0"?><Invoice xmlns:b="urn:b" xmlns:a="urn:a"><b:ID>R-19</b:ID>' +
        '<b:IssueDate>2025-03-14</b:IssueDate>' +
        '<b:DueDate>2025-04-13</b:DueDate><b:DocumentCurrencyCode>EUR</b:DocumentCurrencyCode><a:LegalMonetaryTotal>' +
        '<b:TaxExclusiveAmount currencyID="EUR">200.00</b:TaxExclusiveAmount>' +
        '<b:TaxInclusiveAmount currencyID="EUR">238.00</b:TaxInclusiveAmount></a:LegalMonetaryTotal>' +
        '<a:InvoiceLine><b:ID>1</b:ID><a:Item><b:Name>Lamp</b:Name></a:Item></a:InvoiceLine></Invoice>',
    ],
    [
      'CII',
      '<?xml version="1.0"?><CrossIndustryInvoice><ExchangedDocument><ID>R-19</ID><IssueDateTime>' +
        '<DateTimeString format="102">' +
        '20250314</DateTimeString></IssueDateTime></ExchangedDocument><SupplyChainTradeTransaction><Settlement>' +
        '<InvoiceCurrencyCode>EUR</InvoiceCurrencyCode><PaymentTerms>' +
        '<DueDateDateTime><DateTimeString format="102">20250413' +
        '</DateTimeString></DueDateDateTime></PaymentTerms><MonetarySummation>' +
        '<TaxBasisTotalAmount>200.00</TaxBasisTotalAmount>' +
        '<GrandTotalAmount>238.00</GrandTotalAmount></MonetarySummation></Settlement>' +
        '</SupplyChainTradeTransaction></CrossIndustryInvoice>',
    ],
  ];
  for (const [name, xml] of invoices)
    it(`gives the values of an invoice (${name})`, async () => {
      expect(extract(await read(xml), schema).value).to.deep.equal(values);
    });

  it('is shown as it stands where it is a text with marks in it, or not sound', async () => {
    for (const xml of [
      '<?xml version="1.0"?><p>Some <b>bold</b> text</p>',
      '<?xml version="1.0"?><a><b>open',
      '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
    ])
      expect((await read(xml)).pages.flatMap(({ lines }) => lines.map(({ text }) => text)).join('')).to.equal(
        xml,
      );
  });
});
