import { expect } from 'chai';
import fc from 'fast-check';
import type { Bucket, RateLimiter } from '../../domain/ports/services.ts';

/** A limiter and its time, which `passMs` waits for or moves. */
export interface LimiterUnderTest {
  readonly limiter: RateLimiter;
  readonly passMs: (ms: number) => Promise<void>;
  /** Whether its time also runs on by itself, as long as an example takes. */
  readonly drifts: boolean;
}

const HEAVY: Bucket = { rate_per_second: 5, burst: 20 };

let keys = 0;
const freshKey = (): string => `spec:${String(process.pid)}:${String(Date.now())}:${String((keys += 1))}`;

/** What every rate limiter does, whatever its buckets are kept in. */
export const rateLimiterContract = (name: string, open: () => Promise<LimiterUnderTest>): void => {
  describe(`rate limiter: ${name}`, () => {
    let under: LimiterUnderTest;
    let since = 0;
    before(async () => {
      under = await open();
    });
    beforeEach(() => {
      since = performance.now();
    });
    after(async () => {
      await under.limiter.close();
    });

    const admitted = async (key: string, bucket: Bucket, calls: number): Promise<number> => {
      let count = 0;
      for (let n = 0; n < calls; n += 1) if ((await under.limiter.take(key, bucket)).allowed) count += 1;
      return count;
    };
    /** Tokens that may have dripped in since the example began, or since it was asked last. */
    const drift = ({ rate_per_second }: Bucket, passedMs = 0): number => {
      const ms = performance.now() - since - passedMs;
      since = performance.now();
      return under.drifts ? Math.ceil((ms / 1000) * rate_per_second) : 0;
    };

    it('admits the burst of a full bucket at once, and no more', async () => {
      const count = await admitted(freshKey(), HEAVY, 40);
      expect(count).to.be.within(20, 20 + drift(HEAVY));
    });

    it('counts down, and says when the bucket is full again', async () => {
      const key = freshKey();
      const first = await under.limiter.take(key, HEAVY);
      expect(first).to.include({ allowed: true, remaining: 19, retryAfterMs: 0 });
      expect(first.resetMs).to.be.within(199, 201);
      const { remaining } = await under.limiter.take(key, HEAVY);
      expect(remaining).to.be.within(18, 18 + drift(HEAVY));
    });

    it('says how long until the next token when it refuses', async () => {
      const key = freshKey();
      let refused = await under.limiter.take(key, HEAVY);
      while (refused.allowed) refused = await under.limiter.take(key, HEAVY);
      expect(refused).to.include({ allowed: false, remaining: 0 });
      expect(refused.retryAfterMs).to.be.within(1, 201);
    });

    it('refills at the rate, and a refusal costs nothing', async () => {
      const key = freshKey();
      await admitted(key, HEAVY, 60);
      for (const [ms, tokens] of [
        [1000, 5],
        [400, 2],
      ] as const) {
        since = performance.now();
        await under.passMs(ms);
        const count = await admitted(key, HEAVY, 40);
        expect(count).to.be.within(tokens, tokens + drift(HEAVY, under.drifts ? ms : 0));
      }
    });

    it('keeps keys apart', async () => {
      const [one, other] = [freshKey(), freshKey()];
      await admitted(one, HEAVY, 40);
      expect((await under.limiter.take(other, HEAVY)).remaining).to.equal(19);
    });

    it('takes a bucket of one token, and one whose rate is above its burst', async () => {
      const single = { rate_per_second: 1, burst: 1 };
      const count = await admitted(freshKey(), single, 5);
      expect(count).to.be.within(1, 1 + drift(single));
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
