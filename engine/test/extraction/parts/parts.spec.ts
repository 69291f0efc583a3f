import { expect } from 'chai';
import { extract } from '../../../extraction/extract.ts';
import { textDocument } from '../../../formats/text/textDocument.ts';
import type { Document } from '../../../document/document.ts';
import type { Json } from '../../../kernel/json.ts';
import { laidOut, type Placed } from '../../support/laidOut.ts';

const text = { type: 'string' };
const date = { type: 'string', format: 'date' };
const integer = { type: 'integer' };
const number = { type: 'number' };
const valueOf = (document: Document, properties: Record<string, Json>): Json =>
  extract(document, { type: 'object', properties }).value;
const said = (lines: string, properties: Record<string, Json>): Json =>
  valueOf(textDocument(lines, 1), properties);

/** The page with some lines set larger than the rest. */
function setLarge(document: Document, large: readonly string[]): Document {
  const pages = document.pages.map((page) => ({
    ...page,
    lines: page.lines.map((line) => ({
      ...line,
      words: line.words.map((word) => ({ ...word, fontSize: large.includes(line.text) ? 18 : 10 })),
    })),
  }));
  return { ...document, pages };
}

const LETTER: readonly Placed[] = [
  [60, 40, 'Alder Valley Water Council'],
  [60, 120, 'Ms Rosa Lindt'],
  [60, 132, '4 Mill Street'],
  [60, 144, 'Leeds LS9 6QT'],
  [400, 180, '3 May 2031'],
  [60, 210, 'Dear Ms Lindt,'],
  [
    60,
    240,
    'The supply in your street will be renewed in the autumn of this year, and the road will be closed.',
  ],
  [60, 280, 'Yours sincerely,'],
  [60, 310, 'Oscar Field'],
  [60, 322, 'Head of Networks'],
];

describe('the parts of a letter', () => {
  it('are its sender, its reader, its date and who signed it', () => {
    const properties = { sender: text, recipient: text, letter_date: date, signatory: text, position: text };
    expect(valueOf(laidOut([LETTER]), properties)).to.deep.equal({
      sender: 'Alder Valley Water Council',
      recipient: 'Rosa Lindt',
      letter_date: '2031-05-03',
      signatory: 'Oscar Field',
      position: 'Head of Networks',
    });
  });

  it('do not answer for what else an organization may be', () => {
    expect(valueOf(laidOut([LETTER]), { court: text, bank: text })).to.deep.equal({});
  });

  it('include the place before the date', () => {
    expect(said('Fait à Lyon, le 6 juin 2031', { lieu: text, date })).to.deep.equal({
      lieu: 'Lyon',
      date: '2031-06-06',
    });
  });

  it('hold a weekday for no place', () => {
    expect(said('Tuesday, 6 May 2031', { place: text })).to.deep.equal({});
  });
});

describe('the head of a document', () => {
  const lines: readonly Placed[] = [
    [60, 40, 'Proceedings, volume 4'],
    [60, 80, 'How long slate roofs last'],
    [60, 95, 'near the sea'],
    [
      60,
      150,
      'Slate lasts long, yet roofs near the sea fail early, as we show for forty of them in this study.',
    ],
  ];

  it('has the title in the largest letters, over all its lines', () => {
    const paper = setLarge(laidOut([lines]), ['How long slate roofs last', 'near the sea']);
    expect(valueOf(paper, { title: text })).to.deep.equal({
      title: 'How long slate roofs last near the sea',
    });
  });

  it('names the person of a letter of application, and below what they are', () => {
    const page: readonly Placed[] = [
      [60, 40, 'Ada Miller'],
      [60, 70, 'Marine biologist'],
      [60, 120, 'She has worked on boats and in laboratories for more than ten years and likes to teach.'],
    ];
    const properties = { name: text, profession: text };
    expect(valueOf(setLarge(laidOut([page]), ['Ada Miller']), properties)).to.deep.equal({
      name: 'Ada Miller',
      profession: 'Marine biologist',
    });
  });

  it('does not take the furniture of a page for a title', () => {
    const page: readonly Placed[] = [
      [60, 40, 'Page 1'],
      [60, 90, 'Some words of a text that runs on for a while, as texts do on a page.'],
    ];
    expect(valueOf(setLarge(laidOut([page]), ['Page 1']), { title: text })).to.deep.equal({});
  });
});

