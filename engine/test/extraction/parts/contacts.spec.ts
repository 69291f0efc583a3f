import { expect } from 'chai';
import { laidOut } from '../../support/laidOut.ts';
import { said, text, valueOf } from './asked.ts';

const uri = { type: 'string', format: 'uri' };
const mail = { type: 'string', format: 'email' };
const listOf = (items: Record<string, string>) => ({ type: 'array', items });

const HEAD =
  'Marcus Chen\n(555) 987-1234 | marcus.chen@example.com | linkedin.com/in/marcuschen | github.com/mchen';

describe('the head of a CV', () => {
  it('has how to reach somebody, without labels', () => {
    expect(
      said(HEAD, { emails: listOf(mail), phone_numbers: listOf(text), links: listOf(uri), github: text }),
    ).to.deep.equal({
      emails: ['marcus.chen@example.com'],
      phone_numbers: ['(555) 987-1234'],
      links: ['https://linkedin.com/in/marcuschen', 'https://github.com/mchen'],
      github: 'github.com/mchen',
    });
    expect(said(HEAD, { phone: text })).to.deep.equal({ phone: '(555) 987-1234' });
  });

  it('has what somebody says of themselves', () => {
    const page = laidOut([
      [
        [60, 40, 'Marcus Chen'],
        [60, 56, 'marcus.chen@example.com'],
        [60, 100, 'Engineer with eight years of experience in building boats'],
        [60, 112, 'that sail and boats that do not sail.'],
        [60, 150, 'SKILLS'],
      ],
    ]);
    expect(valueOf(page, { profile: text })).to.deep.equal({
      profile:
        'Engineer with eight years of experience in building boats that sail and boats that do not sail.',
    });
  });

  it('has no number of a fax, and nothing that another is asked for', () => {
    const other = 'Marcus Chen\n(555) 987-1234 fax\nmarcus.chen@example.com';
    expect(said(other, { phone: text })).to.deep.equal({});
    expect(said(HEAD, { insurer_phone: text, cc_emails: listOf(mail) })).to.deep.equal({});
  });

  it('is none where no person stands there', () => {
    expect(
      said('Harbour Council\n(555) 987-1234\nharbour@example.com', { phones: listOf(text) }),
    ).to.deep.equal({});
  });
});
