import { expect } from 'chai';
import { extract } from '../../../extraction/extract.ts';
import { laidOut, type Placed } from '../../support/laidOut.ts';

const text = { type: 'string' };
const asked = (...names: readonly string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, text])),
});
const read = (page: readonly Placed[], ...names: readonly string[]) =>
  extract(laidOut([page]), asked(...names)).value;

describe('the caption of a case', () => {
  const apart: readonly Placed[] = [
    [180, 60, 'DISTRICT COURT OF NORTHFIELD'],
    [60, 120, 'HERON WIDGETS, INC.,'],
    [330, 120, 'Case No. 31-412'],
    [120, 140, 'Plaintiff,'],
    [330, 140, 'Judge Mary Stone'],
    [80, 160, 'v.'],
    [60, 180, 'JOHN Q. TERN,'],
    [120, 200, 'Defendant.'],
  ];

  it('names each side before its role, in lines of their own', () => {
    const { plaintiff, defendant } = read(apart, 'plaintiff', 'defendant', 'case_number');
    expect([plaintiff, defendant]).to.deep.equal(['HERON WIDGETS, INC.', 'JOHN Q. TERN']);
  });

  it('may be one line, and have other roles', () => {
    const page: readonly Placed[] = [
      [60, 120, 'HERON WIDGETS, INC., Appellant, vs. JOHN Q. TERN, Appellee.'],
    ];
    expect(read(page, 'appellant_name', 'appellee_name')).to.deep.equal({
      appellant_name: 'HERON WIDGETS, INC.',
      appellee_name: 'JOHN Q. TERN',
    });
  });

  it('says nothing of a role where nobody is against anybody, or two have it', () => {
    const alone = apart.filter(([, , said]) => said !== 'v.');
    expect(read(alone, 'defendant')).to.not.deep.equal({ defendant: 'JOHN Q. TERN' });
    const both: readonly Placed[] = [[60, 120, 'HERON, INC., Claimant, v. JOHN Q. TERN, Claimant.']];
    expect(read(both, 'claimant')).to.deep.equal({});
  });
});
