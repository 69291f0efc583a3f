import { appendFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { SealEvent } from '../../domain/finding.ts';
import { OperatorError } from '../operator/protocol.ts';
import type { SealInput } from '../operator/seal.ts';
import { answerOf } from './ask.ts';
import { command, json, type Output } from './output.ts';

interface SealOptions {
  readonly every?: string;
  readonly file?: string;
  readonly retain?: string;
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^([1-9]\d{0,4})([mhd])$/;

/** Milliseconds of `15m`, `1h` or `1d`. Throws OperatorError that names `option`. */
const durationGiven = (option: string, text: string): number => {
  const [, count, unit] = DURATION.exec(text) ?? [];
  const ms = Number(count) * UNITS[unit as keyof typeof UNITS];
  if (ms <= 31 * UNITS.d) return ms;
  throw new OperatorError(`${option}: give minutes, hours or days up to 31 days, like 15m, 1h or 1d.`, 2);
};

const daysGiven = (text: string): number => {
  const days = Number(/^([1-9]\d{0,4})d$/.exec(text)?.[1] ?? NaN);
  if (days <= 36_500) return days;
  throw new OperatorError('--retain: give days, like 400d.', 2);
};

const makeSeal = async (output: Output, options: SealOptions): Promise<void> => {
  const input: SealInput = { retain_days: options.retain === undefined ? null : daysGiven(options.retain) };
  const missing = 'There was no answer: check whether the log was sealed.';
  const { seal, object } = await answerOf<SealEvent['data']>(output, { name: 'log.seal', input }, missing);
  if (options.file !== undefined) await appendFile(options.file, json(seal), { flush: true });
  await output.out(json({ ...seal, object }));
};

/** A seal that fails is told of, and the next one tries again; wrong usage ends it. */
const sealAlways = async (output: Output, options: SealOptions, everyMs: number): Promise<void> => {
  const { signal } = output;
  while (!signal.aborted) {
    await makeSeal(output, options).catch((error: unknown) => {
      if (!(error instanceof Error) || (error instanceof OperatorError && error.exitCode === 2)) throw error;
      output.note(`No seal: ${error.message}\n`);
    });
    await pause(everyMs, undefined, { signal }).catch(() => undefined);
  }
};

const seal = async (output: Output, options: SealOptions): Promise<void> =>
  options.every === undefined
    ? makeSeal(output, options)
    : sealAlways(output, options, durationGiven('--every', options.every));

/** `quire seal`. */
export const addSeal = (program: Command): void => {
  program
    .command('seal')
    .description('seal the event log, so that later changes to its present events are detected')
    .option('--every <duration>', 'keep running and make a seal at this interval, like 15m, 1h or 1d')
    .option('--retain <days>', 'also lock each seal in the object store for this time, like 400d')
    .option('--file <file>', 'also add each seal to a file, as a line, to keep elsewhere')
    .addHelpText(
      'after',
      '\nA seal is an event of the stream $seals, beside a running service or without one. ' +
        '--retain needs a bucket\nwith object lock. `quire audit` checks the log against all ' +
        'seals that it finds.',
    )
    .action(command(seal));
};
