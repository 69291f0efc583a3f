import { appendFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { SealEvent } from '../../domain/seal/events.ts';
import { runOperation } from '../composition/parts/operatorParts.ts';
import { configFrom } from '../config.ts';
import { OperatorError } from '../operator/protocol.ts';
import type { SealInput } from '../operator/seal.ts';
import { json, runCommand, type Output } from './output.ts';

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

const sealOnce = async (input: SealInput, signal: AbortSignal): Promise<SealEvent['data']> => {
  let sealed: SealEvent['data'] | undefined;
  const send = (item: unknown): Promise<void> => {
    sealed = item as SealEvent['data'];
    return Promise.resolve();
  };
  await runOperation(configFrom(), { name: 'log.seal', input }, { send, signal });
  if (sealed === undefined) throw new OperatorError('There was no answer; look whether the log was sealed.');
  return sealed;
};

const makeSeal = async (options: SealOptions, signal: AbortSignal, { out }: Output): Promise<void> => {
  const retain_days = options.retain === undefined ? null : daysGiven(options.retain);
  const { seal, object } = await sealOnce({ retain_days }, signal);
  if (options.file !== undefined) await appendFile(options.file, json(seal), { flush: true });
  await out(json({ ...seal, object }));
};

/** A seal that fails is told of, and the next one tries again; wrong usage ends it. */
const sealAlways = async (
  { everyMs, ...options }: SealOptions & { readonly everyMs: number },
  signal: AbortSignal,
  output: Output,
): Promise<void> => {
  while (!signal.aborted) {
    await makeSeal(options, signal, output).catch((error: unknown) => {
      if (!(error instanceof Error) || (error instanceof OperatorError && error.exitCode === 2)) throw error;
      output.note(`No seal: ${error.message}\n`);
    });
    await pause(everyMs, undefined, { signal }).catch(() => undefined);
  }
};

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
    .action((options: SealOptions) =>
      runCommand((signal, output) => {
        if (options.every === undefined) return makeSeal(options, signal, output);
        return sealAlways({ ...options, everyMs: durationGiven('--every', options.every) }, signal, output);
      }),
    );
};
