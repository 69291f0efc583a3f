import { once } from 'node:events';
import { ownRedactor } from '../config.ts';
import { jsonLine } from '../operator/protocol.ts';
import { paintOn, type Paint } from './colour.ts';
import { EXIT } from './exitCodes.ts';
import { failedCommand } from './failedCommand.ts';

/** Where a command writes: data to `out`, everything else to `note`. */
export interface Output {
  readonly out: (text: string) => Promise<void>;
  readonly note: (text: string) => void;
  readonly isTerminal: boolean;
  /** Colours of what goes to `out`; none where that is no terminal. */
  readonly paint: Paint;
  /** Aborts at the first Ctrl-C. */
  readonly signal: AbortSignal;
}

const standardOutput = (signal: AbortSignal): Output => ({
  signal,
  out: async (text) => {
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  },
  note: (text) => void process.stderr.write(text),
  isTerminal: process.stderr.isTTY,
  paint: paintOn(process.stdout),
});

export const json = jsonLine;

/** A number as a person reads it: 12,345. */
export const grouped = (n: number): string => n.toLocaleString('en-US');

/** Options of most commands. */
export interface AsJson {
  readonly json?: boolean;
}

/** Columns of text, as wide as what is in them. */
export const table = (header: readonly string[], rows: readonly (readonly string[])[]): string => {
  const lines = [header, ...rows];
  const widths = header.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
};

const report = (error: unknown): number => {
  const { exitCode, text } = failedCommand(error);
  if (text !== '') process.stderr.write(paintOn(process.stderr)('bad', ownRedactor()(text)));
  return exitCode;
};

/** Until all that was written has left the process: what a slow reader has not taken yet is lost at its end. */
const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    stream.write('', () => resolve());
  });

/**
 * A command as the command line calls it: it runs to its end and ends the process: 0 done, 1 failed, 2 wrong
 * usage, 130 stopped by Ctrl-C. The first Ctrl-C aborts `signal`, a second one ends the process at once. A
 * reader of stdout that is slow gets everything.
 */
export const command =
  <Args extends readonly unknown[]>(work: (output: Output, ...args: Args) => Promise<void>) =>
  async (...args: Args): Promise<void> => {
    const stopping = new AbortController();
    const stop = (): void => {
      if (stopping.signal.aborted) process.exit(EXIT.stopped);
      stopping.abort();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
    try {
      await work(standardOutput(stopping.signal), ...args);
      process.exitCode = stopping.signal.aborted ? EXIT.stopped : EXIT.done;
    } catch (error) {
      process.exitCode = stopping.signal.aborted ? EXIT.stopped : report(error);
    }
    await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
    process.exit();
  };
