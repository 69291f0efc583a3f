import { readFile, stat } from 'node:fs/promises';
import type { Command } from 'commander';
import type { FxDay } from '../../domain/fxRates/rates.ts';
import { daysOfEcbFile, ECB_FILE_BYTES_MAX, runOperation } from '../composition/parts/operatorParts.ts';
import { configFrom } from '../config.ts';
import type { ImportReport } from '../operator/importRates.ts';
import { OperatorError } from '../operator/protocol.ts';
import { json, runCommand, type Output } from './output.ts';

interface ImportOptions {
  readonly supersede?: boolean;
  readonly json?: boolean;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const daysIn = async (file: string): Promise<readonly FxDay[]> => {
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true) throw new OperatorError(`${file}: there is no such file.`, 2);
  if (found.size > ECB_FILE_BYTES_MAX) throw new OperatorError(`${file}: larger than 64 MiB.`);
  const bytes = await readFile(file);
  try {
    return daysOfEcbFile(bytes);
  } catch (error) {
    throw new OperatorError(`${file}: not a reference-rate file of the ECB: ${messageOf(error)}.`);
  }
};

const reportText = (file: string, report: ImportReport): string =>
  `${file}: ${String(report.days)} days from ${report.first ?? '-'} to ${report.last ?? '-'}: ` +
  `${String(report.added)} new, ${String(report.unchanged)} unchanged, ${String(report.superseded)} superseded\n`;

const importFile = async (
  file: string,
  { supersede = false, signal }: { readonly supersede?: boolean | undefined; readonly signal: AbortSignal },
): Promise<ImportReport> => {
  const input = { days: await daysIn(file), source: 'ecb', supersede };
  let report: ImportReport | undefined;
  const send = (item: unknown): Promise<void> => {
    report = item as ImportReport;
    return Promise.resolve();
  };
  await runOperation(configFrom(), { name: 'fx.import', input }, { send, signal });
  if (report === undefined) throw new OperatorError(`${file}: the import did not finish; run it again.`);
  return report;
};

const importFiles = async (
  files: readonly string[],
  options: ImportOptions & { readonly signal: AbortSignal },
  { out }: Output,
): Promise<void> => {
  const { supersede, signal } = options;
  for (const file of files) {
    const report = await importFile(file, { supersede, signal });
    await out(options.json === true ? json({ file, ...report }) : reportText(file, report));
  }
};

/** `quire fx …`. */
export const addFx = (program: Command): void => {
  program
    .command('fx')
    .description('exchange rates')
    .command('import')
    .argument('<file...>', 'XML, CSV, or a zip of one, as the ECB publishes them')
    .description("import the ECB's euro reference rates: daily, last 90 days or the whole history")
    .option('--supersede', 'publish rates that differ from the known ones as corrections')
    .option('--json', 'print a line of JSON for each file')
    .addHelpText(
      'after',
      '\nDays that are known are passed over, so a file can be imported again.\nA rate that is ' +
        'known otherwise is a conflict, and then nothing of that file is imported.',
    )
    .action((files: string[], options: ImportOptions) =>
      runCommand((signal, output) => importFiles(files, { ...options, signal }, output)),
    );
};
