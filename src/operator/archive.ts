import { statSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import {
  archiveIndex,
  moveOut,
  packArchive,
  rowsBetween,
  unpackArchive,
} from '../../adapters/sqlite/archive.ts';
import { type LogFile, openLogFile } from '../../adapters/sqlite/eventLogFile.ts';
import { books, BOOKS_STREAM, booksEvent, monthAfter, monthBounds } from '../../domain/books.ts';
import { type AccountEvent, accountEvent } from '../../domain/account/messages.ts';
import {
  type ArchivedFile,
  type ArchiveManifest,
  archivePrefix,
  archiveText,
  categoriesIn,
  chainedFiles,
  fileFlaw,
  manifestIn,
  rowsIn,
} from '../../domain/eventLog/archive.ts';
import { eventLogEvent, type EventLogEvent, type LogArchived } from '../../domain/eventLog/eventLog.ts';
import { lastMove } from '../../domain/eventLog/movedTexts.ts';
import { withoutTexts } from '../../domain/eventLog/writtenText.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import { categoryOf, sha256 } from '../../domain/kernel/chain.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { recorder } from '../../domain/kernel/decider.ts';
import { LOG_STREAM } from '../../domain/kernel/json.ts';
import { type RecordedEvent, storedEvent } from '../../domain/kernel/recorded.ts';
import type { Clock, EventFeed, EventStore } from '../../domain/ports/log.ts';
import type { LockedObjects, ObjectStore } from '../../domain/ports/services.ts';
import { recordedAt } from '../audit/auditedEvent.ts';
import type { AuditReport } from '../audit/runAudit.ts';
import { everything } from '../audit/streams.ts';
import { commandHandler } from '../writer/commandHandler.ts';
import { SYSTEM } from '../writer/commandMeta.ts';
import { OperatorError } from '../clientConfig.ts';

/** Events of one file: some 200 KB, so that one event of it is read in milliseconds. */
const FILE_EVENTS = 2_000;

export interface ArchiveDeps {
  /** Of the embedded log. */
  readonly path: string;
  /** Nobody else writes to it meanwhile; it is closed before events are taken out of its file. */
  readonly log: EventStore & EventFeed;
  readonly objects: Pick<ObjectStore, 'get' | 'put'>;
  readonly locked: LockedObjects;
  readonly clock: Pick<Clock, 'now'>;
  /** Audits the log, with every seal that there is. */
  readonly audit: () => Promise<AuditReport>;
  /** Seals the log as it is. */
  readonly seal: () => Promise<unknown>;
  readonly logId: string;
  readonly fileEvents?: number;
}

export interface ArchiveWish {
  /** The last UTC day to archive: `2025-12-31`. */
  readonly until: string;
  /** Days for which nobody can remove the files; null: they are not locked. */
  readonly retainDays: number | null;
  readonly dryRun: boolean;
  /** Told of each step when it is done. */
  readonly onStep?: (step: string) => void;
  readonly signal: AbortSignal;
}

/** The result of a run. */
export interface Archived {
  /** What was archived, in a dry run what would be; null: nothing, or an earlier run was finished. */
  readonly archived: Pick<LogArchived, 'until' | 'first' | 'through' | 'events'> | null;
  /** Events that were taken out of the log's own file by this run. */
  readonly moved_out: number;
  /** Size of the log's own file before and after, and of the files of the archive that were written, bytes. */
  readonly bytes_before: number;
  readonly bytes_after: number;
  readonly archive_bytes: number;
}

/** A stretch of the log that may be archived. */
interface Stretch {
  readonly first: number;
  readonly through: number;
}

const refuse = (why: string): never => {
  throw new OperatorError(`Nothing was archived: ${why}`);
};

const codec = eventCodec(eventLogEvent);

/** What was archived of this log, in its order. A copy has all events itself again, with positions of its own. */
export const archivesIn = async (log: Pick<EventStore, 'read'>): Promise<readonly LogArchived[]> => {
  let all: LogArchived[] = [];
  for await (const event of log.read(LOG_STREAM)) {
    const { type, data } = codec.decode(event);
    if (type === 'LogCopied') all = [];
    if (type === 'LogArchived') all.push(data);
  }
  return all;
};

const booksCodec = eventCodec(booksEvent);

/** Throws unless the month of the day is closed, and the day is its last. */
const refuseOpenMonth = async ({ log }: ArchiveDeps, until: string): Promise<void> => {
  const month = until.slice(0, 7);
  if (monthBounds(month).to.slice(0, 10) !== until)
    refuse(`${until} is not the last day of a month; only whole months that are closed can be.`);
  let state = books.initialState;
  for await (const event of log.read(BOOKS_STREAM)) state = books.evolve(state, booksCodec.decode(event));
  const closed = state.months.filter(({ isClosed }) => isClosed).at(-1)?.month;
  if (closed === undefined || closed < month)
    refuse(
      `${closed === undefined ? 'no month is closed' : `only months until ${closed} are closed`}. Close ${month} ` +
        'first (docs/how-to/close-a-month.md).',
    );
};

/** Holds and disputes that began in a stretch and are not over. */
const openMatters = () => {
  const open = new Map<string, string>();
  const account = eventCodec(accountEvent);
  return {
    see: (recorded: RecordedEvent, isInStretch: boolean): void => {
      if (categoryOf(recorded.stream) !== 'account') return;
      const event = account.decode(recorded);
      const begun = isInStretch ? begunBy(event) : undefined;
      if (begun !== undefined) open.set(begun.id, `${begun.what} (${recorded.stream})`);
      open.delete(overBy(event) ?? '');
    },
    open: () => [...open.values()],
  };
};

/** The hold or dispute that an event begins. */
const begunBy = ({
  type,
  data,
}: AccountEvent): { readonly id: string; readonly what: string } | undefined => {
  if (type === 'CreditsHeld') return { id: data.hold_id, what: `the hold ${data.hold_id}` };
  if (type === 'CreditsRefunded' && data.dispute?.status === 'opened')
    return { id: data.refund_id, what: `the dispute of the refund ${data.refund_id}` };
  return undefined;
};

/** The hold or dispute that an event ends. */
const overBy = ({ type, data }: AccountEvent): string | null | undefined => {
  if (type === 'HoldReleased' || type === 'CreditsBurned') return data.hold_id;
  return type === 'DisputeChanged' && data.status !== 'opened' ? data.refund_id : undefined;
};

const SHOWN = 5;

const refuseOpen = (open: readonly string[]): void => {
  if (open.length === 0) return;
  const more = open.length > SHOWN ? `, and ${String(open.length - SHOWN)} more` : '';
  refuse(
    `these began in what would be archived and are not over: ${open.slice(0, SHOWN).join(', ')}${more}.`,
  );
};

/** The events that were recorded until a moment, after those that are archived; undefined: there are none. */
const stretchOf = async (
  { log }: ArchiveDeps,
  { after, end, signal }: { readonly after: number; readonly end: string; readonly signal: AbortSignal },
): Promise<Stretch | undefined> => {
  const moved = (await lastMove(log))?.position ?? 0n;
  const matters = openMatters();
  let [through, isOver] = [after, false];
  for await (const event of everything(log, signal, BigInt(after))) {
    isOver ||= recordedAt(event) > end;
    if (!isOver) through = Number(event.position);
    if (!isOver && event.position >= moved && withoutTexts(storedEvent(event)) !== undefined)
      refuse(
        `${event.stream} revision ${event.revision.toString()} has text in it that an erasure could not reach ` +
          'there. Run quire vault move first.',
      );
    matters.see(event, !isOver);
  }
  signal.throwIfAborted();
  if (through === after) return undefined;
  refuseOpen(matters.open());
  return { first: after + 1, through };
};

/** Throws unless nothing is wrong with the log, and a seal covers the stretch. */
const refuseUnproven = async ({ audit }: ArchiveDeps, { through }: Stretch): Promise<void> => {
  const { total, unsealed } = await audit();
  if (total > 0) refuse(`the audit has ${String(total)} findings. Run quire audit --log-only.`);
  if (unsealed !== null && Number(unsealed.position ?? 0) < through)
    refuse(`the log is sealed up to position ${unsealed.position ?? '0'} only. Run quire seal first.`);
};

/** Throws unless the stretch may be archived; undefined: there is nothing to archive. */
const planned = async (
  deps: ArchiveDeps,
  { until, signal }: ArchiveWish,
  after: number,
): Promise<Stretch | undefined> => {
  await refuseOpenMonth(deps, until);
  const end = laterBy(monthAfter(until.slice(0, 7)), -1);
  const stretch = await stretchOf(deps, { after, end, signal });
  if (stretch !== undefined) await refuseUnproven(deps, stretch);
  return stretch;
};

/** Stores an object, where it is not there already, and reads it back. */
const stored = async (
  { objects, locked }: ArchiveDeps,
  {
    key,
    bytes,
    lockedUntil,
  }: { readonly key: string; readonly bytes: Uint8Array; readonly lockedUntil: string | null },
): Promise<Uint8Array> => {
  const known = await objects.get(key);
  if (known !== undefined && Buffer.compare(known, bytes) === 0) return known;
  if (lockedUntil === null) await objects.put(key, bytes);
  else await locked.putLocked(key, bytes, lockedUntil);
  const back = await objects.get(key);
  if (back !== undefined && Buffer.compare(back, bytes) === 0) return back;
  throw new OperatorError(`${key} was stored, and what was read back is not the same. Nothing was removed.`);
};

interface Writing {
  readonly deps: ArchiveDeps;
  readonly lockedUntil: string | null;
  readonly step: (what: string) => void;
}

const numbered = (position: number): string => String(position).padStart(12, '0');

/** Writes one file of the archive. Throws unless what is read back holds exactly the rows. */
const writtenFile = async (
  { deps, lockedUntil }: Writing,
  rows: ReturnType<typeof rowsBetween>,
  { first, last, previous }: Pick<ArchivedFile, 'first' | 'last'> & { readonly previous: string | null },
): Promise<{ readonly file: ArchivedFile; readonly bytes: number }> => {
  const { logId } = deps;
  const bytes = packArchive(archiveText({ log_id: logId, first, last, previous }, rows));
  const digest = sha256(bytes);
  const key = `${archivePrefix(logId)}${numbered(first)}-${digest.slice(0, 16)}.tsv.gz`;
  const file = { key, sha256: digest, first, last, categories: [...categoriesIn(rows)] };
  const back = await stored(deps, { key, bytes, lockedUntil });
  const flaw = fileFlaw({ log_id: logId }, { ...file, previous }, { bytes: back, unpack: unpackArchive });
  if (flaw !== undefined) throw new OperatorError(`${key} cannot be archived: ${flaw}. Nothing was removed.`);
  return { file, bytes: bytes.length };
};

/** Writes the files of a stretch and their manifest. */
const writtenArchive = async (
  writing: Writing,
  { first, through }: Stretch,
  { previous, signal }: { readonly previous: string | null; readonly signal: AbortSignal },
) => {
  const { deps, lockedUntil, step } = writing;
  const { logId, fileEvents = FILE_EVENTS } = deps;
  const log = openLogFile(deps.path, true);
  const files: ArchivedFile[] = [];
  let bytes = 0;
  try {
    for (let at = first; at <= through; at += fileEvents) {
      signal.throwIfAborted();
      const last = Math.min(at + fileEvents - 1, through);
      const place = { first: at, last, previous: files.at(-1)?.sha256 ?? previous };
      const written = await writtenFile(writing, rowsBetween(log, at, last), place);
      files.push(written.file);
      bytes += written.bytes;
      step(`wrote ${written.file.key}`);
    }
  } finally {
    log.close();
  }
  const made: ArchiveManifest = { format: 'quire-archive-1', log_id: logId, first, through, previous, files };
  const text = Buffer.from(`${JSON.stringify(made)}\n`);
  const manifest = { key: '', sha256: sha256(text) };
  manifest.key = `${archivePrefix(logId)}manifest-${numbered(through)}-${manifest.sha256.slice(0, 16)}.json`;
  await stored(deps, { key: manifest.key, bytes: text, lockedUntil });
  step(`wrote ${manifest.key}`);
  return { manifest, files: files.length, bytes: bytes + text.length };
};

/** Nobody waits for the event but this command: a busy machine may take its time. */
export const RECORD_MS = 60_000;

/** Says in the log what is archived, and seals that. */
const recordArchive = async ({ deps, step }: Writing, data: LogArchived): Promise<void> => {
  const { log, clock, seal } = deps;
  const handle = commandHandler({
    decider: recorder<EventLogEvent>(() => false),
    codec,
    store: log,
    tenantOf: () => null,
    options: { deadlineMs: RECORD_MS },
  });
  const meta = { now: clock.now(), actor: SYSTEM, correlation_id: 'archive', command_id: randomUUID() };
  const outcome = await handle(LOG_STREAM, { type: 'Record', data: { type: 'LogArchived', data }, meta });
  if (outcome.kind !== 'done')
    throw new OperatorError(`The log did not take the event (${outcome.kind}): run the command again.`);
  step('said so in the log');
  await seal();
  step('sealed the log');
};

/** The manifest of an archive. Throws OperatorError where it is not the one that the log names. */
const manifestOf = async (
  { objects }: Pick<ArchiveDeps, 'objects'>,
  { manifest: { key, sha256: due } }: LogArchived,
): Promise<ArchiveManifest> => {
  const bytes = await objects.get(key);
  const read = bytes === undefined ? 'it is not in the store of objects' : manifestIn(bytes, due);
  if (typeof read !== 'string') return read;
  throw new OperatorError(`${key}: ${read}. Nothing more was removed: run quire audit.`);
};

/** Takes the events of one file out of the log's own file. */
const moveFile = async (
  { objects }: ArchiveDeps,
  log: LogFile,
  { log_id, file }: { readonly log_id: string; readonly file: ReturnType<typeof chainedFiles>[number] },
): Promise<void> => {
  const bytes = await objects.get(file.key);
  const flaw =
    bytes === undefined
      ? 'it is not in the store of objects'
      : fileFlaw({ log_id }, file, { bytes, unpack: unpackArchive });
  if (bytes === undefined || flaw !== undefined)
    throw new OperatorError(`${file.key}: ${flaw ?? ''}. Its events stay in the log: run quire audit.`);
  moveOut(log, file, rowsIn(unpackArchive(bytes)));
};

/** Position of the last event that was taken out of the log's own file. */
const movedThrough = (path: string): number => {
  const index = archiveIndex(path);
  try {
    return index.through();
  } finally {
    index.close();
  }
};

/** Files of archives whose events are still in the log's own file, in their order. */
async function* filesToMove(deps: ArchiveDeps, all: readonly LogArchived[]) {
  const through = movedThrough(deps.path);
  for (const archived of all) {
    if (Number(archived.through) <= through) continue;
    const manifest = await manifestOf(deps, archived);
    for (const file of chainedFiles(manifest))
      if (file.last > through) yield { log_id: manifest.log_id, file };
  }
}

/**
 * Takes events that are archived out of the log's own file, which no one else has open, file by file, and then gives
 * the room back. What an earlier run has taken out is left alone. Gives how many were.
 */
const movedOut = async (
  deps: ArchiveDeps,
  wish: ArchiveWish,
  all: readonly LogArchived[],
): Promise<number> => {
  const log = openLogFile(deps.path, false);
  let events = 0;
  try {
    for await (const { log_id, file } of filesToMove(deps, all)) {
      wish.signal.throwIfAborted();
      await moveFile(deps, log, { log_id, file });
      events += file.last - file.first + 1;
      wish.onStep?.(`moved positions ${String(file.first)} to ${String(file.last)}`);
    }
    if (Number(log.rows('PRAGMA freelist_count')[0]?.[0]) > 0) log.exec('VACUUM');
    log.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return events;
  } finally {
    log.close();
  }
};

/** The last file's digest, which the first of the next archive names; null before the first. */
const lastDigest = async (deps: ArchiveDeps, all: readonly LogArchived[]): Promise<string | null> => {
  const last = all.at(-1);
  return last === undefined ? null : ((await manifestOf(deps, last)).files.at(-1)?.sha256 ?? null);
};

/** Days that the files are locked for. Throws OperatorError where that was asked for and cannot be. */
const lockOf = async (
  { locked, clock }: ArchiveDeps,
  { retainDays }: Pick<ArchiveWish, 'retainDays'>,
): Promise<string | null> => {
  if (retainDays === null) return null;
  const refusal = await locked.refusal();
  if (refusal !== null) refuse(refusal);
  return laterBy(clock.now(), retainDays * 86_400_000);
};

type Made = Pick<Archived, 'archived' | 'archive_bytes'>;

const NOTHING: Made = { archived: null, archive_bytes: 0 };

/** Writes a new archive after those that there are, and says so in the log. */
const newArchive = async (
  deps: ArchiveDeps,
  wish: ArchiveWish,
  before: readonly LogArchived[],
): Promise<Made> => {
  const { until, dryRun, signal, onStep: step = () => undefined } = wish;
  const stretch = await planned(deps, wish, Number(before.at(-1)?.through ?? 0));
  const lockedUntil = await lockOf(deps, wish);
  if (stretch === undefined) return NOTHING;
  const { first, through } = stretch;
  const said = { until, first: String(first), through: String(through), events: through - first + 1 };
  if (dryRun) return { archived: said, archive_bytes: 0 };
  const writing: Writing = { deps, step, lockedUntil };
  const previous = await lastDigest(deps, before);
  const { bytes, ...written } = await writtenArchive(writing, stretch, { previous, signal });
  const archived_at = deps.clock.now();
  await recordArchive(writing, { ...said, ...written, retained_until: lockedUntil, archived_at });
  return { archived: said, archive_bytes: bytes };
};

/**
 * Archives the events that were recorded until a day: writes them into files of the object store, reads these back,
 * says so in the log, seals it, and only then takes the events out of the log's own file. A run that was cut short is
 * finished by the next one, and no event is ever in neither place. Closes the log. Throws OperatorError.
 */
export const archiveLog = async (deps: ArchiveDeps, wish: ArchiveWish): Promise<Archived> => {
  const { log, path } = deps;
  const bytes_before = statSync(path).size;
  try {
    const before = await archivesIn(log);
    const isUnfinished = Number(before.at(-1)?.through ?? 0) > movedThrough(path);
    const made = isUnfinished ? NOTHING : await newArchive(deps, wish, before);
    if (isUnfinished && !wish.dryRun) await deps.seal();
    const all = await archivesIn(log);
    await log.close();
    const moved_out = wish.dryRun ? 0 : await movedOut(deps, wish, all);
    return { ...made, moved_out, bytes_before, bytes_after: statSync(path).size };
  } finally {
    await log.close();
  }
};
