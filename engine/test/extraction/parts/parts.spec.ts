import { expect } from 'chai';
import { laidOut, type Placed } from '../../support/laidOut.ts';
import { said, setLarge, text, valueOf } from './asked.ts';

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
  it('are its sender, its reader and who signed it', () => {
    const properties = { sender: text, recipient: text, signatory: text, position: text };
    expect(valueOf(laidOut([LETTER]), properties)).to.deep.equal({
      sender: 'Alder Valley Water Council',
      recipient: 'Rosa Lindt',
      signatory: 'Oscar Field',
      position: 'Head of Networks',
    });
  });

  it('do not answer for what else an organization may be', () => {
    expect(valueOf(laidOut([LETTER]), { court: text, bank: text })).to.deep.equal({});
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

describe('a person behind a label', () => {
  it('is given without the words of address', () => {
    expect(said('Clerk: Mrs Hilary Penn', { clerk_name: text })).to.deep.equal({ clerk_name: 'Hilary Penn' });
  });
});

describe('a person with an office', () => {
  const page: readonly Placed[] = [
    [60, 40, 'Hilary de Penn'],
    [70, 52, 'Mayor'],
    [300, 40, "James P. O'Hara"],
    [290, 52, 'Police Commissioner'],
    [60, 90, 'Present are Board President Anna Lund and the treasurer Tom Berg, who speak first.'],
    [60, 120, 'Ruth Moor, Deputy Registrar'],
  ];

  it('is named above, before or behind the office', () => {
    const asked = { mayor: text, commissioner: text, board_president: text, registrar: text };
    expect(valueOf(laidOut([page]), asked)).to.deep.equal({
      mayor: 'Hilary de Penn',
      commissioner: "James P. O'Hara",
      board_president: 'Anna Lund',
      registrar: 'Ruth Moor',
    });
  });

  it('answers for no other office, and not for two', () => {
    expect(valueOf(laidOut([page]), { governor: text, school_president: text })).to.deep.equal({});
    const two: readonly Placed[] = [
      [60, 40, 'Senator Ana Roy'],
      [60, 60, 'Director Mia Gray met Director Paul Reed on Monday to speak about the plan.'],
    ];
    expect(valueOf(laidOut([two]), { director: text })).to.deep.equal({});
  });
});

describe('the name of a person or a firm', () => {
  it('is no label with the number of its line', () => {
    const page: readonly Placed[] = [
      [60, 40, '1. Name of registrant'],
      [300, 40, '2. Registration No.'],
    ];
    expect(valueOf(laidOut([page]), { registrant_name: text })).to.deep.equal({});
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
