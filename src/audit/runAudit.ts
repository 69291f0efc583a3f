import { decodeAny } from '../../domain/catalogue.ts';
import { UndecodableEvent } from '../../domain/kernel/codec.ts';
import type { EventFeed } from '../../domain/ports/eventFeed.ts';
import { auditedEvent, type AuditedEvent } from './log/auditedEvent.ts';
import { auditLog, everything, type AuditedLog, type LogAudit, type LogFacts } from './log/auditLog.ts';
import { readModelComparison } from './readModels/compareReadModels.ts';
import { EXPECTED_MODELS } from './expected/expectedModels.ts';
import { findingsKept, type Findings, type FindingsResult } from './findings.ts';
import type { GivenSeal } from './seals/seal.ts';
import { sealsCheck } from './seals/sealCheck.ts';
import type { ReadModelSnapshot } from './readModels/snapshot.ts';

export interface AuditRequest extends Omit<LogAudit, 'findings' | 'watchers'> {
  /** The read models to compare; none: the log alone is audited. */
  readonly snapshot?: ReadModelSnapshot | undefined;
  /** What was sealed, wherever it was found. */
  readonly seals?: readonly GivenSeal[];
  /** Flaws of the seals themselves, and seals that could not be read. */
  readonly sealFlaws?: readonly string[];
  readonly notes?: readonly string[];
  /** Findings kept of each check; all are counted. */
  readonly keep?: number;
}

/** What an audit came to. */
export interface AuditReport extends FindingsResult {
  readonly facts: LogFacts;
  /** All findings, also those that were not kept. */
  readonly total: number;
  readonly read_models: readonly { readonly name: string; readonly position: string | null }[] | null;
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

/** Checks what was sealed; undefined where no seal was found. */
const sealsFor = ({ seals = [], sealFlaws = [], notes = [] }: AuditRequest, findings: Findings) => {
  for (const message of sealFlaws) findings.add({ check: 'seal', message });
  for (const note of notes) findings.note(note);
  return seals.length === 0 ? undefined : sealsCheck(findings, seals);
};

/** Audits a log and, where given, its read models and a seal. */
export const runAudit = async (
  request: AuditRequest,
): Promise<{ readonly report: AuditReport; readonly log: AuditedLog }> => {
  const { feed, dense, snapshot, onProgress, signal } = request;
  const findings = findingsKept(request.keep ?? KEEP);
  const sealed = sealsFor(request, findings);
  const compared = comparisonFor(request, findings);
  const watchers = [sealed?.watcher, compared?.watcher].filter((watcher) => watcher !== undefined);
  const log = await auditLog({ feed, findings, dense, watchers, onProgress, signal });
  sealed?.finish(log);
  await compared?.finish(BigInt(log.facts.position ?? 0));
  const read_models = comparedIn(snapshot);
  return { log, report: { ...findings.result(), facts: log.facts, total: findings.total(), read_models } };
};
