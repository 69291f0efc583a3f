import { BALANCE_COLUMNS, type BalanceAt } from './accounts.ts';
import { type Finding, type Findings, findingsKept, type FindingsResult } from './findings.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import { UndecodableEvent } from '../../domain/kernel/codec.ts';
import type { EventFeed } from '../../domain/ports/log.ts';
import { auditedEvent, type AuditedEvent } from './auditedEvent.ts';
import { auditLog, type DecodedWatcher, type LogAudit, rulesCheck, type Watcher } from './auditLog.ts';
import {
  type AuditedLog,
  type ChainsWork,
  type GivenSeal,
  type LogFacts,
  sealsOf,
  type StartChains,
  type StartedChains,
} from './chains.ts';
import { everything, readThrough } from './streams.ts';
import { auditSince, type SinceSeal, type SinceWork } from './sinceSeal.ts';
import { unsealedTail, type UnsealedTail } from './unsealed.ts';
import { auditBooks } from './books.ts';
import { auditInShares, type StartShares } from './shares.ts';
import { EXPECTED_MODELS, readModelComparison, type ReadModelSnapshot } from './compareReadModels.ts';

const grouped = (n: number): string => n.toLocaleString('en-US');

const placeText = ({ stream, revision, position }: Finding): string => {
  const parts = [
    stream,
    revision === undefined ? undefined : `revision ${revision}`,
    position === undefined ? undefined : `position ${position}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? '' : `    at ${parts.join(', ')}\n`;
};

const findingText = (finding: Finding): string => {
  const { message, tenant_id, expected, found } = finding;
  const lines = [
    `  - ${message}\n`,
    placeText(finding),
    tenant_id === undefined ? '' : `    tenant ${tenant_id}\n`,
    expected === undefined ? '' : `    expected ${expected}\n`,
    found === undefined ? '' : `    found    ${found}\n`,
  ];
  return lines.join('');
};

/** What such an audit proves, and what it takes on trust. */
const sinceText = ({ made_at, position, events, earlier_events }: SinceSeal): string =>
  `audited: the ${grouped(events)} events since the seal of ${made_at} (position ${position}), and before it the ` +
  `${grouped(earlier_events)} events of streams that moved since or are named since; for all else before it, the ` +
  'seal and the full audit made before it are trusted\n\n';

const headerText = ({ facts, read_models, since }: AuditReport): string => {
  const span = facts.first_at === null ? 'empty' : `${facts.first_at} to ${facts.last_at ?? ''}`;
  const compared =
    read_models === null
      ? 'the event log alone'
      : `the event log and ${String(read_models.length)} read models`;
  const read = since === undefined ? facts.events : since.events + since.earlier_events;
  return [
    `${grouped(read)} events in ${grouped(facts.streams)} streams of ` +
      `${grouped(facts.tenants)} tenants, up to position ${facts.position ?? '-'}\n`,
    `${span}\n`,
    since === undefined ? `audited: ${compared}\n\n` : sinceText(since),
  ].join('');
};

const checksText = ({ checks, findings }: AuditReport): string =>
  checks
    .map(({ check, about, checked, findings: count }) => {
      if (count === 0) return `✔ ${about} (${grouped(checked)})\n`;
      const shown = findings.filter((finding) => finding.check === check);
      const more = count - shown.length;
      return [
        `✘ ${about}: ${grouped(count)} found, ${grouped(checked)} checked\n`,
        ...shown.map(findingText),
        more > 0 ? `  … and ${grouped(more)} more; --all shows them\n` : '',
      ].join('');
    })
    .join('');

const unsealedText = ({ unsealed }: AuditReport): string => {
  if (unsealed === null) return '';
  const { since, position, events } = unsealed;
  const [end, many] = [position === null ? '' : ` after position ${position}`, events === 1 ? '' : 's'];
  return (
    `○ ${since === null ? 'never sealed' : `not sealed since ${since}`}: ` +
    `${grouped(events)} event${many}${end} could be rewritten or cut off, and no audit would tell\n`
  );
};

/** The report of an audit, to be read by a person. */
export const reportText = (report: AuditReport): string => {
  const notes = report.notes.map((note) => `· ${note}\n`).join('');
  const verdict = report.total === 0 ? 'Nothing is wrong.\n' : `${grouped(report.total)} things are wrong.\n`;
  const made = `${headerText(report)}${checksText(report)}${unsealedText(report)}`;
  return `${made}${notes === '' ? '' : `\n${notes}`}\n${verdict}`;
};

const TEXT_COLUMNS = 2;

/** Balances at a moment as a table. */
export const balancesText = (balances: readonly BalanceAt[]): string => {
  const columns = Object.keys(BALANCE_COLUMNS) as (keyof BalanceAt)[];
  const titles: readonly string[] = Object.values(BALANCE_COLUMNS);
  const lines = [titles, ...balances.map((row) => columns.map((column) => row[column] ?? '-'))];
  const widths = titles.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const cell = (text: string, at: number) =>
    at < TEXT_COLUMNS ? text.padEnd(widths[at] ?? 0) : text.padStart(widths[at] ?? 0);
  return lines.map((line) => `${line.map(cell).join('  ').trimEnd()}\n`).join('');
};

/** Compares objects with what the log says of them: it sees every event, and looks at the objects afterwards. */
export interface ObjectsCheck {
  readonly watchers: readonly Watcher[];
  readonly finish: (findings: Findings) => Promise<void>;
}

export interface AuditRequest extends Omit<LogAudit, 'findings' | 'watchers'> {
  /** The read models to compare; none: the log alone is audited. */
  readonly snapshot?: ReadModelSnapshot | undefined;
  /** Left out: objects are not looked at. */
  readonly objects?: ObjectsCheck | undefined;
  /** All seals, wherever they were found. */
  readonly seals?: readonly GivenSeal[];
  /** Flaws of the seals themselves, and seals that could not be read. */
  readonly sealFlaws?: readonly string[];
  /** What is wrong with the files of the log's archive, and how many were looked at; left out: it has none. */
  readonly archive?: { readonly files: number; readonly flaws: readonly string[] } | undefined;
  readonly notes?: readonly string[];
  /** Gives the chains a thread of their own; without it one thread reads the log, and knows the heads of streams. */
  readonly startChains?: StartChains | undefined;
  /** Audits the log by shares of its tenants, as long as nothing is wrong with it, and no read model is compared. */
  readonly startShares?: StartShares | undefined;
  /** Findings kept of each check; all are counted. */
  readonly keep?: number;
}

/** The result of an audit. */
export interface AuditReport extends FindingsResult {
  readonly facts: LogFacts;
  /** All findings, also those that were not kept. */
  readonly total: number;
  /** What no seal covers; null where everything is sealed. It is nothing wrong: `total` does not count it. */
  readonly unsealed: UnsealedTail | null;
  readonly read_models: { readonly name: string; readonly position: string | null }[] | null;
  /** Only of an audit that began at a seal. */
  readonly since?: SinceSeal;
}

const KEEP = 20;

/** Reads the log again; what cannot be read was reported the first time. */
const replayed = async (
  feed: Pick<EventFeed, 'subscribe'>,
  see: (event: AuditedEvent) => void,
): Promise<void> => {
  for await (const recorded of everything(feed)) {
    try {
      see(auditedEvent(recorded, decodeAny(recorded)));
    } catch (error) {
      if (!(error instanceof UndecodableEvent) && !(error instanceof SyntaxError)) throw error;
    }
  }
};

const comparisonFor = ({ feed, snapshot }: AuditRequest, findings: Findings) =>
  snapshot === undefined
    ? undefined
    : readModelComparison({
        findings,
        snapshot,
        models: EXPECTED_MODELS,
        replay: (see) => replayed(feed, see),
      });

const comparedIn = (snapshot: ReadModelSnapshot | undefined): AuditReport['read_models'] =>
  snapshot?.models.map(({ name, position }) => ({ name, position: position?.toString() ?? null })) ?? null;

/** Looks at the log in one thread. */
const together = async (request: AuditRequest, findings: Findings, watchers: readonly Watcher[]) => {
  const { feed, dense, origins, onProgress, signal } = request;
  const seals = sealsOf(request, findings);
  const log = await auditLog({
    feed,
    findings,
    dense,
    origins,
    watchers: [...seals.watchers, ...watchers],
    onProgress,
    signal,
  });
  seals.finish(log);
  return log;
};

const chainsWorkOf = ({
  dense,
  origins,
  seals = [],
  sealFlaws = [],
  keep = KEEP,
}: AuditRequest): ChainsWork => ({
  dense,
  origins,
  seals,
  sealFlaws,
  keep,
});

const inTheThread = (): never => {
  throw new Error('a seal needs an audit by one thread: the heads of streams stay in that of the chains');
};

/** Looks at the log in two threads: the chains have their own. */
const apart = async (
  { feed, onProgress, signal }: AuditRequest,
  { findings, watchers }: { readonly findings: Findings; readonly watchers: readonly DecodedWatcher[] },
  { upTo, done, stop }: StartedChains,
): Promise<AuditedLog> => {
  const rules = rulesCheck(findings, watchers);
  try {
    const reading = readThrough({ feed, upTo, onProgress, signal }, rules.look);
    const [{ events, position }, chains] = await Promise.all([reading, done]);
    const { tenants, first_at, last_at } = rules.finish();
    if (chains.events !== events) throw new Error('the log changed while it was audited');
    findings.takeIn(chains.found);
    const { streams, digest } = chains;
    return { facts: { events, streams, tenants, position, first_at, last_at }, digest, heads: inTheThread };
  } finally {
    await stop();
  }
};

/** undefined: not by shares. */
const byShares = async (
  { snapshot, objects, startShares, sealFlaws = [], seals = [], onProgress, signal }: AuditRequest,
  findings: Findings,
): Promise<AuditedLog | undefined> =>
  startShares === undefined || (snapshot ?? objects) !== undefined || sealFlaws.length > 0
    ? undefined
    : auditInShares(startShares, { seals, findings, onProgress, signal });

const byHalves = async (
  request: AuditRequest,
  findings: Findings,
  watchers: readonly Watcher[],
): Promise<AuditedLog> => {
  const chains = await request.startChains?.(chainsWorkOf(request));
  return chains === undefined
    ? together(request, findings, watchers)
    : apart(request, { findings, watchers }, chains);
};

/** Reads the log, and then compares with it what was given to be. */
const readAndCompared = async (request: AuditRequest, findings: Findings): Promise<AuditedLog> => {
  const { objects } = request;
  const compared = comparisonFor(request, findings);
  const ofModels = compared === undefined ? [] : [compared.watcher];
  const watchers = [...ofModels, ...(objects?.watchers ?? [])];
  const log = (await byShares(request, findings)) ?? (await byHalves(request, findings, watchers));
  const { feed, origins = [], signal } = request;
  const upTo = BigInt(log.facts.position ?? 0);
  await auditBooks({ feed, findings, upTo, isCopy: origins.length > 0, signal });
  await compared?.finish(upTo);
  await objects?.finish(findings);
  return log;
};

/** Audits a log and, where given, its read models, objects and a seal. */
export const runAudit = async (
  request: AuditRequest,
): Promise<{ readonly report: AuditReport; readonly log: AuditedLog }> => {
  const { notes = [], archive } = request;
  const findings = findingsKept(request.keep ?? KEEP);
  for (const note of notes) findings.note(note);
  if (archive !== undefined && archive.files + archive.flaws.length > 0) {
    findings.checked('archive', archive.files);
    for (const message of archive.flaws) findings.add({ check: 'archive', message });
  }
  const log = await readAndCompared(request, findings);
  const unsealed = (await unsealedTail(request, log.facts)) ?? null;
  const read_models = comparedIn(request.snapshot);
  const found = { ...findings.result(), facts: log.facts, total: findings.total() };
  return { log, report: { ...found, unsealed, read_models } };
};

export interface AuditSinceRequest extends Omit<SinceWork, 'findings'> {
  readonly sealFlaws?: readonly string[];
  readonly notes?: readonly string[];
  readonly keep?: number;
}

/** Audits a log from a seal on; what it does not look at is in the report. */
export const runAuditSince = async ({
  sealFlaws = [],
  notes = [],
  keep = KEEP,
  ...work
}: AuditSinceRequest): Promise<AuditReport> => {
  const findings = findingsKept(keep);
  for (const note of notes) findings.note(note);
  for (const message of sealFlaws) findings.add({ check: 'seal', message });
  const { facts, since } = await auditSince({ ...work, findings });
  const unsealed = (await unsealedTail(work, facts)) ?? null;
  return { ...findings.result(), facts, total: findings.total(), unsealed, read_models: null, since };
};
