import { memoryRateLimiter } from '../../adapters/local/local.ts';
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
  const pass = (ms: number) => {
    passMs(ms);
    return Promise.resolve();
  };
  return Promise.resolve({ limiter, passMs: pass, drifts: false });
});

describe('rate limiter: in process', () => {
  rateLimiterAgreesWithModel('the limiter', onFakeClock);
});
