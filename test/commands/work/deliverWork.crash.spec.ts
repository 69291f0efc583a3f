import { expect } from 'chai';
import { extractionStream } from '../../../domain/workEvents.ts';
import { accountWriter } from '../../../src/writer/accountWriter.ts';
import type { WorkAnswer } from '../../../src/commands/work.ts';
import {
  asked,
  death,
  delivery,
  dyingAfter,
  engineOf,
  extract,
  EXTRACTED,
  keyed,
  laterBy,
  START,
  type Death,
  type Delivery,
  type DeliveryOptions,
  type Process,
} from '../../support/delivery.ts';
import { memoryEventStore, type Fault } from '../../support/logs/memoryEventStore.ts';

interface Point {
  readonly at: string;
  /** Whether the result outlives the crash. */
  readonly stored: boolean;
  readonly dying: (on: Process, at: Death) => Partial<Process>;
}

const POINTS: readonly Point[] = [
  {
    at: 'after its hold',
    stored: false,
    dying: ({ accounts }, at) => ({ accounts: dyingAfter(accounts, 'HoldCredits', at) }),
  },
  {
    at: 'after it ran, before its result was stored',
    stored: false,
    dying: ({ objects }, { here }) => ({ objects: { ...objects, put: here } }),
  },
  {
    at: 'after its result was stored, before it was settled',
    stored: true,
    dying: ({ objects }, { here }) => ({
      objects: { ...objects, put: (key, bytes) => objects.put(key, bytes).then(here) },
    }),
  },
  {
    at: 'after it was settled, before the answer',
    stored: true,
    dying: ({ accounts }, at) => ({ accounts: dyingAfter(accounts, 'SettleHold', at) }),
  },
];

const PAID = { balance: 880, held: 0, free_pages_used: 1, free_pages_held: 0, open_holds: 0 };

/** Four pages, of which one is free: 120 credits. */
const REQUEST = keyed(4);

const counted = () => {
  const runs = { count: 0 };
  const engine = engineOf(() => {
    runs.count += 1;
    return Promise.resolve(EXTRACTED);
  });
  return { runs, engine };
};

const idOf = (answer: WorkAnswer): string => {
  if (answer.kind !== 'delivered') throw new Error(JSON.stringify(answer));
  expect(answer.cost).to.deep.equal({ credits_used: 120, pages: 4, balance_remaining: 880 });
  expect(answer.body['result']).to.deep.equal({ number: 'Q-1' });
  expect(answer.body['meta']).to.include({ free_pages: 1 });
  return (answer.body['meta'] as Record<string, string>)['extraction_id'] ?? '';
};

