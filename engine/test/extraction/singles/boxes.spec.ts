import { expect } from 'chai';
import { laidOut, type Placed } from '../../support/laidOut.ts';
import { said, valueOf } from '../parts/asked.ts';

const yes = { type: 'boolean' };

describe('boxes that say yes or no', () => {
  it('have in their sentence the words that make the name of the field', () => {
    const form = '☒ I agree that photos of me are shown.\n☐ Please send me the newsletter';
    expect(said(form, { photos_allowed: yes, newsletter: yes, insurance: yes })).to.deep.equal({
      photos_allowed: true,
      newsletter: false,
    });
  });

  it('say nothing where two of them have the words', () => {
    expect(said('☒ Photos at home\n☐ Photos abroad', { photos_allowed: yes })).to.deep.equal({});
  });

  it('stand in the row of what they are about', () => {
    const rows: readonly Placed[] = [
      [60, 40, 'Rudder'],
      [160, 40, '☑ OK'],
      [260, 40, '☐ Defect'],
      [60, 60, 'Anchor'],
      [160, 60, '☐ OK'],
      [260, 60, '☑ Defect'],
    ];
    expect(valueOf(laidOut([rows]), { rudder_ok: yes, anchor_ok: yes })).to.deep.equal({
      rudder_ok: true,
      anchor_ok: false,
    });
  });

  it('answer the question before them', () => {
    const asked = { seaworthy: { type: 'boolean', description: 'whether the boat is safe to sail' } };
    expect(said('Is the boat safe to sail? ☑ Yes ☐ No', asked)).to.deep.equal({ seaworthy: true });
    expect(said('Is the boat safe to sail? ☐ Yes ☑ No', asked)).to.deep.equal({ seaworthy: false });
  });
});
