import type { EventFeed } from '../../../domain/ports/log.ts';
import { findingsKept, type Findings, type HalfFound } from '../findings.ts';
import type { GivenSeal } from '../seals/seal.ts';
import { sealsCheck } from '../seals/sealCheck.ts';
import { readThrough } from './readThrough.ts';
import { chainsCheck, type AuditedChains, type StoredWatcher } from './chainsCheck.ts';

/** What the chains are checked against, in whichever thread. */
export interface ChainsWork {
  readonly dense: boolean;
  readonly seals: readonly GivenSeal[];
  readonly sealFlaws: readonly string[];
  /** Findings kept of each check. */
  readonly keep: number;
}

/** What became of the chains. The heads of all streams stay in the thread: there are too many to hand over. */
export interface ChainsDone extends Omit<AuditedChains, 'heads'> {
  readonly events: number;
  readonly found: HalfFound;
}

/** The chains half of an audit while it runs in a thread of its own. */
export interface StartedChains {
  /** Both halves look at the log up to here. */
  readonly upTo: bigint;
  readonly done: Promise<ChainsDone>;
  readonly stop: () => Promise<unknown>;
}

/** Starts the half; undefined where a thread costs more than it saves. */
export type StartChains = (work: ChainsWork) => Promise<StartedChains | undefined>;

interface Seals {
  readonly watchers: readonly StoredWatcher[];
  readonly finish: (chains: Pick<AuditedChains, 'heads'>) => void;
}

/** Checks what was sealed. */
export const sealsOf = (
  { seals = [], sealFlaws = [] }: Partial<Pick<ChainsWork, 'seals' | 'sealFlaws'>>,
  findings: Findings,
): Seals => {
  for (const message of sealFlaws) findings.add({ check: 'seal', message });
  if (seals.length === 0) return { watchers: [], finish: () => undefined };
  const { watcher, finish } = sealsCheck(findings, seals);
  return { watchers: [watcher], finish };
};

/** The chains half of an audit, alone. */
export const auditChains = async (
  { dense, keep, ...sealed }: ChainsWork,
  feed: Pick<EventFeed, 'subscribe'>,
  upTo: bigint,
): Promise<ChainsDone> => {
  const findings = findingsKept(keep);
  const seals = sealsOf(sealed, findings);
  const chains = chainsCheck(findings, { dense, watchers: seals.watchers });
  const { events } = await readThrough({ feed, upTo }, chains.look);
  const { heads, ...result } = chains.result();
  seals.finish({ heads });
  return { ...result, events, found: findings.half() };
};
