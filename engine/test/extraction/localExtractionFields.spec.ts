import { expect } from 'chai';
import { textDocument } from '../../formats/text/textDocument.ts';
import type { Document } from '../../document/document.ts';
import type { Json } from '../../kernel/json.ts';
import { extract } from '../../extraction/extract.ts';
import { isStreet, postalLine } from '../../extraction/parties/postal.ts';
import { laidOut, type Placed } from '../support/laidOut.ts';

const text = { type: 'string' };
const number = { type: 'number' };
const object = (properties: Record<string, Json>): Json => ({ type: 'object', properties });
const valueOf = (document: Document, properties: Record<string, Json>): Json =>
  extract(document, { type: 'object', properties }).value;
const said = (lines: string, properties: Record<string, Json>): Json =>
  valueOf(textDocument(lines), properties);

describe('parties and addresses', () => {
  const party = object({ name: text, address: object({ street: text, postal_code: text, city: text }) });
  const expected = {
    seller: { name: 'Amber Tools Ltd', address: { street: '12 Mill Road', postal_code: 'LS1 4AP', city: 'Leeds' } },
    customer: { name: 'Kiln & Co', address: { street: 'Ofenstraße 7', postal_code: '50667', city: 'Köln' } },
  }; // prettier-ignore

  it('are told apart by the titles above them', () => {
    const page: readonly Placed[] = [
      [50, 40, 'From'],
      [320, 40, 'Bill to'],
      [50, 54, 'Amber Tools Ltd'],
      [320, 54, 'Kiln & Co'],
      [50, 68, '12 Mill Road'],
      [320, 68, 'Ofenstraße 7'],
      [50, 82, 'Leeds LS1 4AP'],
      [320, 82, '50667 Köln'],
    ];
    expect(valueOf(laidOut([page]), { seller: party, customer: party })).to.deep.equal(expected);
  });

  it('are told apart by the line of the sender', () => {
    const page: readonly Placed[] = [
      [50, 40, 'Amber Tools Ltd · 12 Mill Road · Leeds LS1 4AP'],
      [50, 70, 'Kiln & Co'],
      [50, 84, 'Ofenstraße 7'],
      [50, 98, '50667 Köln'],
    ];
    expect(valueOf(laidOut([page]), { seller: party, customer: party })).to.deep.equal(expected);
  });

  it('cites an address with all of its words', () => {
    const page: readonly Placed[] = [
      [50, 40, 'Amber Tools Ltd'],
      [50, 54, '12 Mill Road,'],
      [50, 68, 'Leeds LS1 4AP'],
    ];
    const schema = { type: 'object', properties: { company: text, address: text } };
    const { value, citations } = extract(laidOut([page], 300), schema);
    expect(value).to.deep.equal({ company: 'Amber Tools Ltd', address: '12 Mill Road, Leeds LS1 4AP' });
    expect(citations.find(({ path }) => path === '/address')?.text).to.equal('12 Mill Road, Leeds LS1 4AP');
  });

  const towns: readonly (readonly [string, string, string])[] = [
    ['50667 Köln', '50667', 'Köln'],
    ['D-50667 Bad Homburg', '50667', 'Bad Homburg'],
    ['1100-053 Lisboa', '1100-053', 'Lisboa'],
    ['2511 CD Den Haag', '2511 CD', 'Den Haag'],
    ['York YO1 7HH', 'YO1 7HH', 'York'],
    ['Austin, TX 73301', '73301', 'Austin'],
  ];
  for (const [line, code, city] of towns)
    it(`reads ${line}`, () => {
      const parts = postalLine(line);
      expect(parts && line.slice(parts.postal_code.from, parts.postal_code.to)).to.equal(code);
      expect(parts && line.slice(parts.city.from, parts.city.to)).to.equal(city);
    });

  it('knows a street from other lines', () => {
    for (const line of ['12 Mill Road', 'Ofenstraße 7', '4 rue du Four', 'Via Roma 3', 'Calle Mayor 9'])
      expect(isStreet(line), line).to.equal(true);
    for (const line of ['Amber Tools Ltd', 'Invoice', 'www.example.org 12', 'Total 12.50 EUR due'])
      expect(isStreet(line), line).to.equal(false);
  });
});

