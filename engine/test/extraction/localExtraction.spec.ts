import { expect } from 'chai';
import { textDocument } from '../../formats/text/textDocument.ts';
import { markdownDocument } from '../../formats/text/markdownDocument.ts';
import type { Json } from '../../kernel/json.ts';
import { datesIn, voteDayFirst } from '../../extraction/values/dates.ts';
import { extract } from '../../extraction/extract.ts';
import { emailsIn, ibansIn, vatIdsIn } from '../../extraction/values/identifiers.ts';
import { numbersIn, parseNumber, voteDecimalMark } from '../../extraction/values/numbers.ts';

const valuesOf = (text: string, properties: Record<string, Json>): Json =>
  extract(textDocument(text), { type: 'object', properties }).value;

describe('numbers', () => {
  const cases: readonly (readonly [string, ',' | '.', number])[] = [
    ['1.234,56', '.', 1234.56],
    ['1,234.56', ',', 1234.56],
    ['1 234,5', '.', 1234.5],
    ["1'234.50", ',', 1234.5],
    ['1.234', ',', 1234],
    ['1.234', '.', 1.234],
    ['0,125', '.', 0.125],
    ['1.234.567', '.', 1234567],
    ['(12.00)', '.', -12],
    ['12,50-', ',', -12.5],
    ['-3', '.', -3],
    ['€ 9,90', ',', 9.9],
    ['€ 1.250,-', '.', 1250],
    ['1.250,--', '.', 1250],
    ['1.250,–', '.', 1250],
    ['1,250.-', ',', 1250],
    ['12,=', '.', 12],
    ['1 250:-', '.', 1250],
    ['1\u2009234\u2009567,5', '.', 1234567.5],
    ['−3', '.', -3],
    ['12,50−', ',', -12.5],
    ['−USD 1,204.50', '.', -1204.5],
    ['-EUR 5', '.', -5],
  ];
  for (const [text, mark, value] of cases)
    it(`reads ${text} as ${value} where ${mark} is the mark`, () => {
      expect(parseNumber(text, mark)).to.equal(value);
    });

  it('takes the minus and the dash that stand for a sign and for cents, and no other dash', () => {
    const valuesIn = (text: string): unknown => numbersIn(text).map((one) => parseNumber(one.text, '.'));
    expect(valuesIn('total −USD 1,204.50, then -€50 and € 1.250,- or 125,- zł')).to.deep.equal([
      -1204.5, -50, 1250, 125,
    ]);
    expect(valuesIn('from 1990– on, 12 – 14 pages')).to.deep.equal([1990, 12, 14]);
  });

  it('has the sign that letters beside the amounts of a statement say', () => {
    const amounts = (text: string): unknown => {
      const { value } = extract(textDocument(text), {
        type: 'object',
        properties: { closing_balance: { type: 'number' }, opening_balance: { type: 'number' } },
      });
      return [value['opening_balance'], value['closing_balance']];
    };
    expect(amounts('Alter Saldo: 91,01 H\nNeuer Saldo: 162,05 S')).to.deep.equal([91.01, -162.05]);
    expect(amounts('Opening balance: 12.00 CR\nClosing balance: 87.72 DR')).to.deep.equal([12, -87.72]);
    expect(amounts('Saldo anterior: 1.234,56 C\nSaldo final: 500,00 D')).to.deep.equal([1234.56, -500]);
    expect(amounts('Opening balance: 12.00 S\nClosing balance: 87.72 T')).to.deep.equal([12, 87.72]);
  });

  it('votes for the decimal mark of a document', () => {
    expect(voteDecimalMark(['a 1.234,56 b 7,90', 'c 1.200'])).to.equal(',');
    expect(voteDecimalMark(['12.50', '1,200.00'])).to.equal('.');
  });

  it('takes hundreds of numbers in thousands as such, whatever one footnote says', () => {
    const thousands = Array.from({ length: 200 }, (_, n) => String(5_238 + 37 * n));
    const withMark = (mark: string) => thousands.map((one) => one.replace(/(?=\d{3}$)/, mark));
    expect(voteDecimalMark(['see notes 1,2', ...withMark(',')])).to.equal('.');
    expect(voteDecimalMark(['see 1.2', ...withMark('.')])).to.equal(',');
    expect(voteDecimalMark(['9,50', '7,25', '3,10', '8,75', ...withMark(',')])).to.equal(',');
  });

  it('knows currencies and percents beside numbers', () => {
    expect(
      numbersIn('$12.50, 7 % of EUR 100 and 3 GBP').map(({ currency, percent }) => [currency, percent]),
    ).to.deep.equal([
      ['USD', false],
      [undefined, true],
      ['EUR', false],
      ['GBP', false],
    ]);
  });
});

