import canonicalize from 'canonicalize';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  canonicalJson,
  chainHash,
  deterministicEventId,
  eventIdOfHash,
  fingerprintOf,
  sha256,
  verifyChain,
} from '../../domain/kernel/chain.ts';
import { type Json, type JsonObject, storableJson } from '../../domain/kernel/json.ts';
import {
  atScale,
  decimalOf,
  divideDown,
  divideHalfEven,
  listValueUsd,
  minorUnitDigits,
  parseDecimal,
} from '../../domain/kernel/amounts.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { holds } from '../../engine/test/support/properties.ts';

const anyJson = fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 }) as fc.Arbitrary<Json>;

describe('canonical JSON', () => {
  it('writes the examples of RFC 8785', () => {
    expect(
      canonicalJson({
        numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
        string: '\u20ac$\u000f\u000aA\'\u0042\u0022\u005c\\"/',
        literals: [null, true, false],
      }),
    ).to.equal(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
    expect(canonicalJson({ '\u20ac': 1, '\r': 2, '1': 3, '\u{1f600}': 4, '\ufb33': 5 })).to.equal(
      '{"\\r":2,"1":3,"€":1,"\u{1f600}":4,"\ufb33":5}',
    );
    expect(canonicalJson(-0)).to.equal('0');
  });

  it('refuses what JSON cannot carry', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, '\ud800', undefined])
      expect(() => canonicalJson(value as Json)).to.throw();
  });

  it('keeps objects apart that differ in a member that objects inherit', () => {
    const odd = JSON.parse('{"__proto__":1,"toString":2}') as JsonObject;
    expect(canonicalJson(odd)).to.equal('{"__proto__":1,"toString":2}');
    expect(canonicalJson({ a: 1, b: 2 })).to.equal('{"a":1,"b":2}');
  });

  holds(
    'is what the reference implementation writes, for any value',
    fc.property(anyJson, (value) => {
      expect(canonicalJson(value)).to.equal(canonicalize(value));
    }),
  );

  holds(
    'does not depend on the order of members',
    fc.property(fc.dictionary(fc.string(), anyJson, { noNullPrototype: true }), (value) => {
      const reversed = Object.fromEntries(Object.entries(value).reverse());
      expect(canonicalJson(reversed)).to.equal(canonicalJson(value));
      expect(fingerprintOf(reversed)).to.equal(fingerprintOf(value));
    }),
    0.25,
  );

  holds(
    'may be stored where reading and writing it again makes the same text',
    fc.property(anyJson, (value) => {
      const text = storableJson(value);
      if (text === undefined) return;
      expect(text).to.equal(canonicalize(value));
      expect(JSON.stringify(JSON.parse(text))).to.equal(text);
    }),
  );

  it('is not stored where numbers are names: an object would give them in another order', () => {
    expect(storableJson({ a: 1, b: 'two', c: { d: null } })).to.equal('{"a":1,"b":"two","c":{"d":null}}');
    expect(storableJson({ '9': 1, '10': 2 })).to.equal(undefined);
    expect(storableJson({ a: { '9': 1, '10': 2 } })).to.equal(undefined);
  });
});

/** `versionAt` says by which version each event is hashed. */
const chained = (count: number, versionAt: (at: number) => 1 | 2): RecordedEvent[] => {
  const events: RecordedEvent[] = [];
  for (let at = 0; at < count; at += 1) {
    const prev_hash = (events.at(-1)?.metadata['hash'] ?? null) as string | null;
    const place = { stream: 'account-acme', revision: BigInt(at), type: 'Counted' };
    const data = { credits: at, note: `event ${at}` };
    const version = versionAt(at) === 2 ? { hash_version: 2 } : {};
    const metadata = { schema_version: 1, tenant_id: 'acme', prev_hash, ...version };
    const hash = chainHash({ ...place, data, metadata });
    const id = versionAt(at) === 2 ? eventIdOfHash(hash) : deterministicEventId('account-acme', 'c', at);
    events.push({ id, ...place, data, metadata: { ...metadata, hash }, position: BigInt(at * 7) });
  }
  return events;
};

