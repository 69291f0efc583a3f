import { expect } from 'chai';
import { laidOut, type Placed } from '../../support/laidOut.ts';
import { number, setLarge, text, valueOf } from './asked.ts';

describe('a letterhead', () => {
  const lines: readonly Placed[] = [
    [60, 40, 'Bread & Roses Catering · Lindenallee 4 · 04177 Leipzig'],
    [60, 120, 'The heating will be checked on every floor next week.'],
  ];

  it('names who wrote it, with an address beside the name, without a word for what they are', () => {
    expect(valueOf(laidOut([lines]), { practice: text })).to.deep.equal({
      practice: 'Bread & Roses Catering',
    });
  });

  it('is none without an address or a telephone', () => {
    const bare: readonly Placed[] = [[60, 40, 'Bread & Roses Catering'], ...lines.slice(1)];
    expect(valueOf(laidOut([bare]), { practice: text })).to.deep.equal({});
  });

  it('is not what a certificate is about, nor a label', () => {
    const page: readonly Placed[] = [
      [60, 40, 'Certificate of Hospital Stay'],
      [60, 80, 'Hospital No'],
      [160, 80, 'H 2281947'],
    ];
    const properties = { hospital: text, hospital_number: text };
    expect(valueOf(laidOut([page]), properties)).to.deep.equal({ hospital_number: 'H 2281947' });
  });
});

describe('the number in the head', () => {
  const page: readonly Placed[] = [
    [300, 40, 'CERTIFICATE OF CALIBRATION'],
    [60, 45, 'Metrika Calibration Laboratory'],
    [420, 55, 'No. 25-11873'],
    [430, 68, 'Page 1 of 1'],
    [60, 120, 'Instrument'],
    [160, 120, 'Pressure gauge'],
  ];
  const document = setLarge(laidOut([page]), ['CERTIFICATE OF CALIBRATION']);

  it('is that of the document whose kind its title says', () => {
    expect(valueOf(document, { certificate_number: text })).to.deep.equal({ certificate_number: '25-11873' });
  });
});

describe('persons', () => {
  it('are told by what they are behind their names', () => {
    const page: readonly Placed[] = [
      [60, 40, 'This is a true copy of the record on file in this office.'],
      [60, 200, 'Horace Blume, State Registrar'],
    ];
    expect(valueOf(laidOut([page]), { registrar: text, sheriff: text })).to.deep.equal({
      registrar: 'Horace Blume',
    });
  });

  it('are named without it, and companies without their address', () => {
    const page: readonly Placed[] = [
      [60, 40, 'Approved by: Miriam Stout, Technical Manager'],
      [60, 60, 'Customer name: Hadley Castings Ltd, Foundry Way, Walsall'],
      [60, 80, 'Patient name: Lindqvist, Sofia Marie'],
    ];
    const properties = { approved_by: text, customer_name: text, patient_name: text };
    expect(valueOf(laidOut([page]), properties)).to.deep.equal({
      approved_by: 'Miriam Stout',
      customer_name: 'Hadley Castings Ltd',
      patient_name: 'Lindqvist, Sofia Marie',
    });
  });

  it('sign at the end of a page that closes with no formula', () => {
    const page: readonly Placed[] = [
      [60, 40, 'The keys of the flat were handed over in good order.'],
      [60, 60, 'The rent was paid in full for the whole of the year.'],
      [300, 90, 'Leeds, 5 November 2025'],
      [300, 130, 'Esther Vasseur'],
    ];
    expect(valueOf(laidOut([page]), { signed_by: text })).to.deep.equal({ signed_by: 'Esther Vasseur' });
  });
});

describe('what shows what it is', () => {
  const page: readonly Placed[] = [
    [60, 40, 'Please pay into DE12 8605 5592 1090 0417 22 or ring 0421 555 0190 (24 h).'],
    [60, 80, 'Sex M'],
  ];

  it('answers for a field that asks for nothing else, up to a bracket', () => {
    const properties = { iban: text, phone: text, delivery_phone: text };
    expect(valueOf(laidOut([page]), properties)).to.deep.equal({
      iban: 'DE12860555921090041722',
      phone: '0421 555 0190',
    });
  });

  it('is a choice by its first letter, where one alone begins with it', () => {
    const form: readonly Placed[] = [[60, 80, 'Sex: M']];
    const sex = { type: 'string', enum: ['male', 'female'] };
    const month = { type: 'string', enum: ['march', 'may'] };
    expect(valueOf(laidOut([form]), { sex })).to.deep.equal({ sex: 'male' });
    expect(valueOf(laidOut([[[60, 80, 'Month: M']]]), { month })).to.deep.equal({});
  });
});

describe('shares in sentences', () => {
  it('stand beside what they are of, the sign being their unit', () => {
    const page: readonly Placed[] = [
      [60, 40, 'Orders must reach us early, and a 30% deposit secures the date of your event.'],
    ];
    expect(valueOf(laidOut([page]), { deposit_percent: number })).to.deep.equal({ deposit_percent: 30 });
  });
});

describe('a label with a word that leaves out', () => {
  it('does not say what is left out', () => {
    const page: readonly Placed[] = [
      [60, 40, 'Loyer hors charges'],
      [300, 40, '820,00 €'],
      [60, 60, 'Provision pour charges'],
      [300, 60, '125,00 €'],
    ];
    expect(valueOf(laidOut([page]), { service_charges: number })).to.not.deep.equal({ service_charges: 820 });
  });
});

describe('lines under each other', () => {
  it('are no paragraph where each has a label of its own, or the next is a heading', () => {
    const page: readonly Placed[] = [
      [60, 40, 'Total credits earned: 25.0 Academic standing: Good standing'],
      [60, 52, 'Issued to: Graduate Admissions'],
    ];
    expect(valueOf(laidOut([page]), { academic_standing: text })).to.deep.equal({
      academic_standing: 'Good standing',
    });
  });
});

describe('a code', () => {
  it('has the letters before its digits, and what measures is none', () => {
    const page: readonly Placed[] = [
      [60, 40, 'Krzysztof Maj, identity card CCA 418227'],
      [60, 60, 'It meets the class stated by its manufacturer (0.05 % FS).'],
    ];
    const properties = { identity_card: text, manufacturer: text };
    expect(valueOf(laidOut([page]), properties)).to.deep.equal({ identity_card: 'CCA 418227' });
  });
});

describe('a row of boxes or a date', () => {
  it('is no text of the label above or beside it', () => {
    const page: readonly Placed[] = [
      [60, 40, 'Date filed by registrar'],
      [60, 52, 'November 6, 2024'],
      [300, 40, 'Product'],
      [300, 52, 'Loan type ☒ Conventional ☐ Insured'],
    ];
    expect(valueOf(laidOut([page]), { registrar: text, product: text })).to.deep.equal({});
  });
});

describe('a period', () => {
  it('begins where it says, not when the document was made', () => {
    const page: readonly Placed[] = [
      [
        60,
        40,
        'I hereby confirm that the rent and the charges of the flat were paid to me in full for the period',
      ],
      [
        60,
        52,
        'from 1 November 2025 to 30 November 2025, and that nothing more is owed for that time by the tenant.',
      ],
      [
        60,
        64,
        'The deposit that was paid stays with me until the flat is given back to me in good order and clean.',
      ],
      [300, 100, 'Made at Lyon, on 5 November 2025'],
    ];
    const date = { type: 'string', format: 'date' };
    expect(valueOf(laidOut([page]), { period_start: date })).to.deep.equal({ period_start: '2025-11-01' });
  });
});
