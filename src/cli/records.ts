import { appendFile, readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { providerNamed, PROVIDERS } from '@quire/engine/ports/modelProvider';
import { EVENT_CATALOGUE, EVENT_TYPES, isKnownType } from '../../domain/catalogue.ts';
import { folderKey, vaultOf, withLogReader } from '../parts/stores.ts';
import { configFrom } from '../config.ts';
import {
  type EventFilter,
  exportedEvents,
  REPLAY_HEADER,
  replayedStream,
  replayRow,
} from '../operator/log.ts';
import { OperatorError } from '../clientConfig.ts';
import { exportTenant } from '../operator/tenantExport.ts';
import { objectsToRead } from '../parts/parts.ts';
import {
  answerOf,
  type AsJson,
  ask,
  command,
  daysGiven,
  instantGiven,
  json,
  momentOption,
  type Output,
  table,
} from './terminal.ts';
import { messageOf } from '../../domain/kernel/json.ts';
import type { FxDay } from '../../domain/fxRates.ts';
import { daysOfEcbFile, ECB_FILE_BYTES_MAX, packagedPrices } from '../operator/runOperation.ts';
import type { ImportReport } from '../commands/importRates.ts';
import type { PriceChange, PriceImportReport, SealInput } from '../operator/records.ts';
import { OCR_PRICES_AS_OF, pricesOfLiteLlm } from '../../domain/priceTables.ts';
import { distinctRows, type TablePrice } from '../../domain/modelPrices.ts';
import type { SealEvent } from '../../domain/finding.ts';

const wholePosition = (text: string): bigint => {
  if (!/^\d{1,19}$/.test(text)) throw new InvalidArgumentError('Give a whole number.');
  return BigInt(text);
};

const CATEGORIES = Object.keys(EVENT_CATALOGUE);

const knownCategory = (name: string): string => {
  if (!CATEGORIES.includes(name)) throw new InvalidArgumentError(`There is none: ${CATEGORIES.join(', ')}.`);
  return name;
};

/** Types that have what was given in their name, in capitals or not. */
const like = (name: string): readonly string[] =>
  EVENT_TYPES.filter((type) => type.toLowerCase().includes(name.toLowerCase()));

const knownType = (name: string): string => {
  if (isKnownType(name)) return name;
  const others = like(name);
  throw new InvalidArgumentError(
    others.length === 0
      ? 'There is none; all are in docs/reference/events.md.'
      : `There is none. Do you mean ${others.join(', ')}?`,
  );
};

const exportEvents = ({ out, signal }: Output, filter: EventFilter): Promise<void> =>
  withLogReader(configFrom(), async (log) => {
    for await (const event of exportedEvents(log, filter, signal)) await out(json(event));
  });

const replay = ({ out }: Output, stream: string, { json: asJson = false }: AsJson): Promise<void> =>
  withLogReader(configFrom(), async (log) => {
    const rows: (readonly string[])[] = [];
    let count = 0;
    for await (const step of replayedStream(log, stream)) {
      count += 1;
      if (asJson) await out(json(step));
      else rows.push(replayRow(step));
    }
    if (count === 0)
      throw new OperatorError(`There is no stream ${stream}. An account's is named account-<tenant>.`);
    if (!asJson) await out(table(REPLAY_HEADER, rows));
  });

/** `quire events …`: reads the log beside a running service. */
export const addEvents = (program: Command): void => {
  const group = program.command('events').description('read the event log, also while the service runs');
  group
    .command('export')
    .description('print events as NDJSON, oldest first: data, metadata and hash, one event a line')
    .option('--stream <name>', 'only of this stream')
    .option('--category <name>', 'only of streams of this kind (account, priceList, …)', knownCategory)
    .option('--tenant <id>', 'only of this tenant')
    .option('--type <name>', 'only of this type (CreditsBurned, …)', knownType)
    .option(
      '--from <time>',
      'recorded at or after: a UTC day or an RFC 3339 time',
      momentOption('00:00:00.000'),
    )
    .option(
      '--to <time>',
      'recorded at or before: a UTC day or an RFC 3339 time',
      momentOption('23:59:59.999'),
    )
    .option('--after-position <number>', 'only events after this position', wholePosition)
    .action(command(exportEvents));
  group
    .command('replay')
    .argument('<stream>', 'for example account-acme')
    .description('print the state of a stream after each of its events')
    .option('--json', 'print a line of JSON for each event')
    .action(command(replay));
};

interface TenantExportOptions extends AsJson {
  readonly to: string;
}

const exportOne = async (
  { out, signal }: Output,
  tenant_id: string,
  { to, json: asJson = false }: TenantExportOptions,
): Promise<void> => {
  const config = configFrom();
  const objects = await objectsToRead(config);
  const now = () => new Date().toISOString();
  const vault = vaultOf(config, { objects, folderKey: await folderKey(config) });
  const manifest = await withLogReader(config, (log) =>
    exportTenant({ log, objects, vault, now }, { tenant_id, folder: resolve(to), signal }),
  );
  const { files, ...summary } = manifest;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  await out(
    asJson
      ? json({ ...summary, files: files.length, bytes })
      : `${to}: ${String(files.length)} files of ${tenant_id}, ${String(bytes)} bytes: see manifest.json\n`,
  );
};

/** `quire tenants …`. */
export const addExport = (tenants: Command): void => {
  tenants
    .command('export')
    .argument('<id>', 'the tenant')
    .description('write everything about a tenant into a folder')
    .requiredOption('--to <folder>', 'a folder that is empty, or does not exist yet')
    .option('--json', 'print a line of JSON')
    .addHelpText(
      'after',
      '\nEvents, ledger, and files as far as they are kept: uploads, results, examples, artifacts. No keys and no ' +
        'secrets.\nIt reads the log and the objects beside a running service, and changes nothing.',
    )
    .action(command(exportOne));
};

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

/** The service's answer, item by item. */
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

const makeSeal = async (output: Output, options: SealOptions): Promise<void> => {
  const input: SealInput = { retain_days: options.retain === undefined ? null : daysGiven(options.retain) };
  const missing = 'There was no answer: check whether the log was sealed.';
  const { seal, object } = await answerOf<SealEvent['data']>(output, { name: 'log.seal', input }, missing);
  if (options.file !== undefined) await appendFile(options.file, json(seal), { flush: true });
  await output.out(json({ ...seal, object }));
};

/** A failed seal is reported, and the next one tries again; wrong usage ends it. */
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
