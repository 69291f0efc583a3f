import { expect } from 'chai';
import fc from 'fast-check';
import { doubtsIn, type Reading } from '../../domain/doubts.ts';
import type { Json, JsonObject } from '../../domain/kernel/json.ts';
import {
  DECIDED_KEPT_MS,
  isDecided,
  isSampled,
  machinePlaces,
  originsOf,
  REVIEW_LEASE_MS,
  review,
  type ReviewKind,
  UNDECIDED_KEPT_MS,
} from '../../domain/review.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import { sha256 } from '../../domain/kernel/chain.ts';

const OPENED = '2026-01-31T08:00:00.000Z';
const after = (ms: number): string => laterBy(OPENED, ms);
const identity = { review_id: 'rev_1', operation_id: 'op_1', tenant_id: 'acme' };
const digest = (text: string): string => sha256(text);

type Command = ReviewKind['command'];

const meta = (by: string, now: string) => ({
  now,
  actor: { key_id: by, role: 'tenant' as const },
  correlation_id: 'r',
  command_id: 'c',
});
const asked = (by: string) => ({ ...identity, opened_at: OPENED, by });
const lease = (by: string, at: number): Command => ({
  type: 'Lease',
  data: asked(by),
  meta: meta(by, after(at)),
});
const release = (by: string, at: number): Command => ({
  type: 'Release',
  data: asked(by),
  meta: meta(by, after(at)),
});
const reopen = (by: string, at: number): Command => ({
  type: 'Reopen',
  data: asked(by),
  meta: meta(by, after(at)),
});
const expire = (at: number, erased?: true): Command => ({
  type: 'Expire',
  data: { ...identity, opened_at: OPENED, ...(erased && { erased }) },
  meta: meta('system', after(at)),
});
const decide = (by: string, at: number, { what = 'one', generation = 1 } = {}): Command => ({
  type: 'Decide',
  data: {
    ...asked(by),
    generation,
    decision_sha256: digest(what),
    before_sha256: digest('read'),
    schema_sha256: digest('s'),
    document_id: 'doc_1',
    document_sha256: digest('d'),
    read: 1,
    confirmed: 0,
    corrected: 0,
  },
  meta: meta(by, after(at)),
});

const refuse = (by: string, at: number, { generation = 1, note = null as string | null } = {}): Command => ({
  type: 'Reject',
  data: { ...asked(by), generation, reason: 'illegible', note },
  meta: meta(by, after(at)),
});

/** The state after commands that are all accepted. */
const stateOf = (commands: readonly Command[]) =>
  commands.reduce((state, command) => {
    const decision = review.decide(state, command);
    if (decision.kind === 'rejected') throw new Error(decision.rejection.code);
    return decision.events.reduce(review.evolve, state);
  }, review.initialState);

/** What came of each command: the type of its event, `nothing`, or the code of the rejection. */
const told = (...commands: readonly Command[]): readonly string[] => {
  let state = review.initialState;
  return commands.map((command) => {
    const decision = review.decide(state, command);
    if (decision.kind === 'rejected') return decision.rejection.code;
    state = decision.events.reduce(review.evolve, state);
    return decision.events[0]?.type ?? 'nothing';
  });
};

const MINUTE = 60_000;

