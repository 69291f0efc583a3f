import { expect } from 'chai';
import { strToU8, zipSync } from 'fflate';
import { unzip } from '../../formats/pieces/archive.ts';

const all = (): boolean => true;

describe('a capped archive', () => {
  it('gives the wanted members', () => {
    const archive = unzip(zipSync({ a: strToU8('one'), b: strToU8('two') }), (name) => name === 'b');
    if (archive.kind !== 'archive') throw new Error(archive.detail);
    expect([...archive.members.keys()]).to.deep.equal(['b']);
    expect(Buffer.from(archive.members.get('b') ?? []).toString()).to.equal('two');
  });

  it('stops a bomb while it grows', () => {
    const bomb = zipSync({ a: new Uint8Array(4_000_000) }, { level: 9 });
    const archive = unzip(bomb, all, { bytesMax: 1 << 20, membersMax: 10 });
    expect(archive).to.include({ kind: 'unreadable' }).and.to.have.property('detail').that.includes('1 MiB');
  });

  it('counts members', () => {
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`m${i}`, strToU8('a')]));
    expect(unzip(zipSync(many), all, { bytesMax: 1000, membersMax: 10 })).to.include({ kind: 'unreadable' });
  });

  it('says of damage that it is damage', () => {
    const bytes = zipSync({ a: strToU8('x'.repeat(10_000)) });
    bytes.fill(0xff, 40, 60);
    expect(unzip(bytes, all).kind).to.equal('unreadable');
  });
});
