import { writeSync } from 'node:fs';
import { pino, type Logger } from 'pino';
import { codeOf } from '../../domain/kernel/json.ts';
import { ownRedactor, type Config } from '../config.ts';
import { REDACTED, SECRET_MEMBERS } from '../redact.ts';

/** Longer texts are written before the turn ends. */
const CHARS_MAX = 65_536;

/** Lines that wait to be written. */
interface GatheredLines {
  readonly add: (line: string) => void;
  /** Writes what was gathered. */
  readonly flush: () => void;
}

/**
 * Gathers the lines of one turn of the event loop and writes them at once: the call that writes a line costs a
 * seventh of a small request. A process that is killed loses the lines of its last turn, and no more.
 */
export const gatheredLines = (write: (text: string) => void): GatheredLines => {
  let gathered = '';
  const flush = (): void => {
    const text = gathered;
    gathered = '';
    if (text !== '') write(text);
  };
  return {
    add: (line) => {
      if (gathered === '') setImmediate(flush);
      gathered += line;
      if (gathered.length >= CHARS_MAX) flush();
    },
    flush,
  };
};

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

/** Writes something for the person who started the service, after the log's lines so far. */
export const say = (text: string): void => {
  standardOutput.add(text);
  standardOutput.flush();
};

/** Says why the service ends. */
export const complain = (text: string): void => write(2, text);

const WARN = pino.levels.values['warn'] ?? 0;

/**
 * The log on standard output: a line of JSON each. Secrets are kept out twice: by the member that would
 * carry them, and, whatever carries them, by the values that the environment has. Warnings and worse are written
 * at once, with what came before them.
 */
export const openLogger = ({ logLevel }: Pick<Config, 'logLevel'>): Logger => {
  const redact = ownRedactor();
  const options = { level: logLevel, redact: { paths: [...SECRET_MEMBERS], censor: REDACTED }, base: null };
  const { add, flush } = standardOutput;
  const destination = {
    // With this member a destination is told the level of each line.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write: (line: string): void => {
      add(redact(line));
      if (destination.lastLevel >= WARN) flush();
    },
  };
  return pino(options, destination);
};