describe('a review', () => {
  it('is held by one person at a time, for as long as they go on', () => {
    expect(
      told(lease('a', 0), lease('b', MINUTE), lease('a', 10 * MINUTE), lease('b', 20 * MINUTE)),
    ).to.deep.equal(['ReviewLeased', 'review_leased', 'ReviewLeased', 'review_leased']);
    expect(told(lease('a', 0), lease('b', REVIEW_LEASE_MS))).to.deep.equal(['ReviewLeased', 'ReviewLeased']);
  });

  it('is held no longer by whoever leaves it; who does not hold it leaves nothing', () => {
    expect(
      told(lease('a', 0), release('b', 1), lease('b', 2), release('a', 3), release('a', 3), lease('b', 3)),
    ).to.deep.equal(['ReviewLeased', 'nothing', 'review_leased', 'ReviewLeased', 'nothing', 'ReviewLeased']);
    expect(
      told(release('a', 0), lease('a', 1), release('a', 2), decide('b', 3), release('b', 4)),
    ).to.deep.equal(['nothing', 'ReviewLeased', 'ReviewLeased', 'ReviewDecided', 'nothing']);
  });

  it('is decided by who holds it, or by anybody while nobody does', () => {
    expect(told(lease('a', 0), decide('b', 1), decide('a', 2))).to.deep.equal([
      'ReviewLeased',
      'review_leased',
      'ReviewDecided',
    ]);
    expect(told(decide('b', 1))).to.deep.equal(['ReviewDecided']);
  });

  it('is decided once: the same again is nothing, another one is refused', () => {
    expect(
      told(decide('a', 0), decide('a', 1), decide('b', 2, { what: 'two' }), lease('b', 3)),
    ).to.deep.equal(['ReviewDecided', 'nothing', 'review_decided', 'review_decided']);
  });

  it('is decided anew once it was opened again, and not by what was said before', () => {
    expect(
      told(
        decide('a', 0),
        reopen('b', 1),
        reopen('b', 2),
        decide('a', 3),
        decide('a', 4, { what: 'two' }),
        decide('a', 5, { what: 'two', generation: 2 }),
      ),
    ).to.deep.equal([
      'ReviewDecided',
      'ReviewReopened',
      'nothing',
      'nothing',
      'review_decided',
      'ReviewDecided',
    ]);
  });

  it('expires with its result, and a decision thirty days later', () => {
    const late = UNDECIDED_KEPT_MS;
    expect(told(lease('a', late), decide('a', late), reopen('a', late))).to.deep.equal([
      'review_expired',
      'review_expired',
      'review_expired',
    ]);
    expect(told(decide('a', 0), reopen('a', late))).to.deep.equal(['ReviewDecided', 'ReviewReopened']);
    expect(told(decide('a', 0), reopen('a', DECIDED_KEPT_MS))).to.deep.equal([
      'ReviewDecided',
      'review_expired',
    ]);
  });

  it('says when it has expired, after which a decision that was on its way is none', () => {
    const late = UNDECIDED_KEPT_MS;
    expect(told(expire(late - 1), decide('a', late - 1), expire(late))).to.deep.equal([
      'nothing',
      'ReviewDecided',
      'nothing',
    ]);
    // The clock of who decides is behind.
    const behind = late - 1;
    expect(
      told(expire(late), expire(late), decide('a', behind), lease('a', behind), reopen('a', behind)),
    ).to.deep.equal(['ReviewExpired', 'nothing', 'review_expired', 'review_expired', 'review_expired']);
    expect(told(decide('a', 0), expire(DECIDED_KEPT_MS), reopen('a', 1))).to.deep.equal([
      'ReviewDecided',
      'ReviewExpired',
      'review_expired',
    ]);
  });

  it('ends when its document is erased: a decision that was under way is none', () => {
    expect(told(lease('a', 0), expire(1, true), expire(2, true), decide('a', 3))).to.deep.equal([
      'ReviewLeased',
      'ReviewExpired',
      'nothing',
      'review_expired',
    ]);
    expect(told(decide('a', 0), expire(1, true), reopen('a', 2))).to.deep.equal([
      'ReviewDecided',
      'ReviewExpired',
      'review_expired',
    ]);
  });

  it('is rejected by who holds it, once; the same again is nothing', () => {
    expect(
      told(lease('a', 0), refuse('b', 1), refuse('a', 2), refuse('a', 3), refuse('a', 4, { note: 'No.' })),
    ).to.deep.equal(['ReviewLeased', 'review_leased', 'ReviewRejected', 'nothing', 'review_decided']);
    expect(told(refuse('a', 0), decide('a', 1), lease('a', 2), reopen('b', 3), decide('b', 4))).to.deep.equal(
      ['ReviewRejected', 'review_decided', 'review_decided', 'ReviewReopened', 'review_decided'],
    );
    expect(told(refuse('a', 0), reopen('a', 1), decide('a', 2, { generation: 2 }))).to.deep.equal([
      'ReviewRejected',
      'ReviewReopened',
      'ReviewDecided',
    ]);
    expect(told(decide('a', 0), refuse('a', 1))).to.deep.equal(['ReviewDecided', 'review_decided']);
    expect(told(refuse('a', UNDECIDED_KEPT_MS))).to.deep.equal(['review_expired']);
  });

  it('remembers who did what, however often it is opened again, up to fifty times', () => {
    const moves = [lease('a', 0), decide('a', 1), reopen('b', 2), refuse('b', 3, { generation: 2 })];
    const { history } = stateOf(moves);
    expect(history.map(({ type }) => type)).to.deep.equal([
      'ReviewDecided',
      'ReviewReopened',
      'ReviewRejected',
    ]);
    expect(
      history.map(({ data }) => Object.entries(data).find(([name]) => name.endsWith('_by'))?.[1]),
    ).to.deep.equal(['a', 'b', 'b']);
    const often = Array.from({ length: 40 }, (_, at) => [
      refuse('a', at, { generation: at + 1 }),
      reopen('a', at),
    ]).flat();
    const { history: last, generation } = stateOf(often);
    expect([last.length, generation, last.at(-1)?.data.generation]).to.deep.equal([50, 41, 41]);
  });

  it('never has two holders, nor two decisions of one generation, whatever is asked', () => {
    const one = fc.record({
      what: fc.constantFrom('lease', 'release', 'decide', 'reject', 'reopen'),
      by: fc.constantFrom('a', 'b', 'c'),
      after: fc.integer({ min: 0, max: 20 * MINUTE }),
      generation: fc.integer({ min: 1, max: 3 }),
      says: fc.constantFrom('one', 'two'),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 40 }), (asks) => {
        let [state, now] = [review.initialState, 0];
        let held = { by: '', until: 0 };
        const decided = new Set<number>();
        for (const { what, by, after: wait, generation, says } of asks) {
          now += wait;
          const command = {
            decide: () => decide(by, now, { what: says, generation }),
            reject: () => refuse(by, now, { note: says, generation }),
            lease: () => lease(by, now),
            release: () => release(by, now),
            reopen: () => reopen(by, now),
          }[what]();
          const decision = review.decide(state, command);
          if (decision.kind === 'rejected') continue;
          for (const event of decision.events) {
            if (event.type !== 'ReviewReopened' && held.until > now) expect(held.by).to.equal(by);
            if (what === 'lease') held = { by, until: now + REVIEW_LEASE_MS };
            else held = { by: '', until: 0 };
            if (event.type === 'ReviewDecided' || event.type === 'ReviewRejected') {
              expect(decided.has(event.data.generation)).to.equal(false);
              decided.add(event.data.generation);
            }
          }
          state = decision.events.reduce(review.evolve, state);
          expect(isDecided(state) || state.rejection !== null).to.equal(decided.has(state.generation));
        }
      }),
    );
  });
});

