import type { WriteStream } from 'node:tty';
import { once, setMaxListeners } from 'node:events';
import { InvalidArgumentError } from 'commander';
import { runOperation } from '../operator/runOperation.ts';
import { configFrom, ownRedactor } from '../config.ts';
import { isForOperator, itemsOf, jsonLine } from '../operator/socket.ts';
import { OperatorError } from '../clientConfig.ts';
import { messageOf } from '../../domain/kernel/json.ts';

/** A request to the service, or done here if none runs. */
interface Asked {
  readonly name: string;
  readonly input: unknown;
}

/** Hands each item that an operation sends to `send`. */
export const ask = (
  { signal }: Output,
  asked: Asked,
  send: (item: unknown) => Promise<void>,
): Promise<void> => runOperation(configFrom(), asked, { send, signal });

/** All items that an operation sends. */
export const answersOf = <Item>(output: Output, asked: Asked): Promise<readonly Item[]> =>
  itemsOf<Item>((send) => ask(output, asked, send));

/** The only item that an operation sends. Throws OperatorError with `missing` if there is none. */
export const answerOf = async <Item>(
  output: Output,
  asked: Asked,
  missing = 'There was no answer: check whether it was done.',
): Promise<Item> => {
  const [answer] = await answersOf<Item>(output, asked);
  if (answer === undefined) throw new OperatorError(missing);
  return answer;
};

/** The kind of a text, which decides its colour. */
export type Tone = 'heading' | 'good' | 'warning' | 'bad';

export type Paint = (tone: Tone, text: string) => string;

/** SGR codes: the first begins, the second ends. */
const CODES: Readonly<Record<Tone, readonly [number, number]>> = {
  heading: [1, 22],
  good: [32, 39],
  warning: [33, 39],
  bad: [31, 39],
};

const plain: Paint = (_, text) => text;

const coloured: Paint = (tone, text) => {
  const [begin, end] = CODES[tone];
  return `\u001b[${String(begin)}m${text}\u001b[${String(end)}m`;
};

export const NO_COLOUR = '--no-color';

/** Colours on a terminal that has them, unless NO_COLOR is set, TERM is `dumb`, or `--no-color` is given. */
export const paintOn = (
  stream: Pick<WriteStream, 'isTTY' | 'hasColors'>,
  args: readonly string[] = process.argv,
): Paint => (stream.isTTY && stream.hasColors() && !args.includes(NO_COLOUR) ? coloured : plain);

/** How a command ends. */
export const EXIT = { done: 0, failed: 1, wrongUsage: 2, stopped: 130 } as const;

/** What each exit code means, in all commands and in those that say more by it. */
export const EXIT_MEANINGS: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT.done, 'done; `audit` and `doctor`: nothing is wrong, or there are only warnings'],
  [
    EXIT.failed,
    'it failed, for some of several documents too; `audit` and `doctor`: something is wrong; ' +
      '`payments compare`: there are differences',
  ],
  [EXIT.wrongUsage, 'wrong usage, and nothing was done; `audit`, `payments compare`: it could not be made'],
  [EXIT.stopped, 'stopped by Ctrl-C or SIGTERM'],
];

/** How a command that failed ends, and what it prints. */
interface FailedCommand {
  readonly exitCode: 1 | 2;
  readonly text: string;
}

/** The message of an error, without the class names that wrappers put before it. */
export const saidBy = (error: unknown): string => {
  const text = error instanceof Error && error.message === '' ? error.name : messageOf(error);
  const parts = text.split(': ');
  return parts.filter((part, at) => at === parts.length - 1 || !/^[A-Za-z]*Error$/.test(part)).join(': ');
};

/** The lines of a stack below what it says. */
const placeOf = (error: unknown): string => {
  const { stack = '' } = error instanceof Error ? error : {};
  const at = stack.indexOf('\n    at ');
  return at === -1 ? '' : stack.slice(at);
};

/** Errors that an operator can mend have their own message, all others the place in the code. */
export const failedCommand = (error: unknown): FailedCommand => {
  if (isForOperator(error))
    return {
      exitCode: error instanceof OperatorError ? error.exitCode : EXIT.failed,
      text: error.message === '' ? '' : `${error.message}\n`,
    };
  return { exitCode: EXIT.failed, text: `Something broke: ${saidBy(error)}${placeOf(error)}\n` };
};

