import { writeSync } from 'node:fs';
import { codeOf } from '../../../domain/kernel/json.ts';
import { gatheredLines } from './gatheredLines.ts';

/** Between two tries to write to a pipe that is full, ms. */
const FULL_MS = 10;

const nobody = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes all of a text before it returns, so that nothing waits in the process when that ends, however slow its
 * reader is. Where there is no reader any more the text is lost, and the service goes on.
 */
const write = (fd: 1 | 2, text: string): void => {
  for (let left = Buffer.from(text); left.length > 0;) {
    try {
      left = left.subarray(writeSync(fd, left));
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') return;
      Atomics.wait(nobody, 0, 0, FULL_MS);
    }
  }
};

/** Standard output: lines are gathered for a turn of the event loop. */
export const standardOutput = gatheredLines((text) => write(1, text));
process.once('exit', standardOutput.flush);

/** Says something to whoever started the service, after the lines of the log until now. */
export const say = (text: string): void => {
  standardOutput.add(text);
  standardOutput.flush();
};

/** Says why the service ends. */
export const complain = (text: string): void => write(2, text);