describe('a person beside what they are', () => {
  it('is named after it', () => {
    const lines = 'The order was praised by Transport Secretary Graham Doyle in a speech on Monday.';
    expect(said(lines, { transport_secretary: text })).to.deep.equal({ transport_secretary: 'Graham Doyle' });
  });

  it('is named before it', () => {
    const lines = 'It will save fuel, said Fiona Reed, chief executive of the line, in a speech on Monday.';
    expect(said(lines, { chief_executive: text })).to.deep.equal({ chief_executive: 'Fiona Reed' });
  });

  it('is given without the words of address', () => {
    expect(said('Clerk: Mrs Hilary Penn', { clerk_name: text })).to.deep.equal({ clerk_name: 'Hilary Penn' });
  });

  it('is no organization', () => {
    expect(said('The auditor, Northgate Building Society, has agreed.', { auditor: text })).to.deep.equal({});
  });
});

describe('the ends of a range', () => {
  const ends = { period_start: date, period_end: date };
  for (const [lines, start, end] of [
    ['1 July – 30 September 2031', '2031-07-01', '2031-09-30'],
    ['Course from 4. bis 8. März 2031', '2031-03-04', '2031-03-08'],
    ['Closed from November 6 to November 17, 2031', '2031-11-06', '2031-11-17'],
    ['12–14 June 2031', '2031-06-12', '2031-06-14'],
    ['Od 6. září 2031 do 24. listopadu 2031', '2031-09-06', '2031-11-24'],
  ] as const)
    it(`are those of "${lines}"`, () => {
      expect(said(lines, ends)).to.deep.equal({ period_start: start, period_end: end });
    });

  it('are not taken for each other', () => {
    expect(said('Valid until: 1 May 2031 to 6 May 2031', { valid_until: date })).to.deep.equal({
      valid_until: '2031-05-06',
    });
  });
});

describe('values in sentences', () => {
  it('stand in the unit that the name ends in', () => {
    const lines =
      'The boiler comes with a guarantee of 5 years from the day on which it was installed by 2 fitters.';
    expect(said(lines, { guarantee_years: integer })).to.deep.equal({ guarantee_years: 5 });
  });

  it('are amounts where a currency or a share shows it', () => {
    const lines =
      'We are pleased to offer you a loan of £184,500.00 secured on the house. An arrangement fee of £995 is payable.';
    expect(said(lines, { loan_amount: number, arrangement_fee: number })).to.deep.equal({
      loan_amount: 184500,
      arrangement_fee: 995,
    });
  });

  it('are not below zero where a count is spelled before it', () => {
    const lines = 'Either side may end this contract by a notice of sixty (60) days to the other side.';
    expect(said(lines, { notice_days: integer })).to.deep.equal({ notice_days: 60 });
  });

  it('are the one value of a shape where nothing else is asked', () => {
    const lines = 'The doors open at 18 h 30 for all who have a ticket, and for their friends.';
    expect(said(lines, { heure: text })).to.deep.equal({ heure: '18 h 30' });
  });
});

describe('our reference and yours', () => {
  it('are told apart', () => {
    const lines = 'Our ref: AB-12\nYour ref: CD-34';
    expect(said(lines, { your_reference: text, our_reference: text })).to.deep.equal({
      your_reference: 'CD-34',
      our_reference: 'AB-12',
    });
  });

  it('do not stand in for each other', () => {
    expect(said('Our ref: AB-12', { our_reference: text, your_reference: text })).to.deep.equal({
      our_reference: 'AB-12',
    });
  });
});

describe('a text under a heading', () => {
  const page: readonly Placed[] = [
    [60, 40, 'Diagnosis:'],
    [60, 54, 'Acute inflammation of moderate degree, with loss of water. No foreign body was seen'],
    [60, 66, 'on the pictures, and the blood count was within its usual limits for the age of the'],
    [60, 78, 'patient.'],
    [60, 110, 'The next visit is in ten days, or earlier if the signs of the illness come back again.'],
  ];

  it('ends where its paragraph ends', () => {
    expect(valueOf(laidOut([page]), { diagnosis: text })).to.deep.equal({
      diagnosis: page
        .slice(1, 4)
        .map(([, , line]) => line)
        .join(' '),
    });
  });

  it('is not joined with lines that were ended on purpose', () => {
    const address: readonly Placed[] = [
      [60, 40, 'Owner:'],
      [60, 54, 'Harbour House'],
      [60, 66, 'Quay Road'],
    ];
    expect(valueOf(laidOut([address]), { owner: text })).to.deep.equal({ owner: 'Harbour House' });
  });
});