describe('dates', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['2031-03-17', '2031-03-17'],
    ['17.03.2031', '2031-03-17'],
    ['17/3/31', '2031-03-17'],
    ['3/17/2031', '2031-03-17'],
    ['17 March 2031', '2031-03-17'],
    ['March 17, 2031', '2031-03-17'],
    ['17. März 2031', '2031-03-17'],
    ['17 mars 2031', '2031-03-17'],
    ['12 stycznia 2031', '2031-01-12'],
    ['26 lutego 2031', '2031-02-26'],
    ['5 października 2031 r.', '2031-10-05'],
    ['1 lipca 2031', '2031-07-01'],
    ['1. lipnja 2031.', '2031-06-01'],
    ['3 maj 2031', '2031-05-03'],
    ['4. kesäkuuta 2031', '2031-06-04'],
    ['9 Şubat 2031', '2031-02-09'],
    ['14 березня 2031', '2031-03-14'],
    ['14 марта 2031 г.', '2031-03-14'],
    ['2 Μαΐου 2031', '2031-05-02'],
    ['2031. január 12.', '2031-01-12'],
    ['2031 m. sausio 12 d.', '2031-01-12'],
    ['2031年3月14日', '2031-03-14'],
    ['2031년 3월 14일', '2031-03-14'],
    ['1er août 2031', '2031-08-01'],
    ['17 de marzo de 2031', '2031-03-17'],
    ['17 luglio 2031', '2031-07-17'],
    ['17 mei 2031', '2031-05-17'],
    ['31.12.99', '1999-12-31'],
  ];
  for (const [text, iso] of cases)
    it(`reads ${text}`, () => {
      expect(datesIn(`on ${text} at noon`, true).map((date) => date.iso)).to.deep.equal([iso]);
    });

  it('reads two dates with a dash between them and no space', () => {
    const isos = (text: string, dayFirst = false): readonly string[] =>
      datesIn(text, dayFirst).map(({ iso }) => iso);
    expect(isos('Stay 05/28/31-06/03/31')).to.deep.equal(['2031-05-28', '2031-06-03']);
    expect(isos('28.05.2031-03.06.2031', true)).to.deep.equal(['2031-05-28', '2031-06-03']);
    expect(isos('No. 12/28/31-4')).to.deep.equal([]);
    expect(isos('05/28/31-06.03.31')).to.deep.equal([]);
  });

  it('takes the part that stays for the month where the other is many', () => {
    const analyzed = ['11/01/2031', '11/04/2031', '11/06/2031', '11/07/2031', 'again within 30 days'];
    expect(voteDayFirst(analyzed)).to.equal(false);
    expect(
      voteDayFirst(['01.11.2031', '04.11.2031', '06.11.2031', '07.11.2031', 'until 5:00 PM EST']),
    ).to.equal(true);
    // Due on the fifth of each month: the many are months.
    expect(voteDayFirst(['05.01.2031', '05.02.2031', '05.03.2031', '05.04.2031'])).to.equal(true);
    expect(voteDayFirst(['11/01/2031', '11/04/2031', '11/04/2031'])).to.equal(true);
  });

  it('takes no day that the calendar does not have', () => {
    expect(datesIn('31.02.2031 and 45/45/2031', true)).to.deep.equal([]);
  });
});

describe('identifiers', () => {
  it('checks an IBAN and takes no more than its length', () => {
    const [found] = ibansIn('IBAN GB33 BUKB 2020 1555 5555 55 BIC BUKBGB22');
    expect(found).to.include({ value: 'GB33BUKB20201555555555', valid: true });
    expect(ibansIn('GB34BUKB20201555555555')[0]).to.include({ valid: false });
  });

  it('finds VAT ids and mail addresses', () => {
    expect(vatIdsIn('VAT: GB 123 4567 82, ATU12345678').map(({ value }) => value)).to.deep.equal([
      'GB123456782',
      'ATU12345678',
    ]);
    expect(emailsIn('write to A.B@example.org.').map(({ value }) => value)).to.deep.equal([
      'a.b@example.org',
    ]);
  });
});

