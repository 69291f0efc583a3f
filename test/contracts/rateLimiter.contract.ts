import { expect } from 'chai';
import fc from 'fast-check';
import type { Bucket, RateLimiter } from '../../domain/ports/rateLimiter.ts';

/** A limiter and its time. `passMs` waits or moves a clock; real time may add `driftMs` to it. */
export interface LimiterUnderTest {
  readonly limiter: RateLimiter;
  readonly passMs: (ms: number) => Promise<void>;
  /** Most by which time may run on by itself during one example, ms. */
  readonly driftMs: number;
}

const HEAVY: Bucket = { rate_per_second: 5, burst: 20 };

let keys = 0;
const freshKey = (): string => `spec:${String(process.pid)}:${String(Date.now())}:${String((keys += 1))}`;

/** What every rate limiter does, whatever its buckets are kept in. */
export const rateLimiterContract = (name: string, open: () => Promise<LimiterUnderTest>): void => {
  describe(`rate limiter: ${name}`, () => {
    let under: LimiterUnderTest;
    before(async () => {
      under = await open();
    });
    after(async () => {
      await under.limiter.close();
    });

    const admitted = async (key: string, bucket: Bucket, calls: number): Promise<number> => {
      let count = 0;
      for (let n = 0; n < calls; n += 1) if ((await under.limiter.take(key, bucket)).allowed) count += 1;
      return count;
    };
    /** Tokens that may have dripped in while the example ran. */
    const drift = ({ rate_per_second }: Bucket) => Math.ceil((under.driftMs / 1000) * rate_per_second);

    it('admits the burst of a full bucket at once, and no more', async () => {
      expect(await admitted(freshKey(), HEAVY, 40)).to.be.within(20, 20 + drift(HEAVY));
    });

    it('counts down, and says when the bucket is full again', async () => {
      const key = freshKey();
      const first = await under.limiter.take(key, HEAVY);
      expect(first).to.include({ allowed: true, remaining: 19, retryAfterMs: 0 });
      expect(first.resetMs).to.be.within(199, 201);
      expect((await under.limiter.take(key, HEAVY)).remaining).to.be.within(18, 18 + drift(HEAVY));
    });

    it('says how long until the next token when it refuses', async () => {
      const key = freshKey();
      await admitted(key, HEAVY, 20 + drift(HEAVY));
      const refused = await under.limiter.take(key, HEAVY);
      expect(refused).to.include({ allowed: false, remaining: 0 });
      expect(refused.retryAfterMs).to.be.within(1, 201);
    });

    it('refills at the rate, and a refusal costs nothing', async () => {
      const key = freshKey();
      await admitted(key, HEAVY, 60);
      await under.passMs(1000);
      expect(await admitted(key, HEAVY, 40)).to.be.within(5, 5 + drift(HEAVY));
      await under.passMs(400);
      expect(await admitted(key, HEAVY, 40)).to.be.within(2, 2 + drift(HEAVY));
    });

    it('keeps keys apart', async () => {
      const [one, other] = [freshKey(), freshKey()];
      await admitted(one, HEAVY, 40);
      expect((await under.limiter.take(other, HEAVY)).remaining).to.equal(19);
    });

    it('takes a bucket of one token, and one whose rate is above its burst', async () => {
      expect(await admitted(freshKey(), { rate_per_second: 1, burst: 1 }, 5)).to.equal(1);
      const quick = { rate_per_second: 10_000, burst: 1 };
      expect((await under.limiter.take(freshKey(), quick)).allowed).to.equal(true);
    });

    it('admits exactly the burst to many callers at once', async () => {
      const key = freshKey();
      const decisions = await Promise.all(Array.from({ length: 100 }, () => under.limiter.take(key, HEAVY)));
      expect(decisions.filter(({ allowed }) => allowed).length).to.be.within(20, 20 + drift(HEAVY));
    });
  });
};

/** A bucket of tokens counted one by one: slow, plain, and what the limiters must agree with. */
const modelOf = ({ rate_per_second, burst }: Bucket) => {
  let tokens = burst;
  return {
    pass: (ms: number) => {
      tokens = Math.min(burst, tokens + (ms * rate_per_second) / 1000);
    },
    take: (): boolean => {
      if (tokens < 1 - 1e-6) return false;
      tokens -= 1;
      return true;
    },
  };
};

/** Any sequence of calls and pauses is decided as a counted bucket would. Needs a clock without drift. */
export const rateLimiterAgreesWithModel = (
  name: string,
  open: () => { readonly limiter: RateLimiter; readonly passMs: (ms: number) => void },
): void => {
  it(`${name} agrees with a counted bucket`, async () => {
    const bucket = fc.record({
      rate_per_second: fc.constantFrom(1, 2, 4, 5, 8, 10, 20, 50, 100),
      burst: fc.integer({ min: 1, max: 30 }),
    });
    const steps = fc.array(
      fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 4000 })),
      { maxLength: 120 },
    );
    await fc.assert(
      fc.asyncProperty(bucket, steps, async (of, pauses) => {
        const { limiter, passMs } = open();
        const model = modelOf(of);
        for (const ms of pauses) {
          passMs(ms);
          model.pass(ms);
          expect((await limiter.take('key', of)).allowed).to.equal(model.take());
        }
      }),
      { seed: 20_260_301, numRuns: 300 },
    );
  });
};
