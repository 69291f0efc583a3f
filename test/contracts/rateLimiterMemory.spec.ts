import { memoryRateLimiter } from '../../adapters/embedded/rateLimiterMemory.ts';
import { rateLimiterAgreesWithModel, rateLimiterContract } from './rateLimiter.contract.ts';

const onFakeClock = () => {
  let now = 0;
  const passMs = (ms: number) => {
    now += ms;
  };
  return { limiter: memoryRateLimiter(() => now), passMs };
};

rateLimiterContract('in process', () => {
  const { limiter, passMs } = onFakeClock();
  return Promise.resolve({ limiter, passMs: (ms) => Promise.resolve(passMs(ms)), driftMs: 0 });
});

describe('rate limiter: in process', () => {
  rateLimiterAgreesWithModel('the limiter', onFakeClock);
});
