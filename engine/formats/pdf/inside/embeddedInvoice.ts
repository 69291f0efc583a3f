import type { EmbeddedInvoice } from '../../../document/document.ts';
import { oneLine } from '../../../document/plainText.ts';
import { elementsOf, parseXml, textIn, type XmlElement } from '../../office/xmlTree.ts';
import { isRef, type PdfObjects } from './objects.ts';
import type { PdfDict, PdfRef, PdfValue } from './syntax.ts';

/*
 * A PDF may carry its invoice as data: Factur-X, ZUGFeRD and XRechnung lie in it under names of their own, as UN/CEFACT
 * CII or as UBL. Only what EN 16931 gives one place is taken, under the concept of the extractor that it is.
 */

/** By these names alone a file is the invoice; what else is attached is a document of its own. */
const NAMES: ReadonlySet<string> = new Set(['factur-x.xml', 'zugferd-invoice.xml', 'xrechnung.xml']);

const BYTES_MAX = 4 * 1024 * 1024;
const LIMITS = { depthMax: 64, elementsMax: 200_000, doctype: 'refused' } as const;
const ROWS_MAX = 10_000;
const TEXT_MAX = 1_000;
/** Parts of the tree of names, and names in one part. */
const [NODES_MAX, NAMES_MAX] = [200, 2_000];

const PREFIXES = {
  'urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100': 'rsm',
  'urn:ferd:CrossIndustryDocument:invoice:1p0': 'rsm',
  'urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100': 'ram',
  'urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:12': 'ram',
  'urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100': 'udt',
  'urn:un:unece:uncefact:data:standard:UnqualifiedDataType:15': 'udt',
  'urn:oasis:names:specification:ubl:schema:xsd:Invoice-2': 'ubl',
  'urn:oasis:names:specification:ubl:schema:xsd:CreditNote-2': 'ubl',
  'urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2': 'cac',
  'urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2': 'cbc',
};

/** Where a concept stands: names one below the other; `@name=value` is what an element must say of itself. */
type Places = Readonly<Record<string, readonly string[]>>;

interface Syntax {
  readonly root: RegExp;
  readonly header: Places;
  readonly row: string;
  readonly rows: Places;
}

const AGREED = 'rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeAgreement';
const DELIVERED = 'rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeDelivery';
const SETTLED = 'rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeSettlement';
const SUMS = `${SETTLED}/ram:SpecifiedTradeSettlementHeaderMonetarySummation`;
const MEANS = `${SETTLED}/ram:SpecifiedTradeSettlementPaymentMeans`;

const ciiParty = (role: 'seller' | 'buyer', at: string): Places => ({
  [role]: [`${at}/ram:Name`],
  [`${role}.vat_id`]: [`${at}/ram:SpecifiedTaxRegistration/ram:ID@schemeID=VA`],
  [`${role}.tax_number`]: [`${at}/ram:SpecifiedTaxRegistration/ram:ID@schemeID=FC`],
  [`${role}.street`]: [`${at}/ram:PostalTradeAddress/ram:LineOne`],
  [`${role}.postal_code`]: [`${at}/ram:PostalTradeAddress/ram:PostcodeCode`],
  [`${role}.city`]: [`${at}/ram:PostalTradeAddress/ram:CityName`],
});

