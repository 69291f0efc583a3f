import { expect } from 'chai';
import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { aesSecretBox } from '../../adapters/local/local.ts';
import { holds } from '../../engine/test/support/properties.ts';

const newKey = () => randomBytes(32).toString('base64');
const OWNER = { tenant_id: 'acme', secret_id: 'sec_1' };

describe('the secret box', () => {
  const [first, second] = [newKey(), newKey()];
  const box = aesSecretBox({ current: first, old: [] });
  const rotated = aesSecretBox({ current: second, old: [first] });

  holds(
    'opens what it sealed, and writes the text nowhere',
    fc.property(fc.string({ minLength: 8, unit: 'grapheme' }), (text) => {
      const sealed = box.seal(text, OWNER);
      expect(box.open(sealed, OWNER)).to.deep.equal({ kind: 'opened', text, isCurrent: true });
      expect(Buffer.from(sealed).includes(Buffer.from(text))).to.equal(false);
    }),
    0.1,
  );

  it('seals the same text differently each time', () => {
    expect(Buffer.from(box.seal('secret', OWNER)).equals(box.seal('secret', OWNER))).to.equal(false);
  });

  it('opens for its owner only', () => {
    const sealed = box.seal('secret', OWNER);
    expect(box.open(sealed, { ...OWNER, tenant_id: 'other' })).to.deep.equal({ kind: 'tampered' });
    expect(box.open(sealed, { ...OWNER, secret_id: 'sec_2' })).to.deep.equal({ kind: 'tampered' });
  });

  it('opens nothing that was changed in any member, cut off, or is no secret', () => {
    const parts = JSON.parse(Buffer.from(box.seal('secret', OWNER)).toString()) as Record<string, string>;
    const flipped = (base64: string) => {
      const bytes = Buffer.from(base64, 'base64');
      bytes[0] = (bytes[0] ?? 0) ^ 1;
      return bytes.toString('base64');
    };
    const open = (changed: object) => box.open(Buffer.from(JSON.stringify({ ...parts, ...changed })), OWNER);
    for (const name of ['iv', 'tag', 'sealed'])
      expect(open({ [name]: flipped(parts[name]!) }), name).to.deep.equal({ kind: 'tampered' });
    const short = Buffer.from(parts['tag']!, 'base64').subarray(0, 4).toString('base64');
    expect(open({ tag: short })).to.deep.equal({ kind: 'tampered' });
    expect(open({ format: 'quire-secret-2' })).to.deep.equal({ kind: 'tampered' });
    expect(box.open(Buffer.from('not a secret'), OWNER)).to.deep.equal({ kind: 'tampered' });
  });

  it('says when it does not have the key', () => {
    expect(aesSecretBox({ current: second, old: [] }).open(box.seal('secret', OWNER), OWNER).kind).to.equal(
      'unknown_key',
    );
  });

  it('opens with an old key, and seals with the new one only', () => {
    expect(rotated.open(box.seal('secret', OWNER), OWNER)).to.deep.equal({
      kind: 'opened',
      text: 'secret',
      isCurrent: false,
    });
    const anew = rotated.seal('secret', OWNER);
    expect(rotated.open(anew, OWNER)).to.include({ kind: 'opened', isCurrent: true });
    expect(box.open(anew, OWNER).kind).to.equal('unknown_key');
  });
});