const DAY_MS = 86_400_000;
const DAYS = /^([1-9]\d{0,4})d$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/**
 * A time as RFC 3339 UTC with milliseconds, of a date (its start, UTC), an RFC 3339 time, or `90d`, so many
 * days from `nowMs`. Throws OperatorError that names `option`.
 */
export const instantGiven = (option: string, text: string, nowMs = Date.now()): string => {
  const days = DAYS.exec(text)?.[1];
  if (days !== undefined) return new Date(nowMs + Number(days) * DAY_MS).toISOString();
  const at = INSTANT.test(text) ? Date.parse(text) : NaN;
  // A day that a month does not have is taken for one of the next.
  const isDay = !Number.isNaN(at) && !Number.isNaN(Date.parse(`${text.slice(0, 10)}T00:00:00Z`));
  if (!isDay || new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().slice(0, 10) !== text.slice(0, 10))
    throw new OperatorError(
      `${option}: ${text} is no time. Give a date (2027-01-31), a time (2027-01-31T12:00:00Z) or days from now (90d).`,
      2,
    );
  return new Date(at).toISOString();
};

/** The value of an option that takes an RFC 3339 time or a UTC day, of which it means the time `ofDay`. */
export const momentOption =
  (ofDay: string) =>
  (text: string): string => {
    const time = Date.parse(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T${ofDay}Z` : text);
    if (Number.isNaN(time))
      throw new InvalidArgumentError('Give a day like 2026-01-31, or an RFC 3339 time.');
    return new Date(time).toISOString();
  };

const PORT_MAX = 65_535;

/** The value of an option that takes a port; 0 means any free one. */
export const portGiven = (text: string): number => {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > PORT_MAX) throw new InvalidArgumentError('Give a port, 0 to 65535.');
  return port;
};

/** Where a command writes: data to `out`, everything else to `note`. */
export interface Output {
  readonly out: (text: string) => Promise<void>;
  readonly note: (text: string) => void;
  readonly isTerminal: boolean;
  /** Colours for `out`; none if that is not a terminal. */
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
    // Every document that waits listens, and Node takes more than ten listeners for a leak.
    setMaxListeners(0, stopping.signal);
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

/** How far a rebuild is. Positions may arrive as text. */
interface Progress {
  readonly eventsDone: number;
  readonly eventsPerSecond: number;
  readonly secondsLeft: number | null;
  /** 0 to 1. */
  readonly share: number;
}

const BAR = 24;
const LINE_EVERY_MS = 5_000;

/** `1 h 05 min`, `3 min 20 s`, `12 s`. */
export const durationText = (seconds: number): string => {
  const whole = Math.max(0, Math.ceil(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  if (hours > 0) return `${String(hours)} h ${String(minutes).padStart(2, '0')} min`;
  return minutes > 0 ? `${String(minutes)} min ${String(rest).padStart(2, '0')} s` : `${String(rest)} s`;
};

/** One line: share, events, pace, time left. */
export const progressText = ({ eventsDone, eventsPerSecond, secondsLeft, share }: Progress): string => {
  const left = secondsLeft === null ? '' : `, ${durationText(secondsLeft)} left`;
  return (
    `${String(Math.floor(share * 100))} %, ${grouped(Math.round(eventsDone))} ` +
    `events, ${grouped(Math.round(eventsPerSecond))}/s${left}`
  );
};

/** `share` from 0 to 1. */
export const bar = (share: number): string => {
  const full = Math.round(share * BAR);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR - full)}]`;
};

/** Shows progress: a bar in place on a terminal, a line every few seconds elsewhere. */
export const progressShown = (
  { note, isTerminal }: Pick<Output, 'note' | 'isTerminal'>,
  nowMs: () => number = () => performance.now(),
) => {
  let lastLine = -Infinity;
  return {
    show: (progress: Progress): void => {
      if (isTerminal) note(`\r${bar(progress.share)} ${progressText(progress)}\u001b[K`);
      if (isTerminal || nowMs() - lastLine < LINE_EVERY_MS) return;
      lastLine = nowMs();
      note(`${progressText(progress)}\n`);
    },
    end: (): void => {
      if (isTerminal) note('\r\u001b[K');
    },
  };
};

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** A size as a person reads it. */
export const sizeText = (bytes: number): string => {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power] ?? ''}`;
};

/** Days of `400d`. Throws OperatorError. */
export const daysGiven = (text: string): number => {
  const days = Number(/^([1-9]\d{0,4})d$/.exec(text)?.[1] ?? NaN);
  if (days <= 36_500) return days;
  throw new OperatorError('--retain: give days, like 400d.', 2);
};
