import { expect } from 'chai';
import { laidOut, type Placed } from '../../support/laidOut.ts';
import { said, text, valueOf } from '../parts/asked.ts';

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

describe('one of several boxes', () => {
  const berth = { type: 'string', enum: ['Quay', 'Mooring buoy', 'Dry dock'] };

  for (const [on, off] of [
    ['☒', '☐'],
    ['☑', '☐'],
    ['✓', '☐'],
    ['[x]', '[ ]'],
    ['(X)', '( )'],
    ['■', '□'],
    ['(•)', '( )'],
    ['◉', '○'],
    ['●', '○'],
    ['✔', '❏'],
  ] as const) {
    it(`is the choice that is ticked: ${on} among ${off}`, () => {
      const row = `Berth: ${off} Quay ${on} Mooring buoy ${off} Dry dock\nName: Ada Low`;
      expect(said(row, { berth })).to.deep.equal({ berth: 'Mooring buoy' });
      const behind = `Berth: Quay ${on}  Mooring buoy ${off}  Dry dock ${off}`;
      expect(said(behind, { berth })).to.deep.equal({ berth: 'Quay' });
      if (off === '○') return;
      const below = `Berth\n${off} Quay\n${off} Mooring buoy\n${on} Dry dock`;
      expect(said(below, { berth })).to.deep.equal({ berth: 'Dry dock' });
    });
  }

  it('is none where none is ticked, and none where two are', () => {
    expect(said('Berth: ☐ Quay ☐ Mooring buoy ☐ Dry dock', { berth })).to.deep.equal({});
    expect(said('Berth: ☒ Quay ☒ Mooring buoy ☐ Dry dock', { berth })).to.deep.equal({});
  });

  it('is that of its own question where another has the same choices', () => {
    const state = { type: 'string', enum: ['good', 'worn', 'missing'] };
    const form = 'Rudder: ☐ good ☒ worn ☐ missing\nAnchor: ☒ good ☐ worn ☐ missing';
    expect(said(form, { rudder: state, anchor: state })).to.deep.equal({ rudder: 'worn', anchor: 'good' });
  });

  it('is the text of the box where the field is any text', () => {
    expect(said('Berth: ☐ Quay ☒ Mooring buoy ☐ Dry dock', { berth: text })).to.deep.equal({
      berth: 'Mooring buoy',
    });
  });

  it('is told by the words of the choice, other words beside it', () => {
    const asked = { berth: { type: 'string', enum: ['quay', 'mooring_buoy', 'dry_dock'] } };
    expect(said('Type of berth: [ ] at the quay  [X] mooring buoy  [ ] dry dock', asked)).to.deep.equal({
      berth: 'mooring_buoy',
    });
  });

  it('says yes or no by its place among the words for it', () => {
    const asked = { insured: yes };
    expect(said('Insured: ◉ Yes ○ No', asked)).to.deep.equal({ insured: true });
    expect(said('Insured: ( ) Yes (•) No', asked)).to.deep.equal({ insured: false });
    expect(said('Insured Yes ☐ No ☒', asked)).to.deep.equal({ insured: false });
    expect(said('Insured: ___ Yes _X_ No', asked)).to.deep.equal({ insured: false });
    expect(said('Insured: __x__ Yes ____ No', asked)).to.deep.equal({ insured: true });
    expect(said('Ubezpieczony: ☐ Tak ☒ Nie', { ubezpieczony: yes })).to.deep.equal({ ubezpieczony: false });
    expect(said('Pojištěno: ☒ Ano ☐ Ne', { pojisteno: yes })).to.deep.equal({ pojisteno: true });
  });
});

describe('boxes in a table', () => {
  it('answer the question of their row by the head of their column', () => {
    const rows: readonly Placed[] = [
      [300, 40, 'Yes'],
      [360, 40, 'No'],
      [60, 60, 'Is the rudder sound?'],
      [300, 60, '☒'],
      [360, 60, '☐'],
      [60, 80, 'Is the anchor sound?'],
      [300, 80, '☐'],
      [360, 80, '☒'],
    ];
    const asked = { rudder_sound: yes, anchor_sound: yes };
    expect(valueOf(laidOut([rows]), asked)).to.deep.equal({ rudder_sound: true, anchor_sound: false });
  });
});