const CII: Syntax = {
  root: /^rsm:CrossIndustry(?:Invoice|Document)$/,
  header: {
    invoice_number: ['rsm:ExchangedDocument/ram:ID', 'rsm:HeaderExchangedDocument/ram:ID'],
    invoice_date: ['rsm:ExchangedDocument/ram:IssueDateTime/udt:DateTimeString'],
    due_date: [`${SETTLED}/ram:SpecifiedTradePaymentTerms/ram:DueDateDateTime/udt:DateTimeString`],
    delivery_date: [
      `${DELIVERED}/ram:ActualDeliverySupplyChainEvent/ram:OccurrenceDateTime/udt:DateTimeString`,
    ],
    order_number: [`${AGREED}/ram:BuyerOrderReferencedDocument/ram:IssuerAssignedID`],
    contract_number: [`${AGREED}/ram:ContractReferencedDocument/ram:IssuerAssignedID`],
    ...ciiParty('seller', `${AGREED}/ram:SellerTradeParty`),
    ...ciiParty('buyer', `${AGREED}/ram:BuyerTradeParty`),
    payee: [`${SETTLED}/ram:PayeeTradeParty/ram:Name`],
    currency: [`${SETTLED}/ram:InvoiceCurrencyCode`],
    iban: [`${MEANS}/ram:PayeePartyCreditorFinancialAccount/ram:IBANID`],
    bic: [`${MEANS}/ram:PayeeSpecifiedCreditorFinancialInstitution/ram:BICID`],
    tax_rate: [
      `${SETTLED}/ram:ApplicableTradeTax/ram:RateApplicablePercent`,
      `${SETTLED}/ram:ApplicableTradeTax/ram:ApplicablePercent`,
    ],
    line_sum: [`${SUMS}/ram:LineTotalAmount`],
    net_total: [`${SUMS}/ram:TaxBasisTotalAmount`],
    tax_total: [`${SUMS}/ram:TaxTotalAmount`],
    grand_total: [`${SUMS}/ram:GrandTotalAmount`],
    paid_amount: [`${SUMS}/ram:TotalPrepaidAmount`],
    amount_due: [`${SUMS}/ram:DuePayableAmount`],
  },
  row: 'rsm:SupplyChainTradeTransaction/ram:IncludedSupplyChainTradeLineItem',
  rows: {
    line_number: ['ram:AssociatedDocumentLineDocument/ram:LineID'],
    article_number: ['ram:SpecifiedTradeProduct/ram:SellerAssignedID'],
    description: ['ram:SpecifiedTradeProduct/ram:Name'],
    unit_price: ['ram:SpecifiedLineTradeAgreement/ram:NetPriceProductTradePrice/ram:ChargeAmount'],
    quantity: ['ram:SpecifiedLineTradeDelivery/ram:BilledQuantity'],
    tax_rate: ['ram:SpecifiedLineTradeSettlement/ram:ApplicableTradeTax/ram:RateApplicablePercent'],
    line_total: [
      'ram:SpecifiedLineTradeSettlement/ram:SpecifiedTradeSettlementLineMonetarySummation/ram:LineTotalAmount',
    ],
  },
};

const ublParty = (role: 'seller' | 'buyer', at: string): Places => ({
  [role]: [`${at}/cac:PartyLegalEntity/cbc:RegistrationName`, `${at}/cac:PartyName/cbc:Name`],
  [`${role}.vat_id`]: [`${at}/cac:PartyTaxScheme/cbc:CompanyID`],
  [`${role}.street`]: [`${at}/cac:PostalAddress/cbc:StreetName`],
  [`${role}.postal_code`]: [`${at}/cac:PostalAddress/cbc:PostalZone`],
  [`${role}.city`]: [`${at}/cac:PostalAddress/cbc:CityName`],
});

const UBL: Syntax = {
  root: /^ubl:(?:Invoice|CreditNote)$/,
  header: {
    invoice_number: ['cbc:ID'],
    invoice_date: ['cbc:IssueDate'],
    due_date: ['cbc:DueDate', 'cac:PaymentMeans/cbc:PaymentDueDate'],
    delivery_date: ['cac:Delivery/cbc:ActualDeliveryDate'],
    order_number: ['cac:OrderReference/cbc:ID'],
    contract_number: ['cac:ContractDocumentReference/cbc:ID'],
    ...ublParty('seller', 'cac:AccountingSupplierParty/cac:Party'),
    ...ublParty('buyer', 'cac:AccountingCustomerParty/cac:Party'),
    payee: ['cac:PayeeParty/cac:PartyName/cbc:Name'],
    currency: ['cbc:DocumentCurrencyCode'],
    iban: ['cac:PaymentMeans/cac:PayeeFinancialAccount/cbc:ID'],
    bic: ['cac:PaymentMeans/cac:PayeeFinancialAccount/cac:FinancialInstitutionBranch/cbc:ID'],
    tax_rate: ['cac:TaxTotal/cac:TaxSubtotal/cac:TaxCategory/cbc:Percent'],
    line_sum: ['cac:LegalMonetaryTotal/cbc:LineExtensionAmount'],
    net_total: ['cac:LegalMonetaryTotal/cbc:TaxExclusiveAmount'],
    tax_total: ['cac:TaxTotal/cbc:TaxAmount'],
    grand_total: ['cac:LegalMonetaryTotal/cbc:TaxInclusiveAmount'],
    paid_amount: ['cac:LegalMonetaryTotal/cbc:PrepaidAmount'],
    amount_due: ['cac:LegalMonetaryTotal/cbc:PayableAmount'],
  },
  row: 'cac:InvoiceLine',
  rows: {
    line_number: ['cbc:ID'],
    article_number: ['cac:Item/cac:SellersItemIdentification/cbc:ID'],
    description: ['cac:Item/cbc:Name'],
    unit_price: ['cac:Price/cbc:PriceAmount'],
    quantity: ['cbc:InvoicedQuantity'],
    tax_rate: ['cac:Item/cac:ClassifiedTaxCategory/cbc:Percent'],
    line_total: ['cbc:LineExtensionAmount'],
  },
};

