import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { balancesAt } from '../audit/accounts.ts';
import {
  type AuditReport,
  type AuditRequest,
  balancesText,
  reportText,
  runAudit,
  runAuditSince,
} from '../audit/runAudit.ts';
import { NoSuchSeal, sealToBeginAt } from '../audit/sinceSeal.ts';
import { parseSeals, sealOf, UnreadableSeal, type GivenSeal } from '../audit/chains.ts';
import {
  auditedObjects,
  timeNow,
  withAuditedLog,
  withReadModels,
  type AuditedFeed,
} from '../operator/auditedLog.ts';
import { findSeals, type FoundSeals } from '../operator/auditedLog.ts';
import { configFrom } from '../config.ts';
import { DataDirInUse } from '../../domain/ports/services.ts';
import { type AuditInput, isForOperator } from '../operator/socket.ts';
import { OperatorError } from '../clientConfig.ts';
import { answerOf, type AsJson, command, grouped, momentOption, type Output, saidBy } from './terminal.ts';

interface AuditOptions extends AsJson {
  readonly logOnly?: boolean;
  readonly asOf?: string;
  readonly tenant?: string;
  readonly seal?: string;
  readonly checkSeal?: string;
  readonly sinceSeal?: string | true;
  readonly all?: boolean;
  readonly tell?: boolean;
}

const WRONG_USAGE = 2;

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** A line on stderr every few seconds. */
const progress = ({ note }: Output) => {
  const began = performance.now();
  let last = began;
  return (events: number): void => {
    const now = performance.now();
    if (now - last < 5_000) return;
    last = now;
    const pace = Math.round((events / (now - began)) * 1000);
    note(`${grouped(events)} events, ${grouped(pace)}/s\n`);
  };
};

const sealsIn = async (file: string | undefined): Promise<readonly GivenSeal[]> => {
  if (file === undefined) return [];
  const text = await readFile(file, 'utf8').catch(() => {
    throw new UnreadableSeal(`${file}: there is no such file.`);
  });
  return parseSeals(text).map((seal) => ({ seal, from: file }));
};

/** What the log is compared with; nothing where the log alone is audited. */
type BesideTheLog = Pick<AuditRequest, 'snapshot' | 'objects' | 'notes'>;

const audit = async (
  {
    feed,
    dense,
    startChains,
    startShares,
    checkArchive,
    found,
  }: AuditedFeed & { readonly found: FoundSeals },
  { output, options }: { readonly output: Output; readonly options: AuditOptions },
  beside: BesideTheLog = {},
): Promise<AuditReport> => {
  const { flaws: sealFlaws } = found;
  const { report, log } = await runAudit({
    feed,
    dense,
    snapshot: beside.snapshot,
    objects: beside.objects,
    origins: found.origins,
    seals: [...found.seals, ...(await sealsIn(options.checkSeal))],
    sealFlaws,
    archive: await checkArchive?.(output.signal),
    notes: [...found.notes, ...(beside.notes ?? [])],
    onProgress: progress(output),
    signal: output.signal,
    ...(options.all === true && { keep: Infinity }),
    ...(options.seal === undefined && { startChains, startShares }),
  });
  if (options.seal !== undefined) await writeFile(options.seal, json(sealOf(log, timeNow())));
  return report;
};

/** Audits the log alone, from a seal on. */
const auditSince = async (
  { feed, dense, found }: AuditedFeed & { readonly found: FoundSeals },
  { output, options }: { readonly output: Output; readonly options: AuditOptions },
): Promise<AuditReport> => {
  const { seals: kept, flaws: sealFlaws, origins, notes } = found;
  const seals = [...kept, ...(await sealsIn(options.checkSeal))];
  const until = options.sinceSeal === true ? undefined : options.sinceSeal;
  return runAuditSince({
    feed,
    dense,
    origins,
    seals,
    sealFlaws,
    notes,
    seal: sealToBeginAt({ seals, kept, dense, origins }, { until, end: await feed.end() }),
    onProgress: progress(output),
    signal: output.signal,
    ...(options.all === true && { keep: Infinity }),
  });
};

