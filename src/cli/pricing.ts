import { readFile, stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { PROVIDERS, providerNamed } from '@quire/engine/models/modelName';
import { OCR_PRICES_AS_OF, pricesOfLiteLlm } from '../../domain/priceTables.ts';
import { distinctRows, type TablePrice } from '../../domain/modelPrices.ts';
import { packagedPrices } from '../composition/parts/operatorParts.ts';
import type { PriceChange, PriceImportReport } from '../operator/importPrices.ts';
import { OperatorError } from '../operator/protocol.ts';
import { instantGiven } from './instantGiven.ts';
import { ask } from './ask.ts';
import { command, json, table, type AsJson, type Output } from './output.ts';

interface PricingOptions extends AsJson {
  readonly provider?: readonly string[];
  readonly effectiveFrom?: string;
  readonly dryRun?: boolean;
}

const FILE_BYTES_MAX = 32 * 1024 * 1024;

const pricesIn = async (file: string): Promise<readonly TablePrice[]> => {
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true) throw new OperatorError(`${file}: there is no such file.`, 2);
  if (found.size > FILE_BYTES_MAX) throw new OperatorError(`${file}: larger than 32 MiB.`);
  let prices: readonly TablePrice[];
  try {
    prices = distinctRows(pricesOfLiteLlm(await readFile(file, 'utf8')));
  } catch {
    throw new OperatorError(`${file}: not a price table of LiteLLM (model_prices_and_context_window.json).`);
  }
  if (prices.length === 0) throw new OperatorError(`${file}: there is no price of a known provider in it.`);
  return prices;
};

const providersOf = (given: readonly string[]): ReadonlySet<string> =>
  new Set(
    given.map((name) => {
      const provider = providerNamed(name);
      if (provider === undefined)
        throw new OperatorError(
          `--provider: there is no ${name}. Choose from: ${Object.keys(PROVIDERS).join(', ')}.`,
          2,
        );
      return provider;
    }),
  );

/** What the service answers, item by item. */
interface Item {
  readonly change?: PriceChange;
  readonly progress?: { readonly done: number; readonly of: number };
  readonly report?: PriceImportReport;
}

const COLUMNS = ['', 'MODEL', 'INPUT', 'CACHED', 'OUTPUT', 'PAGE'];

const changeRow = ({ news, price }: PriceChange): readonly string[] => [
  news === 'added' ? 'new' : 'changed',
  `${price.provider}/${price.model_name}`,
  price.input_usd_per_million_tokens,
  price.cached_input_usd_per_million_tokens ?? '-',
  price.output_usd_per_million_tokens,
  price.usd_per_page ?? '-',
];

const pricesReport = (source: string, report: PriceImportReport): string => {
  const { prices, added, changed, unchanged, effective_from, dry_run } = report;
  const counts = `${String(added)} new, ${String(changed)} changed, ${String(unchanged)} unchanged`;
  const end = dry_run ? '; nothing was published' : `; in force from ${effective_from}`;
  return `${source}: ${String(prices)} prices: ${counts}${end}\n`;
};

/** What is to be published, and where it comes from. */
const wantedOf = async (file: string | undefined, options: PricingOptions) => {
  const { provider = [], effectiveFrom, dryRun: dry_run = false } = options;
  const only = providersOf(provider);
  const effective_from = effectiveFrom === undefined ? null : instantGiven('--effective-from', effectiveFrom);
  const day = (effective_from ?? new Date().toISOString()).slice(0, 10);
  const all = file === undefined ? await packagedPrices(day) : await pricesIn(file);
  const prices = only.size === 0 ? all : all.filter((price) => only.has(price.provider));
  return { prices, effective_from, dry_run };
};

const importTable = async (
  output: Output,
  file: string | undefined,
  options: PricingOptions,
): Promise<void> => {
  const { out, note } = output;
  const input = await wantedOf(file, options);
  const changes: PriceChange[] = [];
  let report: PriceImportReport | undefined;
  const send = (sent: unknown): Promise<void> => {
    const { change, progress, report: ended } = sent as Item;
    if (change !== undefined) changes.push(change);
    if (progress !== undefined) note(`${String(progress.done)} of ${String(progress.of)} published\n`);
    report = ended ?? report;
    return Promise.resolve();
  };
  await ask(output, { name: 'pricing.import', input }, send);
  if (report === undefined) throw new OperatorError('The import did not finish; run it again.');
  const source = file ?? 'the packaged table';
  if (options.json === true) return out(json({ source, ...report, ...(input.dry_run && { changes }) }));
  if (changes.length > 0) await out(table(COLUMNS, changes.map(changeRow)));
  await out(pricesReport(source, report));
};

const collect = (value: string, earlier: readonly string[] | undefined): readonly string[] => [
  ...(earlier ?? []),
  value,
];

/** `quire pricing …`. */
export const addPricing = (program: Command): void => {
  program
    .command('pricing')
    .description('prices of models')
    .command('import')
    .argument('[file]', "LiteLLM's model_prices_and_context_window.json; without it, the packaged table")
    .description('publish provider prices that differ from the known ones')
    .option('--provider <name>', 'only this provider; may be repeated', collect)
    .option('--effective-from <when>', 'when the prices begin: a date, a time (RFC 3339), or in days (7d)')
    .option('--dry-run', 'show what would be published, in US dollars a million tokens or a page')
    .option('--json', 'print a line of JSON')
    .addHelpText(
      'after',
      '\nKnown prices are skipped, so a table can be imported again. A price that differs is ' +
        'published as a new\none; calls priced before keep their price. Of prices by tier the base ' +
        'tier is used.\n' +
        `The packaged table has prices by the page of Azure Document Intelligence as of ${OCR_PRICES_AS_OF}.`,
    )
    .action(command(importTable));
};