/** The invoice that lies in a file; undefined where there is none, several, or none that can be read. */
export function embeddedInvoice(objects: PdfObjects): EmbeddedInvoice | undefined {
  const [file, ...others] = invoiceFiles(objects);
  const bytes = file === undefined || others.length > 0 ? undefined : objects.stream(file)?.bytes;
  if (bytes === undefined || bytes.length > BYTES_MAX) return undefined;
  const xml = parseXml(bytes, PREFIXES, LIMITS);
  const syntax = xml.kind === 'xml' ? [CII, UBL].find(({ root }) => root.test(xml.root.name)) : undefined;
  if (xml.kind !== 'xml' || syntax === undefined) return undefined;
  const rows = placesAt(xml.root, syntax.row.split('/'));
  return {
    said: saidIn(xml.root, syntax.header),
    rows: rows.length > ROWS_MAX ? [] : rows.map((row) => saidIn(row, syntax.rows)),
  };
}

/** The streams of attached files that have the name of an invoice. */
function invoiceFiles(objects: PdfObjects): readonly PdfRef[] {
  const found = new Map<number, PdfRef>();
  for (const value of attached(objects)) {
    const file = objects.dict(value);
    const names = [memberOf(file, 'UF'), memberOf(file, 'F')].map((name) => nameOf(objects.get(name)));
    if (!names.some((name) => NAMES.has(name))) continue;
    const parts = objects.dict(memberOf(file, 'EF'));
    const stream = memberOf(parts, 'F') ?? memberOf(parts, 'UF');
    if (isRef(stream)) found.set(stream.number, stream);
  }
  return [...found.values()];
}

const memberOf = (dict: PdfDict | undefined, name: string): PdfValue | undefined => dict?.entries.get(name);

/** What the tree of embedded files names, and what the catalog says belongs to the document. */
function attached(objects: PdfObjects): readonly PdfValue[] {
  const { root } = objects;
  const itemsOf = (dict: PdfDict | undefined, name: string): readonly PdfValue[] =>
    objects.list(memberOf(dict, name))?.items.slice(0, NAMES_MAX) ?? [];
  const found = [...itemsOf(root, 'AF')];
  const open = [memberOf(objects.dict(memberOf(root, 'Names')), 'EmbeddedFiles')];
  for (let nodes = 0; nodes < NODES_MAX && open.length > 0; nodes += 1) {
    const node = objects.dict(open.pop());
    found.push(...itemsOf(node, 'Names').filter((_, at) => at % 2 === 1));
    open.push(...itemsOf(node, 'Kids'));
  }
  return found;
}

const nameOf = (value: PdfValue | undefined): string => {
  if (typeof value !== 'object' || value?.kind !== 'text') return '';
  const bytes = Buffer.from(value.bytes);
  const isUtf16 = bytes[0] === 0xfe && bytes[1] === 0xff;
  return (
    isUtf16 ? Buffer.from(bytes.subarray(2)).swap16().toString('utf16le') : bytes.toString('latin1')
  ).toLowerCase();
};

/** What stands at each place once; several values at one place say none. */
function saidIn(element: XmlElement, places: Places): Readonly<Record<string, string>> {
  const said = Object.entries(places).flatMap(([concept, paths]): [string, string][] => {
    for (const path of paths) {
      const values = new Set(valuesAt(element, path));
      const [value] = values;
      if (values.size === 1 && value !== undefined) return [[concept, value]];
      if (values.size > 1) return [];
    }
    return [];
  });
  return Object.fromEntries(said);
}

const ISO_DAY = /^(\d{4})(\d{2})(\d{2})$/;

function valuesAt(element: XmlElement, path: string): readonly string[] {
  const [names = '', condition] = path.split('@');
  const [attribute = '', wanted] = (condition ?? '').split('=');
  return placesAt(element, names.split('/'))
    .filter(({ attributes }) => condition === undefined || attributes[attribute] === wanted)
    .map((found) => {
      const text = oneLine(textIn(found)).trim().slice(0, TEXT_MAX);
      const isDay = found.attributes['format'] === '102';
      return isDay ? text.replace(ISO_DAY, '$1-$2-$3') : text;
    })
    .filter((text) => text !== '');
}

/** Elements by their names, one below the other. */
const placesAt = (element: XmlElement, names: readonly string[]): readonly XmlElement[] =>
  names.reduce<readonly XmlElement[]>(
    (found, name) => found.flatMap((one) => elementsOf(one, name)),
    [element],
  );