const reading = (over: Partial<Reading>): Reading => ({
  value: {},
  citations: [],
  warnings: [],
  errors: [],
  file_sha256: digest('file'),
  ...over,
});
const pathsOf = (over: Partial<Reading>, policy: Parameters<typeof doubtsIn>[1]): readonly string[] =>
  doubtsIn(reading(over), policy).map(({ code, path }) => `${code} ${path}`);

describe('what a person has to look at', () => {
  const citations = [
    { path: '/total', confidence: 0.6 },
    { path: '/date', confidence: 0.95 },
  ];

  it('is nothing unless it is asked for', () => {
    const errors = [{ path: '/number', keyword: 'required' }];
    expect(pathsOf({ citations, errors }, {})).to.deep.equal([]);
  });

  it('is what is less sure than asked for, and what was left out for it', () => {
    const warnings = [{ code: 'low_confidence', path: '/number', confidence: 0.3 }];
    expect(pathsOf({ citations, warnings }, { below: 0.9 })).to.deep.equal(['below /total', 'below /number']);
  });

  it('is what is required and missing', () => {
    const errors = [
      { path: '/number', keyword: 'required' },
      { path: '/date', keyword: 'format' },
    ];
    expect(pathsOf({ errors }, { missing_required: true })).to.deep.equal(['missing_required /number']);
  });

  const items = (...amounts: readonly number[]) => amounts.map((amount) => ({ name: 'x', amount }));
  for (const [name, value, doubts] of [
    ['add up', { lines: items(10, 20.1), total: 30.1 }, []],
    ['add up to the net amount', { lines: items(10, 20), netAmount: 30, vat: 5.7, total: 35.7 }, []],
    ['add up without the tax', { lines: items(10, 20), tax: 5.7, shipping: 4, total: 39.7 }, []],
    ['differ from the total', { lines: items(10, 20), total: 31 }, ['rules /total', 'rules /lines']],
    ['differ deep inside', { a: { items: items(1, 1), sum: 3 } }, ['rules /a/sum', 'rules /a/items']],
    ['have no amounts', { lines: [{ name: 'x' }], total: 31 }, []],
    ['lack one amount', { lines: [...items(10), { name: 'y' }], total: 31 }, []],
    ['have no total', { lines: items(10, 20), count: 2 }, []],
  ] as const)
    it(`by rules: items that ${name}`, () => {
      expect(pathsOf({ value }, { rules: true })).to.deep.equal(doubts);
    });

  it('by rules: two readings that differ', () => {
    const warnings = [
      { code: 'readings_differ', path: '/total' },
      { code: 'merged', path: '/x' },
    ];
    expect(pathsOf({ warnings }, { rules: true })).to.deep.equal(['rules /total']);
  });

  it('is a share of all files, the same ones each time', () => {
    const files = Array.from({ length: 2_000 }, (_, at) => digest(String(at)));
    const chosen = files.filter((file) => isSampled(file, 0.2));
    expect(chosen.length).to.be.within(320, 480);
    expect(files.filter((file) => isSampled(file, 0.2))).to.deep.equal(chosen);
    for (const file of chosen) expect(isSampled(file, 0.3)).to.equal(true);
    expect(files.some((file) => isSampled(file, 0))).to.equal(false);
    expect(files.every((file) => isSampled(file, 1))).to.equal(true);
  });
});

