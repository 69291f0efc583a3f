import { expect } from 'chai';
import { laidOut, type Placed } from '../../support/laidOut.ts';
import { date, said, text, valueOf } from '../parts/asked.ts';

describe('labels in letters like those of their values', () => {
  const boxes: readonly Placed[] = [
    [60, 40, 'Harbour office'],
    [320, 40, 'Permit / Amendment'],
    [460, 40, 'Slip code'],
    [60, 52, '12 Quay Street'],
    [330, 52, '953807'],
    [470, 52, 'B7147'],
    [320, 90, 'Issued'],
    [320, 102, '03/31/2020'],
  ];

  it('name what stands right below them where a page has several', () => {
    const asked = { permit_number: text, slip_code: text };
    expect(valueOf(laidOut([boxes]), asked)).to.deep.equal({ permit_number: '953807', slip_code: 'B7147' });
  });
});

describe('a joined label', () => {
  it('gives each side the side of its value', () => {
    const asked = { permit_number: text, amendment: text };
    expect(said('Permit Number / Amendment: 953807 / 14', asked)).to.deep.equal({
      permit_number: '953807',
      amendment: '14',
    });
    expect(said('Date of arrival / departure: 2031-04-03 / 2031-05-06', { departure: date })).to.deep.equal({
      departure: '2031-05-06',
    });
  });

  it('in two languages has one value', () => {
    expect(said('Firma / Company: Low / Sons', { company: text })).to.deep.equal({ company: 'Low / Sons' });
  });
});

describe('a range of days for a start and an end', () => {
  const asked = { rental_start: date, rental_end: date };
  const rows = 'Boat 01.06.2031 - 05.06.2031\nCrew 03.06.2031 - 05.06.2031';

  it('is the first that dates or a period stands before', () => {
    expect(said(`Harbour fees\n${rows}\nSchedule dates: 01.06.2031 - 09.06.2031`, asked)).to.deep.equal({
      rental_start: '2031-06-01',
      rental_end: '2031-06-09',
    });
  });

  it('may be one day', () => {
    expect(said('Harbour fees\nPeriod: 03.06.2031 - 03.06.2031', asked)).to.deep.equal({
      rental_start: '2031-06-03',
      rental_end: '2031-06-03',
    });
  });
});

describe('a value that repeats one of the nouns of its question', () => {
  const asked = { owner_name: text };

  for (const word of ['Name', 'N a m e'])
    it(`answers that one: ${word}`, () => {
      const form: readonly Placed[] = [
        [60, 40, '7. Occupation'],
        [60, 80, '8. What is the name and address of the owner?'],
        [400, 80, '12 Quay Street'],
        [70, 92, `${word} Low Shipping`],
        [400, 92, 'Address Leeds'],
      ];
      expect(valueOf(laidOut([form]), asked)).to.deep.equal({ owner_name: 'Low Shipping' });
    });
});
