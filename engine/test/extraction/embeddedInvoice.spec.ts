import { deflateSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { openFile } from '../../formats/readDocument.ts';
import { runJob } from '../../isolation/runJob.ts';
import { pdfOf } from '../support/pdfs.ts';

const RAM = 'urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100';
const RSM = 'urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100';
const UDT = 'urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100';

interface Said {
  readonly number?: string;
  readonly total?: string;
  readonly more?: string;
  readonly taxes?: readonly string[];
  readonly head?: string;
}

const taxOf = (rate: string): string =>
  `<ApplicableTradeTax><RateApplicablePercent>${rate}</RateApplicablePercent></ApplicableTradeTax>`;

/** An invoice in the syntax of Factur-X; its prefixes are not those of the standard, which say nothing. */
const cii = ({ number = 'R-2031-7', total = '238.00', more = '', taxes = ['19.00'], head = '' }: Said = {}) =>
  `<?xml version="1.0" encoding="UTF-8"?>${head}
  <a:CrossIndustryInvoice xmlns:a="${RSM}" xmlns="${RAM}" xmlns:u="${UDT}">
  <a:ExchangedDocument><ID>${number}</ID><TypeCode>380</TypeCode><IssueDateTime>
    <u:DateTimeString format="102">20310304</u:DateTimeString></IssueDateTime></a:ExchangedDocument>
  <a:SupplyChainTradeTransaction>
    <IncludedSupplyChainTradeLineItem>
      <AssociatedDocumentLineDocument><LineID>1</LineID></AssociatedDocumentLineDocument>
      <SpecifiedTradeProduct><SellerAssignedID>L-1</SellerAssignedID>
        <Name>Lamp &amp; shade</Name></SpecifiedTradeProduct>
      <SpecifiedLineTradeAgreement><NetPriceProductTradePrice>
        <ChargeAmount>50.00</ChargeAmount></NetPriceProductTradePrice>
      </SpecifiedLineTradeAgreement>
      <SpecifiedLineTradeDelivery><BilledQuantity unitCode="C62">4</BilledQuantity></SpecifiedLineTradeDelivery>
      <SpecifiedLineTradeSettlement><SpecifiedTradeSettlementLineMonetarySummation>
        <LineTotalAmount>200.00</LineTotalAmount>
      </SpecifiedTradeSettlementLineMonetarySummation></SpecifiedLineTradeSettlement></IncludedSupplyChainTradeLineItem>
    <ApplicableHeaderTradeAgreement>
      <SellerTradeParty><Name>Alder &amp; Birch GmbH</Name>
        <PostalTradeAddress><PostcodeCode>89073</PostcodeCode><LineOne>Lange Gasse 1</LineOne><CityName>Ulm</CityName>
        </PostalTradeAddress>
        <SpecifiedTaxRegistration><ID schemeID="FC">88/123/45678</ID></SpecifiedTaxRegistration>
        <SpecifiedTaxRegistration><ID schemeID="VA">DE136695976</ID></SpecifiedTaxRegistration></SellerTradeParty>
      <BuyerTradeParty><Name>Cedar AG</Name></BuyerTradeParty></ApplicableHeaderTradeAgreement>
    <ApplicableHeaderTradeDelivery/>
    <ApplicableHeaderTradeSettlement><InvoiceCurrencyCode>EUR</InvoiceCurrencyCode>
      <SpecifiedTradeSettlementPaymentMeans><PayeePartyCreditorFinancialAccount><IBANID>DE89370400440532013000</IBANID>
      </PayeePartyCreditorFinancialAccount></SpecifiedTradeSettlementPaymentMeans>
      ${taxes.map(taxOf).join('')}
      <SpecifiedTradeSettlementHeaderMonetarySummation><LineTotalAmount>200.00</LineTotalAmount>
        <TaxBasisTotalAmount>200.00</TaxBasisTotalAmount><TaxTotalAmount currencyID="EUR">38.00</TaxTotalAmount>
        <GrandTotalAmount>${total}</GrandTotalAmount></SpecifiedTradeSettlementHeaderMonetarySummation>${more}
    </ApplicableHeaderTradeSettlement></a:SupplyChainTradeTransaction></a:CrossIndustryInvoice>`;

const UBL =
  '<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2" ' +
  'xmlns:x="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2" ' +
  'xmlns:y="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2"><y:ID>R-2031-7</y:ID>' +
  '<y:IssueDate>2031-03-04</y:IssueDate><y:DocumentCurrencyCode>EUR</y:DocumentCurrencyCode>' +
  '<x:AccountingSupplierParty><x:Party><x:PartyLegalEntity><y:RegistrationName>Alder &amp; Birch GmbH' +
  '</y:RegistrationName></x:PartyLegalEntity></x:Party></x:AccountingSupplierParty>' +
  '<x:LegalMonetaryTotal><y:TaxInclusiveAmount currencyID="EUR">238.00</y:TaxInclusiveAmount></x:LegalMonetaryTotal>' +
  '</Invoice>';

interface Attached {
  readonly name: string;
  readonly xml: string | Buffer;
}

const stream = (dictionary: string, bytes: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`<< ${dictionary} /Length ${String(bytes.length)} >>\nstream\n`),
    bytes,
    Buffer.from('\nendstream'),
  ]);