describe('work whose process dies', () => {
  let bench: Delivery;
  const setUp = async (options: DeliveryOptions = {}): Promise<Delivery> =>
    (bench = await delivery({ freePages: 1, ...options }));
  afterEach(() => bench.dispose());

  const dieAt = async ({ dying }: Pick<Point, 'dying'>): Promise<void> => {
    const on = bench.process();
    const end = death();
    void extract({ ...on, ...dying(on, end) }, REQUEST);
    await end.happened;
  };

  const paidOnce = async (): Promise<void> => {
    expect(await bench.burns()).to.have.length(1);
    expect(await bench.account()).to.deep.equal(PAID);
  };

  for (const point of POINTS) {
    const { at, stored } = point;
    describe(at, () => {
      beforeEach(async () => {
        await setUp();
        await dieAt(point);
      });

      it('is delivered to a retry after its hold ran out, and billed once', async () => {
        await bench.sweepAfter(1);
        const { runs, engine } = counted();
        idOf(await extract(bench.process({ engine }), REQUEST));
        // What was given back is not billed any more: the work is done again.
        expect(runs.count).to.equal(at.startsWith('after it was settled') ? 0 : 1);
        await paidOnce();
      });

      it('is delivered to two retries after its hold ran out, one after the other', async () => {
        await bench.sweepAfter(1);
        const first = idOf(await extract(bench.process(), REQUEST));
        expect(idOf(await extract(bench.process(), REQUEST))).to.equal(first);
        await paidOnce();
      });

      if (stored) {
        it('is delivered to a retry at once, and billed once', async () => {
          const { runs, engine } = counted();
          const id = idOf(await extract(bench.process({ engine }), REQUEST));
          expect(runs.count).to.equal(0);
          await paidOnce();
          expect(await bench.typesIn(extractionStream(id))).to.deep.equal([
            'ExtractionRequested',
            'ExtractionCompleted',
          ]);
        });

        for (const [when, hours] of [
          ['at once', 0],
          ['after its hold ran out', 1],
        ] as const)
          it(`is billed once by two retries that race ${when}`, async () => {
            await bench.sweepAfter(hours);
            const retries = [bench.process(), bench.process()].map((on) => extract(on, REQUEST));
            expect(new Set((await Promise.all(retries)).map(idOf))).to.have.length(1);
            await paidOnce();
          });

        it('is billed once by two retries that race in one process', async () => {
          await bench.sweepAfter(1);
          const on = bench.process();
          const retries = [extract(on, REQUEST), extract(on, REQUEST)];
          expect(new Set((await Promise.all(retries)).map(idOf))).to.have.length(1);
          await paidOnce();
        });
      } else
        it('is delivered to a retry at once, and billed once; its own hold runs out', async () => {
          const answer = await extract(bench.process(), REQUEST);
          expect(answer.kind).to.equal('delivered');
          expect(await bench.burns()).to.have.length(1);
          await bench.sweepAfter(1);
          expect(await bench.account()).to.include({ held: 0, free_pages_held: 0, open_holds: 0 });
        });
    });
  }

  it('is answered with the result that was paid for, though this process has another one', async () => {
    await setUp();
    const other = { ...EXTRACTED, extraction: { ...EXTRACTED.extraction, value: { number: 'Q-2' } } };
    const engine = engineOf(async () => {
      idOf(await extract(bench.process(), REQUEST));
      return other;
    });
    idOf(await extract(bench.process({ engine }), REQUEST));
    await paidOnce();
  });

  describe('again, in a retry that held anew what had run out', () => {
    const STORED = POINTS[2]!;
    beforeEach(async () => {
      await setUp();
      await dieAt(STORED);
      await bench.sweepAfter(1);
    });
    const HELD = POINTS[0]!;
    const SETTLED = POINTS[3]!;

    for (const point of [HELD, SETTLED]) {
      it(`${point.at}: the next retry is billed once`, async () => {
        await dieAt(point);
        idOf(await extract(bench.process(), REQUEST));
        await paidOnce();
      });

      it(`${point.at}: two retries that race are billed once`, async () => {
        await dieAt(point);
        const retries = [bench.process(), bench.process()].map((on) => extract(on, REQUEST));
        expect(new Set((await Promise.all(retries)).map(idOf))).to.have.length(1);
        await paidOnce();
      });
    }

    it('in another process, while this one looks: it tells the balance after that bill', async () => {
      const on = bench.process();
      const read: typeof bench.store.read = async function* (stream, options) {
        if (options?.direction === 'backwards') await extract(bench.process(), REQUEST);
        yield* bench.store.read(stream, options);
      };
      idOf(await extract({ ...on, store: { ...bench.store, read } }, REQUEST));
      await paidOnce();
    });

    it('however often: every hold runs out, and the last retry is billed once', async () => {
      for (let crash = 1; crash <= 3; crash += 1) {
        await dieAt(HELD);
        await bench.sweepAfter(1);
        expect(await bench.account()).to.include({ held: 0, free_pages_held: 0, open_holds: 0 });
      }
      idOf(await extract(bench.process(), REQUEST));
      await paidOnce();
    });

    it('and the credits are gone by then: it is not delivered and not billed', async () => {
      await extract(bench.process(), asked(23));
      const answer = await extract(bench.process(), REQUEST);
      expect(answer).to.include({ kind: 'problem', code: 'insufficient_credits' });
      expect(await bench.burns()).to.have.length(1);
      expect(await bench.account()).to.include({ held: 0, open_holds: 0 });
    });
  });
});

