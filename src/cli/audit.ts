import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { InvalidArgumentError, type Command } from 'commander';
import { balancesAt } from '../audit/money/balancesAt.ts';
import { balancesText, reportText } from '../audit/reportText.ts';
import { runAudit, type AuditReport } from '../audit/runAudit.ts';
import { parseSeals, sealOf, UnreadableSeal, type GivenSeal } from '../audit/seals/seal.ts';
import type { ReadModelSnapshot } from '../audit/readModels/snapshot.ts';
import {
  openAuditedLog,
  timeNow,
  withReadModels,
  type AuditedFeed,
} from '../composition/parts/auditParts.ts';
import { findSeals, type FoundSeals } from '../composition/parts/sealParts.ts';
import { configFrom, type Config } from '../config.ts';
import { DataDirInUse } from '../../domain/ports/dataFolder.ts';
import { isForOperator } from '../operator/forOperator.ts';

interface AuditOptions {
  readonly logOnly?: boolean;
  readonly asOf?: string;
  readonly tenant?: string;
  readonly seal?: string;
  readonly checkSeal?: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

const FOUND = 1;
const WRONG_USAGE = 2;

/** A UTC day means its end. */
const moment = (text: string): string => {
  const time = Date.parse(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T23:59:59.999Z` : text);
  if (Number.isNaN(time)) throw new InvalidArgumentError('Give a day like 2026-01-31, or an RFC 3339 time.');
  return new Date(time).toISOString();
};

const print = async (text: string): Promise<void> => {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
};

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** A line on stderr every few seconds. */
const progress = () => {
  const began = performance.now();
  let last = began;
  return (events: number): void => {
    const now = performance.now();
    if (now - last < 5_000) return;
    last = now;
    const pace = Math.round((events / (now - began)) * 1000);
    process.stderr.write(`${events.toLocaleString('en-US')} events, ${pace.toLocaleString('en-US')}/s\n`);
  };
};

const sealsIn = async (file: string | undefined): Promise<readonly GivenSeal[]> => {
  if (file === undefined) return [];
  const text = await readFile(file, 'utf8').catch(() => {
    throw new UnreadableSeal(`${file}: there is no such file.`);
  });
  return parseSeals(text).map((seal) => ({ seal, from: file }));
};

const audit = async (
  { feed, dense, found }: AuditedFeed & { readonly found: FoundSeals },
  options: AuditOptions,
  snapshot: ReadModelSnapshot | undefined,
): Promise<AuditReport> => {
  const seals = [...found.seals, ...(await sealsIn(options.checkSeal))];
  const { flaws: sealFlaws, notes } = found;
  const keep = options.all === true ? { keep: Infinity } : {};
  const { report, log } = await runAudit({
    ...{ feed, dense, snapshot, seals, sealFlaws, notes },
    onProgress: progress(),
    ...keep,
  });
  if (options.seal !== undefined) await writeFile(options.seal, json(sealOf(log, timeNow())));
  return report;
};

const runChecks = async (config: Config, opened: AuditedFeed, options: AuditOptions): Promise<void> => {
  const log = { ...opened, found: await findSeals(config, opened.feed, timeNow()) };
  const report =
    options.logOnly === true
      ? await audit(log, options, undefined)
      : await withReadModels(config, (snapshot) => audit(log, options, snapshot));
  await print(options.json === true ? json(report) : reportText(report));
  process.exitCode = report.total === 0 ? 0 : FOUND;
};

const showBalances = async ({ feed }: AuditedFeed, at: string, options: AuditOptions): Promise<void> => {
  const balances = await balancesAt(feed, { at, tenant: options.tenant });
  await print(options.json === true ? json({ as_of: at, balances }) : balancesText(balances));
};

const tell = (error: unknown): void => {
  const hint =
    error instanceof DataDirInUse ? ' With --log-only the log alone is audited, beside the service.' : '';
  process.stderr.write(
    isForOperator(error) ? `${error.message}${hint}\n` : `The audit did not finish: ${String(error)}\n`,
  );
  process.exitCode = WRONG_USAGE;
};

/** Options that say nothing together; undefined where they do. */
const contradictionIn = ({ asOf, tenant, seal, checkSeal }: AuditOptions): string | undefined => {
  if (asOf === undefined && tenant !== undefined) return '--tenant goes with --as-of.';
  if (asOf !== undefined && (seal ?? checkSeal) !== undefined) return '--as-of goes with no seal.';
  return undefined;
};

const run = async (options: AuditOptions): Promise<void> => {
  const contradiction = contradictionIn(options);
  if (contradiction !== undefined) {
    process.stderr.write(`${contradiction}\n`);
    process.exitCode = WRONG_USAGE;
    return;
  }
  try {
    const config = configFrom();
    const log = await openAuditedLog(config);
    try {
      if (options.asOf === undefined) await runChecks(config, log, options);
      else await showBalances(log, options.asOf, options);
    } finally {
      await log.close();
    }
  } catch (error) {
    tell(error);
  }
};

/** `quire audit`. */
export const addAudit = (program: Command): void => {
  program
    .command('audit')
    .description('check the event log, and the read models against it')
    .option('--log-only', 'leave the read models out')
    .option('--as-of <time>', 'print balances at a moment instead: a UTC day or an RFC 3339 time', moment)
    .option('--tenant <id>', 'with --as-of: of this tenant only')
    .option('--seal <file>', 'write a seal of the log, to be kept elsewhere')
    .option('--check-seal <file>', 'verify that all sealed events are still there')
    .option('--all', 'show every finding, not only the first of each check')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit codes: 0 nothing is wrong, 1 something is, 2 the audit could not be made.')
    .action((options: AuditOptions) => run(options));
};