/** A page with lines of text, and files that are attached to it. */
function pdfWith(lines: readonly string[], files: readonly Attached[], tree?: string): Buffer {
  const content = lines
    .map((line, at) => `BT /F1 12 Tf 40 ${String(700 - 24 * at)} Td (${line}) Tj ET`)
    .join('\n');
  const first = 6;
  const names = files.map((_, at) => `(${String(at)}) ${String(first + 2 * at)} 0 R`).join(' ');
  return pdfOf(
    [
      `<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles ${tree ?? `<< /Names [${names}] >>`} >> >>`,
      '<< /Type /Pages /Kids [4 0 R] /Count 1 >>',
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>',
      stream('', Buffer.from(content, 'latin1')),
      ...files.flatMap(({ name, xml }, at) => [
        `<< /Type /Filespec /F (${name}) /UF (${name}) /EF << /F ${String(first + 1 + 2 * at)} 0 R >> >>`,
        stream('/Type /EmbeddedFile /Filter /FlateDecode', deflateSync(Buffer.from(xml))),
      ]),
    ],
    '',
  );
}

const PRINTED = ['Invoice number: R-2031-7', 'Invoice date: 04.03.2031', 'Total: 238.00 EUR'];
const FACTUR_X = 'factur-x.xml';

const SCHEMA = {
  type: 'object',
  properties: {
    invoice_number: { type: 'string' },
    invoice_date: { type: 'string', format: 'date' },
    vendor: { type: 'string' },
    customer_name: { type: 'string' },
    vendor_vat_id: { type: 'string' },
    iban: { type: 'string' },
    currency: { type: 'string' },
    net_amount: { type: 'number' },
    tax_rate: { type: 'number' },
    total: { type: 'number', description: 'grand total incl. tax' },
    items: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          description: { type: 'string' },
          quantity: { type: 'number' },
          unit_price: { type: 'number' },
          line_total: { type: 'number' },
        },
      },
    },
  },
};

async function extracted(bytes: Buffer, schema: JsonObject = SCHEMA) {
  const file = { bytes, fileName: 'a.pdf', effort: 'standard' as const, pagesMax: 100, languages: [] };
  const job = { kind: 'extract' as const, file, schema, settings: { citations: true } };
  const answer = await runJob(job, { tell: () => undefined, open: openFile, isLate: () => false });
  if (answer.kind !== 'ok' || !('extraction' in answer)) throw new Error(JSON.stringify(answer));
  const { value, citations, warnings } = answer.extraction;
  const byXml = citations.filter(({ by }) => by === 'embedded_xml').map(({ path }) => path);
  return { value: value as Record<string, Json>, citations, warnings, byXml };
}