describe('a birth', () => {
  for (const [lines, day, place] of [
    ['Monsieur Yann Le Bihan, né le 14 février 1988 à Quimper, est employé ici.', '1988-02-14', 'Quimper'],
    ['Frau Mia Sand, geboren am 9. Mai 1979 in Bad Orb, hat teilgenommen.', '1979-05-09', 'Bad Orb'],
    ['Mr Jon Day, born on 2 June 1990 in Leeds, has applied.', '1990-06-02', 'Leeds'],
  ] as const)
    it(`is told by "${lines}"`, () => {
      expect(said(lines, { birth_date: date, birth_place: text })).to.deep.equal({
        birth_date: day,
        birth_place: place,
      });
    });
});

describe('a code behind the name of its field', () => {
  it('needs no colon', () => {
    expect(said('Resolution DM-2031-001', { resolution: text })).to.deep.equal({ resolution: 'DM-2031-001' });
  });

  it('is not any word with a figure', () => {
    expect(said('Resolution passed in 2031', { resolution: text })).to.deep.equal({});
  });
});

describe('a paper', () => {
  const lines: readonly Placed[] = [
    [60, 40, 'Coastal Notes 31 (2031) 417-429 https://doi.org/10.01173/cn.2031.0417'],
    [60, 80, 'How long slate roofs last'],
    [60, 110, 'Ingrid Solheim1,*, Tomasz Wierzba 2 and Duncan R. Munro1'],
    [60, 130, '1 Institute of Roofs, Bergen'],
    [60, 160, 'Abstract. Slate lasts long, yet roofs near the sea fail early. We have looked at forty'],
    [60, 172, 'of them and find that a test of water uptake shows which of them are at risk.'],
    [60, 210, 'References'],
    [60, 222, 'A. Older: On roofs. 2001. https://doi.org/10.9999/older'],
  ];
  const paper = setLarge(laidOut([lines]), ['How long slate roofs last']);

  it('has its authors below its title, without marks, its abstract and its own DOI', () => {
    const properties = { authors: { type: 'array', items: text }, abstract: text, doi: text };
    expect(valueOf(paper, properties)).to.deep.equal({
      authors: ['Ingrid Solheim', 'Tomasz Wierzba', 'Duncan R. Munro'],
      abstract:
        'Slate lasts long, yet roofs near the sea fail early. We have looked at forty ' +
        'of them and find that a test of water uptake shows which of them are at risk.',
      doi: '10.01173/cn.2031.0417',
    });
  });
});

describe('a column of labels', () => {
  it('has values that end under each other', () => {
    const page: readonly Placed[] = [
      [60, 40, 'Dwelling'],
      [300, 40, 'T4', 'right'],
      [60, 56, 'State'],
      [300, 56, 'Used', 'right'],
      [60, 72, 'Heating'],
      [300, 72, 'Pellets', 'right'],
    ];
    const properties = { dwelling: text, state_of_repair: text, heating: text };
    expect(valueOf(laidOut([page]), properties)).to.include({ dwelling: 'T4', heating: 'Pellets' });
  });

  it('may have one letter for a value', () => {
    const page: readonly Placed[] = [
      [60, 40, 'Energy class'],
      [200, 40, 'D'],
      [300, 40, 'Certificate'],
    ];
    const energy_class = { type: 'string', enum: ['A', 'B', 'C', 'D'] };
    expect(valueOf(laidOut([page]), { energy_class })).to.deep.equal({ energy_class: 'D' });
  });
});

describe('a label that says no more than "date"', () => {
  it('tells when the document was made', () => {
    const properties = { offer_date: date, delivery_date: date };
    expect(said('Reference: AB-12\nDate: 30 May 2031', properties)).to.deep.equal({
      offer_date: '2031-05-30',
    });
  });
});
