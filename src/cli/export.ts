import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { calendarMonth } from '../../domain/books.ts';
import { FORMAT_NAMES, type ExportFormat } from '../exports/exportFile.ts';
import { EXPORT_NAMES, type ExportName } from '../exports/exports.ts';
import { JOURNAL_LAYOUTS } from '../exports/journalLayouts.ts';
import { type ExportInput, writeExport } from '../operator/monthExport.ts';
import { OperatorError } from '../clientConfig.ts';
import { type AsJson, ask, command, grouped, json, type Output } from './terminal.ts';

interface ExportOptions extends AsJson {
  readonly month: readonly string[];
  readonly out: string;
  readonly format: ExportFormat;
  readonly layout: ExportInput['layout'];
}

const months = (text: string, before: readonly string[] = []): readonly string[] => {
  if (!calendarMonth.safeParse(text).success) throw new InvalidArgumentError('Give a month like 2026-11.');
  return [...before, text];
};

const exportName = (text: string): ExportName => {
  const name = EXPORT_NAMES.find((one) => one === text);
  if (name === undefined)
    throw new InvalidArgumentError(`There is none; choose from ${EXPORT_NAMES.join(', ')}.`);
  return name;
};

const exportMonths = async (
  output: Output,
  what: ExportName,
  { month: asked, out, format, layout, json: asJson }: ExportOptions,
): Promise<void> => {
  if (layout !== 'generic' && what !== 'journal')
    throw new OperatorError('--layout is for the journal only.', 2);
  if (layout !== 'generic' && format !== 'csv') throw new OperatorError('--layout comes as CSV only.', 2);
  for (const month of asked) {
    const { exported, isUnchanged } = await writeExport(
      { what, month, layout, format, folder: resolve(out) },
      (input, send) => ask(output, { name: 'projections.export', input }, send),
    );
    const { file, rows, is_closed } = exported;
    const state = is_closed ? 'closed' : 'open';
    const news = isUnchanged ? ', as before' : '';
    await output.out(
      asJson === true
        ? json({ ...exported, is_unchanged: isUnchanged })
        : `${file}: ${grouped(rows)} rows, the month is ${state}${news}\n`,
    );
  }
};

/** `quire export …`. */
export const addMonthExport = (program: Command): void => {
  program
    .command('export')
    .argument('<what>', EXPORT_NAMES.join(', '), exportName)
    .description('write the books of a month into a folder, as CSV or Parquet')
    .requiredOption('--month <month>', 'a calendar month (UTC) like 2026-11; give it again for more', months)
    .requiredOption('--out <folder>', 'where the files go, and manifest.json')
    .addOption(new Option('--format <name>', 'of the file').choices(FORMAT_NAMES).default('csv'))
    .addOption(
      new Option('--layout <name>', 'of the journal, for another program')
        .choices(['generic', ...JOURNAL_LAYOUTS])
        .default('generic'),
    )
    .option('--json', 'print a line of JSON for each file')
    .addHelpText(
      'after',
      '\njournal: double entry. payments: money that came and went. statements: what each tenant had and used. ' +
        'focus:\nuse by day, tenant, project and key, in the columns of FOCUS 1.2. Rows are by date of booking: a ' +
        'closed month\nhas the same bytes each time, an open one is written anew. manifest.json has rows, sums, ' +
        'SHA-256 and the position\nin the log of each file.',
    )
    .action(command(exportMonths));
};