describe('extraction from text', () => {
  it('reads a name as a register has it, and ends one at a number', () => {
    const patient = {
      type: 'object',
      properties: { last_name: { type: 'string' }, first_name: { type: 'string' } },
    };
    const text = 'Patient name: Brannigan, Tess M\nPhysician: Cassius Holt, (802) 555-0171';
    expect(valuesOf(text, { patient, physician: { type: 'string' } })).to.deep.equal({
      patient: { last_name: 'Brannigan', first_name: 'Tess M' },
      physician: 'Cassius Holt',
    });
  });

  it('takes no heads of columns for a name', () => {
    const name = { type: 'string', description: 'name of the patient' };
    expect(valuesOf('Patient: DOB / Age / Sex', { name })).to.deep.equal({});
  });

  it('is as sure as the scorer where a weak label names the same value', () => {
    expect(
      valuesOf('Quote no:   TQ-24-02281\nService:   Groupage', { quote_ref: { type: 'string' } }),
    ).to.deep.equal({
      quote_ref: 'TQ-24-02281',
    });
  });

  it('reads labels in several languages', () => {
    const properties = {
      invoice_number: { type: 'string' },
      issue_date: { type: 'string', format: 'date' },
      grand_total: { type: 'number' },
    };
    const expected = { invoice_number: 'X-100', issue_date: '2031-05-02', grand_total: 1234.5 };
    const texts = [
      'Invoice no.: X-100\nInvoice date: 2 May 2031\nTotal due: 1,234.50 GBP',
      'Rechnungsnummer: X-100\nRechnungsdatum: 02.05.2031\nGesamtbetrag: 1.234,50 EUR',
      'Facture n° X-100\nDate de facture : 2 mai 2031\nTotal TTC : 1 234,50 €',
      'Factura número: X-100\nFecha de emisión: 02/05/2031\nTotal a pagar: 1.234,50 €',
      'Fattura numero: X-100\nData fattura: 02/05/2031\nTotale documento: 1.234,50 €',
      'Factuurnummer: X-100\nFactuurdatum: 2 mei 2031\nTotaal incl. BTW: € 1.234,50',
    ];
    for (const text of texts) expect(valuesOf(text, properties), text).to.deep.equal(expected);
  });

  it('does not take a due date for the invoice date, nor a subtotal for the total', () => {
    const text =
      'Due date: 2031-06-01\nInvoice date: 2031-05-02\nSubtotal: 100.00\nVAT: 20.00\nTotal: 120.00\nPaid: 50.00';
    const properties = {
      invoice_date: { type: 'string', format: 'date' },
      total: { type: 'number' },
      subtotal: { type: 'number' },
    };
    expect(valuesOf(text, properties)).to.deep.equal({
      invoice_date: '2031-05-02',
      total: 120,
      subtotal: 100,
    });
  });

  it('reads what no lexicon knows by the names of the schema', () => {
    const text = 'Berth: Q7\nHull length: 12.4\nSurveyed: yes\nRigging type: Sloop\nKeel colours: red, blue';
    expect(
      valuesOf(text, {
        berth: { type: 'string' },
        hull_length: { type: 'number' },
        surveyed: { type: 'boolean' },
        rigging: { type: 'object', properties: { type: { enum: ['ketch', 'sloop'] } } },
        keel_colours: { type: 'array', items: { type: 'string' } },
        mast_height: { type: ['number', 'null'] },
      }),
    ).to.deep.equal({
      berth: 'Q7',
      hull_length: 12.4,
      surveyed: true,
      rigging: { type: 'sloop' },
      keel_colours: ['red', 'blue'],
    });
  });

  it('invents nothing on a text that says nothing of it', () => {
    const properties = {
      invoice_number: { type: 'string' },
      total: { type: 'number' },
      seller: { type: 'string' },
      paid: { type: 'boolean' },
    };
    expect(valuesOf('The sea was calm that morning, and nobody spoke.', properties)).to.deep.equal({});
  });

  it('reads the table of a Markdown document, without boxes', () => {
    const markdown =
      '| Description | Quantity | Price |\n|---|---|---|\n| Bolt | 10 | 0.20 |\n| Nut | 5 | 0.10 |\n';
    const items = {
      type: 'object',
      properties: {
        description: { type: 'string' },
        quantity: { type: 'integer' },
        price: { type: 'number' },
      },
    };
    const { value, citations } = extract(markdownDocument(markdown), {
      type: 'object',
      properties: { lines: { type: 'array', items } },
    });
    expect(value).to.deep.equal({
      lines: [
        { description: 'Bolt', quantity: 10, price: 0.2 },
        { description: 'Nut', quantity: 5, price: 0.1 },
      ],
    });
    expect(citations.every(({ bbox, page }) => bbox === null && page === 1)).to.equal(true);
  });

  it('ends on a schema that refers to itself', () => {
    const node = {
      type: 'object',
      properties: { name: { type: 'string' }, child: { $ref: '#/$defs/node' } },
    };
    const { value } = extract(textDocument('Name: A'), {
      type: 'object',
      properties: { node: { $ref: '#/$defs/node' } },
      $defs: { node },
    });
    expect(JSON.stringify(value).length).to.be.below(1000);
  });
});
