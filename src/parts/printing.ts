import { Worker } from 'node:worker_threads';
import type { Paper, Printer } from '../../domain/ports/services.ts';
import { restingThread } from './restingThread.ts';

/** Papers as PDF, made in a thread of their own: one takes some 100 ms of work with its fonts. */
export const paperPrinter = (): Printer & { readonly stop: () => Promise<void> } => {
  const { run, stop } = restingThread<Paper, Uint8Array>(
    () => new Worker(new URL('./printThread.js', import.meta.url)),
  );
  return { print: (paper) => run(paper), stop };
};