/** Prints the report, and gives it. */
const runChecks = async (
  opened: AuditedFeed,
  options: AuditOptions,
  output: Output,
): Promise<AuditReport> => {
  const config = configFrom();
  const log = { ...opened, found: await findSeals(config, opened.feed, timeNow()) };
  const told = { output, options };
  const report = await (options.sinceSeal !== undefined
    ? auditSince(log, told)
    : options.logOnly === true
      ? audit(log, told)
      : withReadModels(config, async (snapshot) =>
          audit(log, told, { snapshot, ...(await auditedObjects(config, output.signal)) }),
        ));
  await output.out(options.json === true ? json(report) : reportText(report));
  return report;
};

/** Prints balances; nothing in them is wrong. */
const showBalances = async (
  { feed }: AuditedFeed,
  options: AuditOptions,
  { out }: Output,
): Promise<undefined> => {
  const { asOf: at = '', tenant } = options;
  const balances = await balancesAt(feed, { at, tenant });
  await out(options.json === true ? json({ as_of: at, balances }) : balancesText(balances));
  return undefined;
};

/** An audit that could not be made ends by another code than one that found something. */
const notMade = (error: unknown): OperatorError => {
  const hint =
    error instanceof DataDirInUse ? ' With --log-only the log alone is audited, beside the service.' : '';
  const why =
    isForOperator(error) || error instanceof NoSuchSeal
      ? `${error.message}${hint}`
      : `The audit did not finish: ${saidBy(error)}`;
  return new OperatorError(why, WRONG_USAGE);
};

/** Options that say nothing together; undefined where they do. */
const contradictionIn = ({ asOf, tenant, seal, checkSeal, sinceSeal }: AuditOptions): string | undefined => {
  if (asOf === undefined && tenant !== undefined) return '--tenant goes with --as-of.';
  if (asOf !== undefined && (seal ?? checkSeal ?? sinceSeal) !== undefined)
    return '--as-of goes with no seal.';
  if (sinceSeal !== undefined && seal !== undefined)
    return '--seal needs an audit of the whole log, without --since-seal.';
  return undefined;
};

const made = async (output: Output, options: AuditOptions): Promise<AuditReport | undefined> => {
  const work = options.asOf === undefined ? runChecks : showBalances;
  return withAuditedLog(configFrom(), (log) => work(log, options, output));
};

/** Lets operators' webhooks get messages. The log is closed again by now: the service, or this command, writes. */
const tell = async (output: Output, { total, checks }: AuditReport): Promise<void> => {
  const found = checks.filter(({ findings }) => findings > 0).map(({ check }) => check);
  const input: AuditInput = { findings: total, checks: found };
  await answerOf(output, { name: 'findings.audit', input });
};

const run = async (output: Output, options: AuditOptions): Promise<void> => {
  const contradiction = contradictionIn(options);
  if (contradiction !== undefined) throw new OperatorError(contradiction, WRONG_USAGE);
  const report = await made(output, options).catch((error: unknown) => {
    throw notMade(error);
  });
  if (report === undefined || report.total === 0) return;
  if (options.tell === true) await tell(output, report);
  throw new OperatorError('');
};

/** `quire audit`. */
export const addAudit = (program: Command): void => {
  program
    .command('audit')
    .description('check the event log, and the read models against it')
    .option('--log-only', 'leave the read models and the objects out')
    .option(
      '--as-of <time>',
      'print balances at a moment instead: a UTC day or an RFC 3339 time',
      momentOption('23:59:59.999'),
    )
    .option('--tenant <id>', 'with --as-of: of this tenant only')
    .option('--seal <file>', 'write a seal of the log, to be kept elsewhere')
    .option('--check-seal <file>', 'verify that all sealed events are still there')
    .option(
      '--since-seal [time]',
      'audit the log alone from its last seal on, or from the last until a day or time',
      momentOption('23:59:59.999'),
    )
    .option('--all', 'show every finding, not only the first of each check')
    .option('--tell', 'write findings into the log, so that webhooks of operators are told')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit codes: 0 nothing is wrong, 1 something is, 2 the audit could not be made.')
    .action(command(run));
};
