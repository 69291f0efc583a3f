import type { Registry } from 'prom-client';
import { metersOn } from './meters.ts';

const LOOP_EVERY_MS = 50;

/**
 * How late the main thread comes to a timer: what every caller waits beyond their own work. Held it is by our
 * code, by a collection of garbage, or by a machine that is busy with others. Gives the way to stop it.
 */
export const watchLoopDelay = (register: Registry): (() => void) => {
  const delay = metersOn(register).histogram(
    'quire_event_loop_delay_seconds',
    'How late the main thread runs a timer of 50 ms. Above 0.2 s something blocks the thread.',
    { buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 5, 30] },
  );
  let due = performance.now() + LOOP_EVERY_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    delay.observe(Math.max(0, now - due) / 1000);
    due = now + LOOP_EVERY_MS;
  }, LOOP_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
};
