import { eventAt, identityOf } from '../../../domain/eventLog/identity.ts';
import { isSame, type Witness } from '../../../domain/eventLog/witness.ts';
import type { KnownLog } from '../../../domain/ports/knownLog.ts';
import type { Generation } from '../registry.ts';

/** Read models that were made from another log than the one that is there. */
export interface Divergence {
  readonly names: readonly string[];
  /** What differs, in a sentence without a full stop. */
  readonly reason: string;
  /** The log that is there; null: it does not say. */
  readonly log_id: string | null;
}

/** What to do about it. */
export const DIVERGED =
  'The event log is not the one that the read models were made from: it was replaced or ' +
  'restored. `quire projections rebuild` makes them anew from it (with ' +
  'REBUILD_DIVERGED=auto the service does so by itself), or put the right log back: ' +
  'docs/how-to/back-up-and-restore.md.';

/** The read models are of another log than the one that is there: nothing may be read from them. */
export class ReadModelsDiverged extends Error {
  override readonly name = 'ReadModelsDiverged';
  readonly divergence: Divergence;
  constructor(divergence: Divergence) {
    super(divergence.reason);
    this.divergence = divergence;
  }
}

/** The first event that lies after a position; undefined at the end of the log. */
const firstAfter = async (log: KnownLog, after: bigint | undefined): Promise<bigint | undefined> => {
  const done = new AbortController();
  try {
    for await (const item of log.subscribe({ after, signal: done.signal })) {
      if (item.kind === 'event') return item.event.position;
      if (item.kind === 'caught_up') return undefined;
    }
  } finally {
    done.abort();
  }
  return undefined;
};

const placeOf = ({ stream, revision, position }: Witness): string =>
  `${stream} revision ${String(revision)} at position ${String(position)}`;

/** An older release left a checkpoint without a witness: only the end of the log can contradict it. */
const flawOfEnd = async (log: KnownLog, position: bigint): Promise<string | undefined> => {
  const end = await log.end();
  return end === undefined || end < position
    ? `the log ends at ${String(end ?? 'its start')}, before ${String(position)}, which the read models have`
    : undefined;
};

/** Why a checkpoint cannot be of this log, as far as events tell; undefined when it can. */
const flawOf = async (
  log: KnownLog,
  position: bigint,
  { witness }: Generation,
): Promise<string | undefined> => {
  if (witness === undefined) return flawOfEnd(log, position);
  if (witness !== null && !isSame(witness, await eventAt(log, witness.stream, witness.revision)))
    return `the log does not have the event that the read models know as ${placeOf(witness)}`;
  if (witness?.position === position) return undefined;
  // Nothing was delivered between the two: whatever stands there now was never read.
  const next = await firstAfter(log, witness?.position);
  return next !== undefined && next <= position
    ? `the log has an event at position ${String(next)} that was not there when the read models passed it`
    : undefined;
};

const keyOf = ({ position, witness }: Generation): string =>
  `${String(position)} ${witness === undefined ? '?' : (witness?.hash ?? '')}`;

/** Why one generation cannot be of this log; generations at the same place are compared once. */
const flawFinder = (log: KnownLog, log_id: string | null) => {
  const known = new Map<string, Promise<string | undefined>>();
  return async (generation: Generation): Promise<string | undefined> => {
    const { position, logId } = generation;
    if (position === null) return undefined;
    if (logId !== null && logId !== log_id)
      return `the read models are of log ${logId}, and this is ${log_id ?? 'a log without a name'}`;
    const key = keyOf(generation);
    const flaw = known.get(key) ?? flawOf(log, position, generation);
    known.set(key, flaw);
    return flaw;
  };
};

/** Compares checkpoints with the log: its identity, and the last event that was read up to each. */
export const divergenceOf = async (
  log: KnownLog,
  generations: readonly Generation[],
): Promise<Divergence | undefined> => {
  const log_id = (await identityOf(log)) ?? null;
  const flawIn = flawFinder(log, log_id);
  const flawed: { readonly name: string; readonly reason: string }[] = [];
  for (const generation of generations) {
    const reason = await flawIn(generation);
    if (reason !== undefined) flawed.push({ name: generation.name, reason });
  }
  const [first] = flawed;
  return first && { names: flawed.map(({ name }) => name), reason: first.reason, log_id };
};

/**
 * Makes sure that generations are of the log that is there, and notes its identity where they have none yet.
 * Throws ReadModelsDiverged.
 */
export const requireSameLog = async (
  log: KnownLog,
  slots: readonly { generation: Generation }[],
): Promise<void> => {
  const diverged = await divergenceOf(
    log,
    slots.map(({ generation }) => generation),
  );
  if (diverged !== undefined) throw new ReadModelsDiverged(diverged);
  const logId = (await identityOf(log)) ?? null;
  for (const slot of slots) slot.generation = { ...slot.generation, logId: slot.generation.logId ?? logId };
};
