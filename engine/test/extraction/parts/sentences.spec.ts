import { expect } from 'chai';
import { laidOut, type Placed } from '../../support/laidOut.ts';
import { date, integer, number, said, text, valueOf } from './asked.ts';

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

  it('are amounts above zero: a dash between them is no sign', () => {
    const salary = { salary_min: number, salary_max: number };
    expect(said('Salary: $32,534 - $42,290', salary)).to.deep.equal({ salary_min: 32534, salary_max: 42290 });
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