const leavesOf = (value: Json, at = ''): readonly string[] => {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return [at];
  return Object.entries(value).flatMap(([name, item]) =>
    leavesOf(item, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
};

describe('where a decided value comes from', () => {
  it('is the machine, the machine and a person, or a person', () => {
    const machine = { number: 'A-1', total: 10, date: '2026-01-31' };
    expect(originsOf({ ...machine, total: 12 }, machine, ['/date', '/total'])).to.deep.equal({
      '/number': 'read',
      '/total': 'corrected',
      '/date': 'confirmed',
    });
  });

  it('is confirmed for all of a result that was looked at as a whole', () => {
    expect(originsOf({ a: 1, b: null }, { a: 1 }, [''])).to.deep.equal({
      '/a': 'confirmed',
      '/b': 'confirmed',
    });
  });

  it('follows rows that were put in, taken out or joined', () => {
    const row = (name: string, amount: number) => ({ name, amount });
    const machine = { lines: [row('a', 1), row('b', 2), row('c', 3)] };
    const decided = { lines: [row('new', 9), row('b', 2), row('c', 4)] };
    expect(originsOf(decided, machine, ['/lines/1/name'])).to.deep.equal({
      '/lines/0/name': 'corrected',
      '/lines/0/amount': 'corrected',
      '/lines/1/name': 'confirmed',
      '/lines/1/amount': 'read',
      '/lines/2/name': 'read',
      '/lines/2/amount': 'corrected',
    });
  });

  it('has its place in the machine’s result by the row that it was read from', () => {
    const row = (name: string, amount: number) => ({ name, amount });
    const machine = { lines: [row('a', 1), row('b', 2)] };
    const places = machinePlaces({ lines: [row('b', 2), row('c', 3)] }, machine);
    expect([...places]).to.deep.equal([
      ['/lines/0/name', '/lines/1/name'],
      ['/lines/0/amount', '/lines/1/amount'],
      ['/lines/1/name', '/lines/-/name'],
      ['/lines/1/amount', '/lines/-/amount'],
    ]);
  });

  it('is that of members with names that every object knows', () => {
    expect(originsOf({ toString: null }, {}, [])).to.deep.equal({ '/toString': 'read' });
  });

  it('is found by reading each doubt once, however many values there are', () => {
    const rows = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ code: 1_000 + (at % 9), amount: at }));
    const machine = { rows: rows(2_000) };
    const paths = machine.rows.flatMap((_, at) => [`/rows/${String(at)}/code`, `/rows/${String(at)}/amount`]);
    let read = 0;
    const doubts = new Proxy(paths, {
      get: (target, name, self): unknown => {
        if (typeof name === 'string' && /^\d+$/.test(name)) read += 1;
        return Reflect.get(target, name, self);
      },
    });
    const origins = originsOf({ rows: machine.rows.slice(1) }, machine, doubts);
    expect(Object.values(origins).every((one) => one === 'confirmed')).to.equal(true);
    expect(read).to.be.at.most(paths.length);
  });

  it('is as a comparison of each row with each says', () => {
    const row = fc.record({ a: fc.integer({ min: 0, max: 2 }), b: fc.constantFrom('x', 'y') });
    const rows = fc.array(row, { maxLength: 12 });
    /** The first equal row that is left; what stands between two such rows by turns. */
    const pairs = (decided: readonly object[], machine: readonly object[]) => {
      const texts = machine.map((one) => JSON.stringify(one));
      const found: (number | undefined)[] = [];
      let [next, between]: [number, number[]] = [0, []];
      const pairUp = (upTo: number) => {
        for (const at of between) if (next < upTo) found[at] = next++;
        between = [];
      };
      for (const [at, one] of decided.entries()) {
        const same = texts.indexOf(JSON.stringify(one), next);
        if (same < 0) between.push(at);
        else {
          pairUp(same);
          [found[at], next] = [same, same + 1];
        }
      }
      pairUp(machine.length);
      return found;
    };
    fc.assert(
      fc.property(rows, rows, fc.array(fc.nat(11), { maxLength: 4 }), (decided, machine, doubted) => {
        const doubts = doubted.map((at) => `/${String(at)}/a`);
        const origins = originsOf(decided as never, machine as never, doubts);
        const found = pairs(decided, machine);
        for (const [at, one] of decided.entries())
          for (const name of ['a', 'b'] as const) {
            const place = found[at];
            const isSame = place !== undefined && machine[place]?.[name] === one[name];
            const isDoubted = doubts.includes(`/${String(place)}/${name}`);
            const origin = isSame ? (isDoubted ? 'confirmed' : 'read') : 'corrected';
            expect(origins[`/${String(at)}/${name}`]).to.equal(origin);
          }
      }),
    );
  });

  it('is said of each leaf, whatever the results are, and is read for all that nobody changed or doubted', () => {
    const value = fc.object({ maxDepth: 3, values: [fc.integer(), fc.string(), fc.constant(null)] });
    fc.assert(
      fc.property(value, value, (decided, machine) => {
        const origins = originsOf(decided as JsonObject, machine as JsonObject, []);
        expect(Object.keys(origins).sort()).to.deep.equal([...leavesOf(decided as Json)].sort());
        const same = originsOf(decided as JsonObject, decided as JsonObject, []);
        expect(Object.values(same).every((one) => one === 'read')).to.equal(true);
      }),
    );
  });
});