describe('work whose hold runs out while it runs', () => {
  let bench: Delivery;
  afterEach(() => bench.dispose());

  const slow = (meanwhile: () => Promise<unknown> = () => Promise.resolve()) =>
    bench.process({
      engine: engineOf(async () => {
        await bench.sweepAfter(1);
        await meanwhile();
        return EXTRACTED;
      }),
    });

  for (const [what, request] of [
    ['without a key is not delivered and not billed', asked(4)],
    ['with a key is done again under another hold, billed once and delivered', keyed(4)],
  ] as const)
    it(what, async () => {
      bench = await delivery({ freePages: 1 });
      let isFirst = true;
      const meanwhile = () => (isFirst ? bench.sweepAfter(1) : Promise.resolve());
      const engine = engineOf(async () => {
        await meanwhile();
        isFirst = false;
        return EXTRACTED;
      });
      const answer = await extract(bench.process({ engine }), request);
      const isKeyed = request.idempotency !== null;
      if (isKeyed) idOf(answer);
      else expect(answer).to.include({ kind: 'problem', code: 'busy' });
      expect(await bench.burns()).to.have.length(isKeyed ? 1 : 0);
      expect(await bench.account()).to.include({ held: 0, open_holds: 0 });
    });

  it('is not delivered when the credits went elsewhere, and not billed', async () => {
    bench = await delivery({ balance: 160 });
    const answer = await extract(
      slow(() => extract(bench.process(), asked(1))),
      asked(4),
    );
    expect(answer).to.include({ kind: 'problem', code: 'busy' });
    expect(await bench.burns()).to.have.length(1);
    expect(await bench.account()).to.include({ balance: 120, held: 0, open_holds: 0 });
  });
});

describe('a stored result', () => {
  let bench: Delivery;
  beforeEach(async () => (bench = await delivery()));
  afterEach(() => bench.dispose());

  const runsOf = async (request: Parameters<typeof extract>[1]): Promise<number> => {
    const { runs, engine } = counted();
    expect((await extract(bench.process({ engine }), request)).kind).to.equal('delivered');
    return runs.count;
  };

  it('answers its own request for a day, and not after it', async () => {
    expect(await runsOf(keyed(1))).to.equal(1);
    bench.time.now = laterBy(START, 23.999);
    expect(await runsOf(keyed(1))).to.equal(0);
    bench.time.now = laterBy(START, 24);
    expect(await runsOf(keyed(1))).to.equal(1);
    expect(await bench.burns()).to.have.length(2);
  });

  it('answers no other request: of another fingerprint, key, tenant or endpoint, or without a key', async () => {
    expect(await runsOf(keyed(1))).to.equal(1);
    expect(await runsOf(keyed(1, 'f', 'another'))).to.equal(1);
    expect(await runsOf(asked(1))).to.equal(1);
    expect(await runsOf({ ...keyed(1), tenant_id: 'u', caller: { key_id: 'a', role: 'admin' } })).to.equal(1);
    const { runs, engine } = counted();
    const other = await extract(bench.process({ engine }), keyed(1, 'another'));
    expect(other).to.include({ kind: 'problem', code: 'idempotency_key_reused' });
    expect(runs.count).to.equal(0);
    expect(await bench.burns()).to.have.length(3);
  });

  it('that cannot be read as one is not used', async () => {
    const on = bench.process();
    const get = () => Promise.resolve(new TextEncoder().encode('{"operation_id":1}'));
    const { runs, engine } = counted();
    await extract({ ...on, engine, objects: { ...on.objects, get } }, keyed(1));
    expect(runs.count).to.equal(1);
  });

  it('that was stored though the store said that it failed is billed once, to the retry', async () => {
    const on = bench.process();
    const put: typeof on.objects.put = async (key, bytes) => {
      await on.objects.put(key, bytes);
      throw new Error('scripted');
    };
    expect(await extract({ ...on, objects: { ...on.objects, put } }, keyed(1)).catch(String)).to.contain(
      'scripted',
    );
    expect(await bench.account()).to.include({ balance: 1000, held: 0 });
    expect(await runsOf(keyed(1))).to.equal(1);
    expect(await runsOf(keyed(1))).to.equal(0);
    expect(await bench.burns()).to.have.length(1);
    expect(await bench.account()).to.include({ balance: 960, held: 0, open_holds: 0 });
  });

  it('of a service key is delivered again without a bill', async () => {
    const request = { ...keyed(1), caller: { key_id: 's', role: 'service' } as const };
    expect(await runsOf(request)).to.equal(1);
    expect(await runsOf(request)).to.equal(0);
    expect(await bench.burns()).to.deep.equal([]);
  });
});