describe('labels', () => {
  it('are read to the right, after dots and below', () => {
    const page: readonly Placed[] = [
      [50, 40, 'Berth number:'],
      [200, 40, 'Q-77'],
      [50, 60, 'Hull length ........ 12.4'],
      [50, 70, 'Sail area . . . . . . . . 31'],
      [50, 80, 'Rigging'],
      [200, 80, 'Skipper'],
      [50, 94, 'Sloop'],
      [200, 94, 'Ada Finn'],
    ];
    const properties = {
      berth_number: text,
      hull_length: number,
      sail_area: number,
      rigging: text,
      skipper: text,
    };
    expect(valueOf(laidOut([page]), properties)).to.deep.equal({
      berth_number: 'Q-77',
      hull_length: 12.4,
      sail_area: 31,
      rigging: 'Sloop',
      skipper: 'Ada Finn',
    });
  });

  it('are known in seven languages, in schemas as in documents', () => {
    const texts: readonly (readonly [string, string, string])[] = [
      ['Policy number: K-100', 'Date of birth: 1990-04-02', 'policy_number'],
      ['Versicherungsnummer: K-100', 'Geburtsdatum: 02.04.1990', 'policyNumber'],
      ['Numéro de police : K-100', 'Date de naissance : 2 avril 1990', 'numero_de_police'],
      ['Número de póliza: K-100', 'Fecha de nacimiento: 02/04/1990', 'policy_no'],
      ['Numero polizza: K-100', 'Data di nascita: 02/04/1990', 'numero_polizza'],
      ['Polisnummer: K-100', 'Geboortedatum: 2 april 1990', 'polisnummer'],
      ['Número da apólice: K-100', 'Data de nascimento: 02/04/1990', 'policy-number'],
    ];
    for (const [policy, birth, name] of texts) {
      const properties = { [name]: text, birth_date: { type: 'string', format: 'date' } };
      expect(said(`${policy}\n${birth}`, properties), policy).to.deep.equal({
        [name]: 'K-100',
        birth_date: '1990-04-02',
      });
    }
  });

  it('of others are no values', () => {
    expect(said('Customer:\nInvoice no.: 7', { customer_name: text })).to.deep.equal({});
    expect(said('Subtotal: 10.00\nVAT: 2.00', { total: number })).to.deep.equal({});
    expect(said('Pay by: 2031-05-01', { contract_end_date: { type: 'string', format: 'date' } })).to.deep.equal({});
    expect(said('Nettobetrag: 10,00', { monthly_rent: number, loan_amount: number })).to.deep.equal({});
  }); // prettier-ignore

  it('say whose an identifier is', () => {
    const page: readonly Placed[] = [
      [50, 40, 'Seller'],
      [320, 40, 'Customer'],
      [50, 54, 'VAT no. GB123456782'],
      [320, 54, 'VAT no. DE123456789'],
    ];
    const properties = { seller_vat_id: text, buyer_vat_id: text };
    expect(valueOf(laidOut([page]), properties)).to.deep.equal({
      seller_vat_id: 'GB123456782',
      buyer_vat_id: 'DE123456789',
    });
  });
});

describe('choices', () => {
  it('are what is ticked', () => {
    const lines = 'Smoker: ☐ Yes ☒ No\nInsured: [x] Yes [ ] No\nStatus: ☐ Single ☒ Married';
    expect(
      said(lines, {
        smoker: { type: 'boolean' },
        insured: { type: 'boolean' },
        status: { type: 'string', enum: ['single', 'married'] },
      }),
    ).to.deep.equal({ smoker: false, insured: true, status: 'married' });
  });
});

describe('dates', () => {
  it('put the month first where the towns are American', () => {
    const properties = { invoice_date: { type: 'string', format: 'date' } };
    expect(said('Austin, TX 73301\nInvoice date: 03/04/2031', properties)).to.deep.equal({
      invoice_date: '2031-03-04',
    });
    expect(said('Leeds LS1 4AP\nInvoice date: 03/04/2031', properties)).to.deep.equal({
      invoice_date: '2031-04-03',
    });
  });

  it('of receipts may have no label', () => {
    const properties = { date: { type: 'string', format: 'date' } };
    expect(said('CORNER SHOP\n17/03/2031 14:05\nTEA 4.00', properties)).to.deep.equal({ date: '2031-03-17' });
  });
});

describe('bad documents', () => {
  it('with endless lines end soon', () => {
    const line = `${'a '.repeat(150_000)}${'1'.repeat(50_000)} ${', '.repeat(30_000)}Total: 5`;
    const properties = {
      total: number,
      seller: text,
      address: text,
      items: { type: 'array', items: object({ name: text, amount: number }) },
    };
    const began = process.cpuUsage();
    said(line, properties);
    expect(process.cpuUsage(began).user / 1000).to.be.below(10_000);
  });

  it('give the same answer twice', () => {
    const lines = 'Invoice 7\nDate: 2031-05-02\nTotal: 5.00\nTotal: 6.00';
    const properties = { invoice_number: text, total: number };
    expect(said(lines, properties)).to.deep.equal(said(lines, properties));
  });
});