describe('the hash of an event', () => {
  const [one] = chained(1, () => 1);
  const [two] = chained(1, () => 2);

  it('is what the documents say, in version 1', () => {
    const { hash, ...metadata } = one!.metadata;
    expect(hash).to.equal(sha256(canonicalJson({ data: one!.data, metadata, type: 'Counted' })));
  });

  it('is what the documents say, in version 2, and the ID is its first 128 bits', () => {
    const { hash, ...metadata } = two!.metadata;
    const covered = { stream: 'account-acme', revision: '0', type: 'Counted', data: two!.data, metadata };
    expect(hash).to.equal(sha256(canonicalJson(covered)));
    const bits = (uuid: string) => uuid.replaceAll('-', '');
    const [id, digits] = [bits(two!.id), hash as string];
    for (let at = 0; at < 32; at += 1)
      if (at !== 12 && at !== 16) expect(id.charAt(at)).to.equal(digits.charAt(at));
    expect(two!.id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('covers stream, revision and ID in version 2, and none of them in version 1', () => {
    const changes = [
      { what: 'stream', reason: 'hash', change: { stream: 'account-other' } },
      { what: 'ID', reason: 'id', change: { id: deterministicEventId('other', 'c', 0) } },
    ] as const;
    for (const { what, reason, change } of changes) {
      expect(verifyChain([{ ...two!, ...change }]), what).to.deep.include({ reason });
      expect(verifyChain([{ ...one!, ...change }]), what).to.equal(null);
    }
    expect(chainHash({ ...two!, revision: 1n })).not.to.equal(chainHash(two!));
    expect(chainHash({ ...one!, revision: 1n })).to.equal(chainHash(one!));
  });

  it('is of no version that this program does not know', () => {
    const metadata = { ...two!.metadata, hash_version: 3 };
    const event = { ...two!, metadata: { ...metadata, hash: chainHash({ ...two!, metadata }) } };
    expect(verifyChain([event])).to.deep.include({ reason: 'hash_version' });
  });

  it('may go on from version 1 to 2 in a stream, and never back', () => {
    expect(verifyChain(chained(9, (at) => (at < 4 ? 1 : 2)))).to.equal(null);
    const back = chained(9, (at) => (at === 4 ? 1 : 2));
    expect(verifyChain(back)).to.deep.include({ revision: 4n, reason: 'hash_version' });
  });
});

for (const version of [1, 2] as const)
  describe(`the hash chain, version ${version}`, () => {
    const events = chained(9, () => version);
    const altered = (at: number, change: (event: RecordedEvent) => RecordedEvent) =>
      events.map((event, n) => (n === at ? change(event) : event));

    it('holds for what was written, also when members come back in another order', () => {
      expect(verifyChain(events)).to.equal(null);
      const reordered = altered(4, (event) => ({
        ...event,
        data: Object.fromEntries(Object.entries(event.data).reverse()),
        metadata: Object.fromEntries(Object.entries(event.metadata).reverse()),
      }));
      expect(verifyChain(reordered)).to.equal(null);
    });

    it('covers type, data and metadata', () => {
      for (const change of [
        (event: RecordedEvent) => ({ ...event, type: 'Miscounted' }),
        (event: RecordedEvent) => ({ ...event, data: { ...event.data, credits: 99 } }),
        (event: RecordedEvent) => ({ ...event, metadata: { ...event.metadata, tenant_id: 'other' } }),
      ])
        expect(verifyChain(altered(4, change))).to.deep.include({ revision: 4n, reason: 'hash' });
    });

    it('names the first revision where an event is missing, doubled, swapped or made up', () => {
      expect(verifyChain(events.filter((_, at) => at !== 3))).to.deep.include({
        revision: 4n,
        reason: 'revision',
      });
      expect(verifyChain([...events.slice(0, 4), ...events.slice(3)])).to.deep.include({
        revision: 3n,
        reason: 'revision',
      });
      const swapped = [...events];
      [swapped[3], swapped[4]] = [
        { ...events[4]!, revision: 3n },
        { ...events[3]!, revision: 4n },
      ];
      expect(verifyChain(swapped)).to.deep.include({ revision: 3n, reason: 'prev_hash' });
      const forged = altered(4, (event) => {
        const { hash: _, ...metadata } = event.metadata;
        const data = { ...event.data, credits: 99 };
        const hash = chainHash({ ...event, data, metadata });
        const id = version === 2 ? eventIdOfHash(hash) : event.id;
        return { ...event, id, data, metadata: { ...metadata, hash } };
      });
      expect(verifyChain(forged)).to.deep.include({ revision: 5n, reason: 'prev_hash' });
    });

    it('starts at the first event: a stream cut off in front does not hold', () => {
      expect(verifyChain(events.slice(1))).to.deep.include({ revision: 1n, reason: 'revision' });
    });

    holds(
      'breaks at the event in which any one character changes',
      fc.property(fc.nat({ max: 8 }), fc.nat(), (at, place) => {
        const text = JSON.stringify(events[at]!.data);
        const cut = place % text.length;
        const changed = text.slice(0, cut) + (text[cut] === '7' ? '8' : '7') + text.slice(cut + 1);
        let data: JsonObject;
        try {
          data = JSON.parse(changed) as JsonObject;
        } catch {
          return;
        }
        if (canonicalJson(data) === canonicalJson(events[at]!.data)) return;
        expect(verifyChain(altered(at, (event) => ({ ...event, data })))?.revision).to.equal(BigInt(at));
      }),
      0.25,
    );
  });

describe('event IDs', () => {
  it('are UUIDs of version 5, the same for the same command', () => {
    const id = deterministicEventId('account-acme', 'c1', 0);
    expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(deterministicEventId('account-acme', 'c1', 0)).to.equal(id);
  });

  it('differ by stream, command and place', () => {
    const ids = ['account-a', 'account-b'].flatMap((stream) =>
      ['c1', 'c11'].flatMap((command) => [0, 1, 11].map((at) => deterministicEventId(stream, command, at))),
    );
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('stay what they are: stored events carry them', () => {
    expect(deterministicEventId('account-acme', 'c1', 0)).to.equal('94fb091b-7525-5a7e-a440-cf8ed5bab17b');
  });
});

describe('rounding', () => {
  it('rounds half to even, and down to minus infinity', () => {
    const halves = [-7n, -5n, -3n, -1n, 1n, 3n, 5n, 7n];
    expect(halves.map((n) => divideHalfEven(n, 2n))).to.deep.equal([-4n, -2n, -2n, 0n, 0n, 2n, 2n, 4n]);
    expect(halves.map((n) => divideDown(n, 2n))).to.deep.equal([-4n, -3n, -2n, -1n, 0n, 1n, 2n, 3n]);
    expect(atScale(parseDecimal('1.005'), 2)).to.equal(100n);
    expect(atScale(parseDecimal('1.015'), 2)).to.equal(102n);
    expect(atScale(parseDecimal('-1.005'), 4)).to.equal(-10_050n);
  });

  it('reads decimal text and nothing else', () => {
    expect(parseDecimal('-12.340')).to.deep.equal({ units: -12_340n, scale: 3 });
    for (const text of ['', '.5', '5.', '1e3', '+1', ' 1', '0x1', '1,5', 'NaN'])
      expect(() => parseDecimal(text), text).to.throw(RangeError);
  });

  holds(
    'writes what it reads, and is never more than half a unit off',
    fc.property(fc.bigInt(), fc.bigInt({ min: 1n }), fc.nat({ max: 18 }), (a, b, scale) => {
      expect(parseDecimal(decimalOf(a, scale))).to.deep.equal({ units: a, scale });
      const rest = a - divideHalfEven(a, b) * b;
      expect(2n * (rest < 0n ? -rest : rest) <= b).to.equal(true);
      const down = a - divideDown(a, b) * b;
      expect(down >= 0n && down < b).to.equal(true);
    }),
  );

  it('values 1,000 credits at 1.00 USD', () => {
    expect([listValueUsd(1_000), listValueUsd(1), listValueUsd(-40), listValueUsd(0)]).to.deep.equal([
      '1.00',
      '0.001',
      '-0.04',
      '0.00',
    ]);
  });
});

describe('currencies', () => {
  it('have the digits of ISO 4217, not those of display', () => {
    const digits = { USD: 2, EUR: 2, JPY: 0, KWD: 3, HUF: 2, IQD: 3, COP: 2, AFN: 2, IDR: 2, LBP: 2, CLF: 4 };
    for (const [currency, expected] of Object.entries(digits))
      expect(minorUnitDigits(currency), currency).to.equal(expected);
    for (const unknown of ['XAU', 'XTS', 'usd', 'EU', '', 'ZZZ'])
      expect(minorUnitDigits(unknown)).to.equal(undefined);
  });
});