describe('an invoice that lies in a PDF as data', () => {
  it('gives all values that it has a place for, and its lines, with its own name as their source', async () => {
    const { value, byXml, citations, warnings } = await extracted(
      pdfWith(['Invoice'], [{ name: FACTUR_X, xml: cii() }]),
    );
    expect(value).to.deep.include({
      invoice_number: 'R-2031-7',
      invoice_date: '2031-03-04',
      vendor: 'Alder & Birch GmbH',
      customer_name: 'Cedar AG',
      vendor_vat_id: 'DE136695976',
      iban: 'DE89370400440532013000',
      currency: 'EUR',
      net_amount: 200,
      tax_rate: 19,
      total: 238,
      items: [{ description: 'Lamp & shade', quantity: 4, unit_price: 50, line_total: 200 }],
    });
    expect(byXml).to.include.members(['/total', '/items/0/line_total', '/vendor']);
    expect(citations.find(({ path }) => path === '/total')).to.deep.include({
      text: '238.00',
      page: 1,
      bbox: null,
    });
    expect(warnings).to.deep.equal([]);
  });

  it('is read as UBL, too, and under the other names of the standards', async () => {
    for (const [name, xml] of [
      ['xrechnung.xml', UBL],
      ['ZUGFeRD-invoice.xml', cii()],
    ] as const) {
      const { value } = await extracted(pdfWith(['Invoice'], [{ name, xml }]));
      expect(value, name).to.include({
        invoice_number: 'R-2031-7',
        invoice_date: '2031-03-04',
        vendor: 'Alder & Birch GmbH',
        total: 238,
      });
    }
  });

  it('goes before the page, and the page is told where it says something else', async () => {
    const printed = ['Invoice number: R-2031-7', 'Invoice date: 04.03.2031', 'Total: 138.00 EUR'];
    const { value, warnings } = await extracted(pdfWith(printed, [{ name: FACTUR_X, xml: cii() }]));
    expect(value['total']).to.equal(238);
    const differ = warnings.filter(({ code }) => code === 'readings_differ');
    expect(differ.map((one) => ['path' in one && one.path, 'value' in one && one.value])).to.deep.equal([
      ['/total', 138],
    ]);
    expect(differ[0]).to.deep.include({ page: 1, text: '138.00 EUR' });
    const agreeing = await extracted(pdfWith(PRINTED, [{ name: FACTUR_X, xml: cii() }]));
    expect(agreeing.warnings).to.deep.equal([]);
  });

  it('goes before what a model answered, and the model is told where it read something else', async () => {
    const file = {
      bytes: pdfWith(PRINTED, [{ name: FACTUR_X, xml: cii() }]),
      fileName: 'a.pdf',
      effort: 'standard' as const,
      pagesMax: 100,
      languages: [],
    };
    const around = { tell: () => undefined, open: openFile, isLate: () => false };
    const read = await runJob({ kind: 'read', file }, around);
    if (read.kind !== 'ok' || !('document' in read) || !('packed' in read.document))
      throw new Error(read.kind);
    const answer = JSON.stringify({
      total: 999,
      vendor: 'ALDER & BIRCH GMBH',
      currency: 'EUR',
      note: 'kept',
    });
    const { packed } = read.document;
    const job = { kind: 'ground' as const, packed, schema: SCHEMA, settings: { citations: true }, answer };
    const grounded = await runJob(job, around);
    if (grounded.kind !== 'ok' || !('warnings' in grounded)) throw new Error(grounded.kind);
    expect(grounded.value).to.include({
      total: 238,
      vendor: 'Alder & Birch GmbH',
      invoice_number: 'R-2031-7',
      note: 'kept',
    });
    const differ = grounded.warnings.filter(({ code }) => code === 'readings_differ');
    expect(differ.map((one) => ['path' in one && one.path, 'value' in one && one.value])).to.deep.equal([
      ['/total', 999],
    ]);
    const cited = grounded.citations.filter(({ path }) => path === '/total');
    expect(cited.map(({ by }) => by)).to.deep.equal(['embedded_xml']);
  });

  it('leaves to the page what it says several times, or what the schema wants in another type', async () => {
    const { value, byXml } = await extracted(
      pdfWith(PRINTED, [{ name: FACTUR_X, xml: cii({ taxes: ['7.00', '19.00'], total: 'many' }) }]),
    );
    expect(byXml).not.to.include.members(['/tax_rate']);
    expect(byXml).not.to.include.members(['/total']);
    expect(value['total']).to.equal(238);
  });

  it('says exactly what stands in it, whatever that is', () =>
    fc.assert(
      fc.asyncProperty(
        fc.stringMatching(/^[A-Za-z0-9/._-]{1,30}$/),
        fc.integer({ min: -10_000_000, max: 10_000_000 }),
        async (number, cents) => {
          const total = (cents / 100).toFixed(2);
          const { value } = await extracted(
            pdfWith(['Invoice'], [{ name: FACTUR_X, xml: cii({ number, total }) }]),
          );
          expect(value).to.include({ invoice_number: number, total: cents / 100 });
        },
      ),
      { numRuns: 5 },
    ));

  describe('is none, and the pages are read as ever,', () => {
    const ENTITY = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>';
    const cases: Readonly<Record<string, Buffer>> = {
      'where the file has another name': pdfWith(PRINTED, [
        { name: 'invoice.xml', xml: cii({ total: '1.00' }) },
      ]),
      'where several files are the invoice': pdfWith(PRINTED, [
        { name: FACTUR_X, xml: cii({ total: '1.00' }) },
        { name: 'xrechnung.xml', xml: cii({ total: '2.00' }) },
      ]),
      'where it declares entities': pdfWith(PRINTED, [
        { name: FACTUR_X, xml: cii({ head: ENTITY, number: '&x;', total: '1.00' }) },
      ]),
      'where it unpacks to more than there is room for': pdfWith(PRINTED, [
        {
          name: FACTUR_X,
          xml: Buffer.concat([Buffer.from(cii({ total: '1.00' })), Buffer.alloc(40_000_000, 32)]),
        },
      ]),
      'where it is nested too deeply': pdfWith(PRINTED, [
        { name: FACTUR_X, xml: cii({ total: '1.00', more: '<a>'.repeat(5_000) + '</a>'.repeat(5_000) }) },
      ]),
      'where it has too many elements': pdfWith(PRINTED, [
        { name: FACTUR_X, xml: cii({ total: '1.00', more: '<a/>'.repeat(300_000) }) },
      ]),
      'where it is no invoice': pdfWith(PRINTED, [{ name: FACTUR_X, xml: '<html><ID>1</ID></html>' }]),
      'where it is cut off': pdfWith(PRINTED, [
        { name: FACTUR_X, xml: cii({ total: '1.00' }).slice(0, -40) },
      ]),
      'where the tree of names has no end': pdfWith(
        PRINTED,
        [],
        '1 0 R /EmbeddedFiles << /Kids [1 0 R 1 0 R] >>',
      ),
      'where the name is a stream that is not there': pdfWith(
        PRINTED,
        [],
        '<< /Names [(a) 99 0 R (b) 1 0 R] >>',
      ),
    };
    for (const [what, bytes] of Object.entries(cases))
      it(what, async () => {
        const { value, byXml, warnings } = await extracted(bytes);
        expect(byXml).to.deep.equal([]);
        expect(value).to.include({ invoice_number: 'R-2031-7', total: 238 });
        expect(warnings.filter(({ code }) => code === 'readings_differ')).to.deep.equal([]);
      });
  });
});
