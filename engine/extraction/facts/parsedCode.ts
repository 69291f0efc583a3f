import type { ParsedCode } from '../../document/codes.ts';
import { ibansIn } from '../values/identifiers.ts';

const LINES_MAX = 60;

const linesOf = (text: string): readonly string[] =>
  text.split(/\r\n|\r|\n/, LINES_MAX).map((line) => line.trim());

/** undefined where the check digits do not agree, or more stands there. */
function ibanOf(text: string): string | undefined {
  const [found] = ibansIn(text.toUpperCase());
  return found?.valid === true && found.from === 0 && found.to === text.length ? found.value : undefined;
}

const AMOUNT = /^\d{1,12}(?:\.\d{1,2})?$/;
const amountOf = (text: string): number | null => (AMOUNT.test(text) ? Number(text) : null);

const said = (text: string | undefined): string | null => (text === undefined || text === '' ? null : text);

/** A payment code of the European Payments Council, which German banks call GiroCode. */
function epcOf(text: string): ParsedCode | undefined {
  const lines = linesOf(text);
  if (lines[0] !== 'BCD' || !/^00[12]$/.test(lines[1] ?? '') || lines[3] !== 'SCT') return undefined;
  const [, , , , bic, name, iban = '', money = '', purpose, reference, remittance, note] = lines;
  const account = ibanOf(iban);
  if (account === undefined || said(name) === null) return undefined;
  const amount = amountOf(money.replace(/^EUR/, ''));
  return {
    kind: 'epc_payment',
    iban: account,
    bic: said(bic),
    payee: said(name),
    amount,
    currency: 'EUR',
    purpose: said(purpose),
    reference: said(reference),
    remittance: said(remittance),
    note: said(note),
  };
}

/** An address of a QR-bill: in lines, or in parts. */
function addressOf([kind, name, one, two, code, town, country]: readonly string[]) {
  if (said(name) === null) return null;
  const isInLines = kind === 'K';
  return {
    name: said(name),
    address: said([one, two].filter((part) => said(part) !== null).join(isInLines ? ', ' : ' ')),
    postal_code: isInLines ? null : said(code),
    city: isInLines ? null : said(town),
    country: said(country),
  };
}

/** Where its parts begin in a Swiss QR-bill. */
const SWISS = {
  iban: 3,
  creditor: 4,
  amount: 18,
  currency: 19,
  debtor: 20,
  kind: 27,
  reference: 28,
  note: 29,
  end: 30,
};
const ADDRESS_LINES = 7;

function swissOf(text: string): ParsedCode | undefined {
  const lines = linesOf(text);
  if (lines[0] !== 'SPC' || !/^02/.test(lines[1] ?? '') || lines[SWISS.end] !== 'EPD') return undefined;
  const iban = ibanOf(lines[SWISS.iban] ?? '');
  const creditor = addressOf(lines.slice(SWISS.creditor, SWISS.creditor + ADDRESS_LINES));
  if (iban === undefined || creditor === null) return undefined;
  return {
    kind: 'swiss_qr_bill',
    iban,
    payee: creditor.name,
    creditor,
    amount: amountOf(lines[SWISS.amount] ?? ''),
    currency: said(lines[SWISS.currency]),
    debtor: addressOf(lines.slice(SWISS.debtor, SWISS.debtor + ADDRESS_LINES)),
    reference_type: said(lines[SWISS.kind]),
    reference: said(lines[SWISS.reference]),
    remittance: said(lines[SWISS.note]),
    bill_information: said(lines[SWISS.end + 1]),
  };
}

/** The first value of a property of a vCard, without its escapes. */
function cardValue(text: string, property: string): string | null {
  const unfolded = text.replace(/\r?\n[ \t]/g, '');
  const line = unfolded
    .split(/\r\n|\r|\n/, LINES_MAX)
    .find((one) => new RegExp(`^(?:item\\d\\.)?${property}(?:;[^:]*)?:`, 'i').test(one));
  return said(
    line
      ?.slice(line.indexOf(':') + 1)
      .replace(/\\([,;\\])/g, '$1')
      .trim(),
  );
}

function cardOf(text: string): ParsedCode | undefined {
  if (!/^BEGIN:VCARD/i.test(text)) return undefined;
  const value = (property: string) => cardValue(text, property);
  const address = value('ADR')
    ?.split(';')
    .filter((part) => part !== '')
    .join(', ');
  return {
    kind: 'vcard',
    name:
      value('FN') ??
      value('N')
        ?.split(';')
        .filter((part) => part !== '')
        .reverse()
        .join(' ') ??
      null,
    organization: value('ORG')?.replaceAll(';', ', ') ?? null,
    title: value('TITLE'),
    email: value('EMAIL'),
    phone: value('TEL')?.replace(/^tel:/i, '') ?? null,
    url: value('URL'),
    address: said(address),
  };
}

const urlOf = (text: string): ParsedCode | undefined =>
  /^https?:\/\/\S{3,2000}$/i.test(text) && URL.canParse(text) ? { kind: 'url', url: text } : undefined;

/** The parts of a code's text; undefined for texts of no known kind, and where check digits do not agree. */
export const parsedCode = (text: string): ParsedCode | undefined =>
  epcOf(text) ?? swissOf(text) ?? cardOf(text) ?? urlOf(text);