describe('a settlement whose outcome is not known', () => {
  /**
   * The writer's callers wait 60 ms; an append without an answer is sent again after 20 ms. The log answers again
   * when it is asked for the settlement once more.
   */
  const setUp = async (faults: readonly Fault[], { isBack = true } = {}) => {
    const store = memoryEventStore();
    const bench = await delivery({ store });
    const accounts = accountWriter({
      store,
      random: () => 0,
      appendTimeoutMs: 20,
      limits: { callerDeadlineMs: 60, closeTimeoutMs: 0 },
    });
    const settlements = { count: 0 };
    const on = bench.process(
      {},
      {
        ...accounts,
        execute: (command) => {
          if (command.type === 'SettleHold') settlements.count += 1;
          if (command.type === 'SettleHold' && settlements.count === 1) store.script.push(...faults);
          if (isBack && settlements.count > 1) store.script.length = 0;
          return accounts.execute(command);
        },
      },
    );
    return { store, bench, on, accounts, settlements };
  };
  const silences = (count: number): Fault[] => Array.from<Fault>({ length: count }).fill('silence');
  const LONG: readonly Fault[] = ['commit_then_silence', ...silences(1000)];

  for (const [what, faults] of [
    ['it took effect', LONG],
    ['it did not take effect', silences(1000)],
  ] as const)
    it(`is asked for until it is: ${what}, so it is billed once and delivered`, async () => {
      const { bench, on, accounts, settlements } = await setUp(faults);
      const answer = await extract(on, asked(3));
      expect(settlements.count).to.be.greaterThan(1);
      expect(answer).to.deep.include({ cost: { credits_used: 120, pages: 3, balance_remaining: 880 } });
      expect(await bench.burns()).to.have.length(1);
      expect(await bench.account()).to.include({ balance: 880, held: 0, open_holds: 0 });
      await accounts.close();
      await bench.dispose();
    });

  it('is asked for again when the log cannot be read for it', async () => {
    const { bench, on, accounts, store } = await setUp(LONG);
    let failed = false;
    const read: typeof store.read = (stream, options) => {
      if (options?.direction !== 'backwards' || failed) return store.read(stream, options);
      failed = true;
      throw new Error('scripted: no log');
    };
    const answer = await extract({ ...on, store: { ...store, read } }, asked(3));
    expect(failed).to.equal(true);
    expect(answer).to.deep.include({ cost: { credits_used: 120, pages: 3, balance_remaining: 880 } });
    expect(await bench.burns()).to.have.length(1);
    await accounts.close();
    await bench.dispose();
  });

  it('stays so for long: the caller is told to ask again, and then it is billed once', async () => {
    const { bench, on, store, accounts } = await setUp(LONG, { isBack: false });
    expect(await extract(on, keyed(3))).to.include({ kind: 'problem', code: 'busy' });
    await accounts.close();
    store.script.length = 0;
    const answer = await extract(bench.process(), keyed(3));
    expect(answer).to.deep.include({ cost: { credits_used: 120, pages: 3, balance_remaining: 880 } });
    expect(await bench.burns()).to.have.length(1);
    await bench.dispose();
  });
});
