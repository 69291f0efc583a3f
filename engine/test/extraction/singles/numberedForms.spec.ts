import { expect } from 'chai';
import { extract } from '../../../extraction/extract.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { laidOut, type Placed } from '../../support/laidOut.ts';

const text = (description?: string): JsonObject => ({ type: 'string', ...(description && { description }) });
const date = (description?: string): JsonObject => ({ ...text(description), format: 'date' });

const read = (page: readonly Placed[], properties: JsonObject): unknown =>
  extract(laidOut([page]), { type: 'object', properties }).value;

describe('a form whose labels are numbered', () => {
  const LABELS: readonly Placed[] = [
    [60, 30, 'Declaration of Keepers'],
    [60, 100, '1. Name of Keeper'],
    [300, 100, '2. Licence No.'],
    [60, 150, '3. This declaration is filed for the following purposes:'],
    [60, 200, '4. What is the name and address of the landowner?'],
  ];
  const ASKED = {
    keeper_name: text('name of the keeper'),
    landowner_name: text('name of the landowner'),
  };

  it('has its values below, further down than other labels', () => {
    const filled: readonly Placed[] = [
      ...LABELS.slice(0, 3),
      [60, 124, 'Brandauer Apiaries, Ltd'],
      [300, 124, '4471'],
      ...LABELS.slice(3),
      [60, 214, 'Name Ilse Moosgruber'],
      [300, 214, 'Address 4 Heath Lane'],
    ];
    expect(read(filled, ASKED)).to.deep.equal({
      keeper_name: 'Brandauer Apiaries, Ltd',
      landowner_name: 'Ilse Moosgruber',
    });
  });

  it('says nothing while it is blank: no label is the value of the one before', () => {
    expect(read(LABELS, ASKED)).to.deep.equal({});
  });

  it('is read where recognition joined its words, took 1 for a letter and saw specks', () => {
    const recognised: readonly Placed[] = [
      [60, 100, 'I. Name ofKeeper'],
      [300, 100, '2, Licence No.'],
      [64, 112, 'o'],
      [60, 124, 'Ilse Brandauer'],
      [300, 124, '4471'],
    ];
    expect(read(recognised, ASKED)).to.deep.equal({ keeper_name: 'Ilse Brandauer' });
  });

  it('has numbers of lines that are no values, also where they are joined to their labels', () => {
    const lines = ['23 Hives sold', '24 Hives bought', '25 Hives lost', '26 Honey sold', '27 Wax sold'];
    const page = lines.map((line, i): Placed => [60, 100 + 16 * i, line]);
    expect(read(page, { honey_sold: { type: 'number' }, wax_sold: { type: 'number' } })).to.deep.equal({});
  });
});

describe('both ends of a range', () => {
  it('are told apart by names that end in "from" and "to"', () => {
    const page: readonly Placed[] = [
      [60, 60, 'Season Dates'],
      [200, 60, '04/20/31 - 09/29/31'],
      [60, 80, 'Invoice Date'],
      [200, 80, '10/02/31'],
    ];
    expect(read(page, { season_from: date(), season_to: date() })).to.deep.equal({
      season_from: '2031-04-20',
      season_to: '2031-09-29',
    });
  });
});

describe('a stamp', () => {
  const asked = { file_date: date('date on which the form was received or filed') };

  it('dates what its first word says, in one text or in two', () => {
    for (const stamp of [
      [[60, 30, 'Received by the Registry of Hives 05/14/2031 2:54:19 PM']],
      [
        [60, 30, 'Filed at the Registry of Hives'],
        [330, 30, '05/14/2031 2:54:19 PM'],
      ],
    ] as const)
      expect(read([...stamp, [60, 80, 'Date'], [120, 80, '03/02/2031']], asked)).to.deep.equal({
        file_date: '2031-05-14',
      });
  });

  it('dates nothing that another stamp says', () => {
    const page: readonly Placed[] = [
      [60, 30, 'Approved by the Registry of Hives 05/20/2031'],
      [60, 60, 'Received by the Registry of Hives 05/14/2031'],
    ];
    expect(read(page, asked)).to.deep.equal({ file_date: '2031-05-14' });
  });
});

describe('a typed signature', () => {
  it('names who signs', () => {
    const page: readonly Placed[] = [
      [60, 60, 'May 14, 2031'],
      [200, 60, '/s/ Ilse Brandauer'],
    ];
    expect(read(page, { signer_name: text() })).to.deep.equal({ signer_name: 'Ilse Brandauer' });
  });
});

describe('a label', () => {
  it('of another one than is asked for gives way to the plain one, which may have a second side', () => {
    const page: readonly Placed[] = [
      [60, 60, 'Order / Rev:'],
      [200, 60, '387130'],
      [60, 80, 'Alt Order #:'],
      [200, 80, '09824595'],
    ];
    expect(
      read(page, { contract_num: text('number of the contract or order'), keeper: text() }),
    ).to.deep.equal({
      contract_num: '387130',
    });
  });

  it('that ends in a head noun is no name', () => {
    const page: readonly Placed[] = [
      [60, 60, 'Last name'],
      [200, 60, "Keeper's licence number"],
    ];
    expect(read(page, { last_name: text() })).to.deep.equal({});
  });
});

describe('a number that is no amount', () => {
  const asked = { premium: { type: 'number' } };
  for (const line of ['Total Premium 2)', 'Total Premium (6 mo.) XXXXXXX', 'Premium: attach Form 2106-EZ'])
    it(`is left alone: ${line}`, () => {
      expect(read([[60, 60, line]], asked)).to.deep.equal({});
    });

  it('is not in brackets that stand for a minus', () => {
    expect(read([[60, 60, 'Premium: (12.50)']], asked)).to.deep.equal({ premium: -12.5 });
  });
});
