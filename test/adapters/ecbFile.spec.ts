import { readFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { daysOfEcbFile, onlyFileInZip } from '../../adapters/ecb.ts';

const fixture = (name: string): Buffer => readFileSync(`test/fixtures/ecb/${name}`);
const days = (text: string) => daysOfEcbFile(Buffer.from(text));

const FRIDAY = { date: '2026-01-30', base: 'EUR', rates: { USD: '1.0842' } };
const TUESDAY = { date: '2026-02-03', base: 'EUR', rates: { USD: '1.1050', JPY: '161.20' } };

/** A zip with one deflated file, as small as the format allows. */
const zipOf = (content: Buffer, files = 1): Buffer => {
  const packed = deflateRawSync(content);
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(8, 8);
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(8, 10);
  entry.writeUInt32LE(packed.length, 20);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files, 10);
  end.writeUInt32LE(local.length + packed.length, 16);
  return Buffer.concat([local, packed, entry, end]);
};

describe("the ECB's files", () => {
  it('are read as daily and 90-day XML, oldest day first', () => {
    expect(daysOfEcbFile(fixture('daily.xml'))).to.deep.equal([TUESDAY]);
    const found = daysOfEcbFile(fixture('90-days.xml'));
    expect(found.map(({ date }) => date)).to.deep.equal(['2026-01-30', '2026-02-02', '2026-02-03']);
    expect([found[0], found[2]]).to.deep.equal([FRIDAY, TUESDAY]);
  });

  it('are read as CSV, with N/A passed over and long English dates understood', () => {
    expect(daysOfEcbFile(fixture('daily.csv'))).to.deep.equal([TUESDAY]);
    expect(daysOfEcbFile(fixture('history.csv'))).to.deep.equal([
      { ...FRIDAY, rates: { USD: '1.0842', CYP: '0.58' } },
      { date: '2026-02-02', base: 'EUR', rates: { USD: '1.1', JPY: '161.5' } },
    ]);
  });

  it('are read from a zip', () => {
    expect(daysOfEcbFile(zipOf(fixture('daily.csv')))).to.deep.equal([TUESDAY]);
  });

  it('are refused when something does not fit', () => {
    expect(() => days('Date,USD\n2026-02-30,1.1\n')).to.throw('line 2: there is no date');
    expect(() => days('Date,USD\n2026-02-02,1.1,7\n')).to.throw('line 2 has 2 rates');
    expect(() => days('Date,USD\n2026-02-02,-1\n')).to.throw('"-1" is not a rate of USD');
    expect(() => days('Date,USD\n2026-02-02,0.0\n')).to.throw('is not a rate');
    expect(() => days('Date,USD\n2026-02-02,1\n2026-02-02,2\n')).to.throw('twice');
    expect(() => days('Date,USD\n')).to.throw('no day');
    expect(() => days('hello')).to.throw('line 1');
    expect(() => days('<html></html>')).to.throw('Envelope');
    const xml = fixture('90-days.xml').toString();
    expect(() => days(xml.slice(0, -40)), 'a torn download').to.throw('Envelope');
    expect(() => days(xml.replace('?>', '?><!DOCTYPE a [<!ENTITY b "c">]>'))).to.throw('DOCTYPE');
  });

  it('unpack to no more than they may, and hold one file', () => {
    expect(() => onlyFileInZip(zipOf(Buffer.alloc(100_000)), 1000)).to.throw();
    expect(() => daysOfEcbFile(zipOf(fixture('daily.csv'), 2))).to.throw('exactly one file');
    const zip = zipOf(fixture('daily.csv'));
    expect(() => daysOfEcbFile(zip.subarray(0, zip.length - 10))).to.throw();
  });

  it('never give a half-read day, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          for (const { rates } of days(`Date,USD\n2026-02-02,${text}`))
            for (const rate of Object.values(rates)) expect(rate).to.match(/^\d+(\.\d+)?$/);
        } catch (error) {
          expect(error).to.be.instanceOf(Error);
        }
      }),
    );
  });
});
