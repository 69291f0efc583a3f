import { decodeAny } from '../../domain/catalogue.ts';
import { UndecodableEvent } from '../../domain/kernel/codec.ts';
import type { EventFeed } from '../../domain/ports/log.ts';
import { auditedEvent, type AuditedEvent } from './log/auditedEvent.ts';
import { auditLog, type LogAudit, type Watcher } from './log/auditLog.ts';
import type { AuditedLog, LogFacts } from './log/chainsCheck.ts';
import { everything, readThrough } from './log/readThrough.ts';
import { sealsOf, type ChainsWork, type StartChains, type StartedChains } from './log/chainsApart.ts';
import { rulesCheck, type DecodedWatcher } from './log/rulesCheck.ts';
import { auditInShares, type StartShares } from './shares/auditInShares.ts';
import { readModelComparison } from './readModels/compareReadModels.ts';
import { EXPECTED_MODELS } from './expected/expectedModels.ts';
import { findingsKept, type Findings, type FindingsResult } from './findings.ts';
import type { GivenSeal } from './seals/seal.ts';
import type { ReadModelSnapshot } from './readModels/snapshot.ts';

export interface AuditRequest extends Omit<LogAudit, 'findings' | 'watchers'> {
  /** The read models to compare; none: the log alone is audited. */
  readonly snapshot?: ReadModelSnapshot | undefined;
  /** What was sealed, wherever it was found. */
  readonly seals?: readonly GivenSeal[];
  /** Flaws of the seals themselves, and seals that could not be read. */
  readonly sealFlaws?: readonly string[];
  readonly notes?: readonly string[];
  /** Gives the chains a thread of their own; without it one thread reads the log, and knows the heads of streams. */
  readonly startChains?: StartChains | undefined;
  /** Audits the log by shares of its tenants, as long as nothing is wrong with it, and no read model is compared. */
  readonly startShares?: StartShares | undefined;
  /** Findings kept of each check; all are counted. */
  readonly keep?: number;
}

/** What an audit came to. */
export interface AuditReport extends FindingsResult {
  readonly facts: LogFacts;
  /** All findings, also those that were not kept. */
  readonly total: number;
  readonly read_models: { readonly name: string; readonly position: string | null }[] | null;
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
  const { feed, dense, onProgress, signal } = request;
  const seals = sealsOf(request, findings);
  const log = await auditLog({
    feed,
    findings,
    dense,
    watchers: [...seals.watchers, ...watchers],
    onProgress,
    signal,
  });
  seals.finish(log);
  return log;
};

const chainsWorkOf = ({ dense, seals = [], sealFlaws = [], keep = KEEP }: AuditRequest): ChainsWork => ({
  dense,
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
  { snapshot, startShares, sealFlaws = [], seals = [], onProgress, signal }: AuditRequest,
  findings: Findings,
): Promise<AuditedLog | undefined> =>
  startShares === undefined || snapshot !== undefined || sealFlaws.length > 0
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

/** Audits a log and, where given, its read models and a seal. */
export const runAudit = async (
  request: AuditRequest,
): Promise<{ readonly report: AuditReport; readonly log: AuditedLog }> => {
  const { snapshot, notes = [] } = request;
  const findings = findingsKept(request.keep ?? KEEP);
  for (const note of notes) findings.note(note);
  const compared = comparisonFor(request, findings);
  const watchers = compared === undefined ? [] : [compared.watcher];
  const log = (await byShares(request, findings)) ?? (await byHalves(request, findings, watchers));
  await compared?.finish(BigInt(log.facts.position ?? 0));
  const read_models = comparedIn(snapshot);
  return { log, report: { ...findings.result(), facts: log.facts, total: findings.total(), read_models } };
};
