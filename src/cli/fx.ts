import { readFile, stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { messageOf } from '../../domain/kernel/json.ts';
import type { FxDay } from '../../domain/fxRates.ts';
import { daysOfEcbFile, ECB_FILE_BYTES_MAX } from '../composition/parts/operatorParts.ts';
import type { ImportReport } from '../operator/importRates.ts';
import { OperatorError } from '../operator/protocol.ts';
import { answerOf } from './ask.ts';
import { command, json, type AsJson, type Output } from './output.ts';

interface FxOptions extends AsJson {
  readonly supersede?: boolean;
}

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

const ratesReport = (file: string, report: ImportReport): string =>
  `${file}: ${String(report.days)} days from ${report.first ?? '-'} to ${report.last ?? '-'}: ` +
  `${String(report.added)} new, ${String(report.unchanged)} unchanged, ${String(report.superseded)} superseded\n`;

const importFiles = async (
  output: Output,
  files: readonly string[],
  { supersede = false, json: asJson }: FxOptions,
): Promise<void> => {
  for (const file of files) {
    const input = { days: await daysIn(file), source: 'ecb', supersede };
    const missing = `${file}: the import did not finish; run it again.`;
    const report = await answerOf<ImportReport>(output, { name: 'fx.import', input }, missing);
    await output.out(asJson === true ? json({ file, ...report }) : ratesReport(file, report));
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
      '\nKnown days are skipped, so a file can be imported again.\n' +
        'A rate that differs from the known one is a conflict: then nothing of that file is imported.',
    )
    .action(command(importFiles));
};
