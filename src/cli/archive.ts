import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import type { Archived } from '../operator/archive.ts';
import { archiveMonths } from '../operator/runOperation.ts';
import { configFrom } from '../config.ts';
import { type AsJson, command, daysGiven, grouped, json, type Output, sizeText } from './terminal.ts';

interface ArchiveOptions extends AsJson {
  readonly until: string;
  readonly retain?: string;
  readonly dryRun?: boolean;
}

const dayGiven = (text: string): string => {
  if (!z.iso.date().safeParse(text).success) throw new InvalidArgumentError('Give a day, like 2025-12-31.');
  return text;
};

const madeText = ({ archived, moved_out }: Archived, dryRun: boolean): string => {
  if (archived === null)
    return moved_out === 0
      ? 'Nothing is left to archive until that day.\n'
      : 'An earlier run was cut short, and is finished now. Run the command again to archive more.\n';
  const { until, first, through, events } = archived;
  const what = `${grouped(events)} events until ${until}, positions ${first} to ${through}`;
  return dryRun
    ? `Nothing stands in the way: ${what}, would be archived. Nothing was changed.\n`
    : `Archived ${what}, in the store of objects.\n`;
};

const text = (made: Archived, dryRun: boolean): string => {
  const { moved_out, bytes_before, bytes_after, archive_bytes } = made;
  const sizes =
    moved_out === 0
      ? ''
      : `${grouped(moved_out)} events were taken out of the log's own file: ${sizeText(bytes_before)} before, ` +
        `${sizeText(bytes_after)} now; ${sizeText(archive_bytes)} in the archive.\n`;
  return `${madeText(made, dryRun)}${sizes}`;
};

const archive = async (output: Output, options: ArchiveOptions): Promise<void> => {
  const config = configFrom();
  const { until, retain, dryRun = false } = options;
  const retainDays = retain === undefined ? (config.seals?.retentionDays ?? null) : daysGiven(retain);
  const onStep = (step: string): void => {
    if (output.isTerminal) output.note(`\r${step}\u001b[K`);
  };
  const made = await archiveMonths(config, { until, retainDays, dryRun, onStep, signal: output.signal });
  if (output.isTerminal) output.note('\r\u001b[K');
  await output.out(options.json === true ? json(made) : text(made, dryRun));
};

/** `quire archive`. */
export const addArchive = (program: Command): void => {
  program
    .command('archive')
    .description('move closed, sealed months out of the embedded log, into files of the object store')
    .requiredOption(
      '--until <day>',
      'the last day to archive, the last of a closed month: 2025-12-31',
      dayGiven,
    )
    .option('--retain <days>', 'lock the files in the object store for this time, like 3653d')
    .option('--dry-run', 'say what would be archived, or what stands in the way, and change nothing')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nThe service must not run. The audit, rebuilds and all reads go on through the archive. What was cut short is' +
        '\nfinished by the next run. Without --retain the files are locked for SEAL_RETENTION_DAYS, if that is set.',
    )
    .action(command(archive));
};
