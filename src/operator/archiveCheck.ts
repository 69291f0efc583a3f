import { archiveIndex, unpackArchive } from '../../adapters/sqlite/archive.ts';
import {
  ARCHIVE_PREFIX,
  type ArchiveManifest,
  chainedFiles,
  fileFlaw,
  manifestIn,
} from '../../domain/eventLog/archive.ts';
import type { LogArchived } from '../../domain/eventLog/eventLog.ts';
import type { EventStore } from '../../domain/ports/log.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import { archivesIn } from './archive.ts';

/** Files that events of a log were moved into, and those of them that are not in the store of objects. */
export const archivedFiles = async (
  path: string,
  objects: () => Promise<Pick<ObjectStore, 'list'>>,
): Promise<{ readonly files: number; readonly missing: readonly string[] }> => {
  const index = archiveIndex(path);
  const keys = index.keys();
  index.close();
  if (keys.length === 0) return { files: 0, missing: [] };
  const there = new Set<string>();
  for await (const { key } of (await objects()).list(ARCHIVE_PREFIX)) there.add(key);
  return { files: keys.length, missing: keys.filter((key) => !there.has(key)) };
};

/** What the audit says of the archive of a log. */
export interface ArchiveCheck {
  /** Files that were looked at. */
  readonly files: number;
  readonly flaws: readonly string[];
}

interface ArchiveToCheck {
  readonly log: Pick<EventStore, 'read'>;
  readonly path: string;
  readonly get: ObjectStore['get'];
}

type Index = ReturnType<typeof archiveIndex>;
type Check = Pick<ArchiveToCheck, 'get'> & {
  readonly index: Index;
  readonly signal: AbortSignal | undefined;
};

const ABSENT = 'it is not in the store of objects';

/** What is wrong with the files of one archive. */
const flawsOfFiles = async (
  { get, index, signal }: Check,
  manifest: ArchiveManifest,
): Promise<readonly string[]> => {
  const flaws: string[] = [];
  for (const file of chainedFiles(manifest)) {
    signal?.throwIfAborted();
    const bytes = await get(file.key);
    const flaw =
      bytes === undefined
        ? ABSENT
        : (fileFlaw(manifest, file, { bytes, unpack: unpackArchive }) ?? index.flawOf(file, bytes));
    if (flaw !== undefined)
      flaws.push(`${file.key}, positions ${String(file.first)} to ${String(file.last)}: ${flaw}.`);
  }
  return flaws;
};

/** Where the archive before ended. */
interface Before {
  readonly next: number;
  readonly previous: string | null;
}

/** What is wrong with one archive, and where the next one begins. */
const archiveChecked = async (
  check: Check,
  { manifest: named, first, through }: LogArchived,
  { next, previous }: Before,
): Promise<ArchiveCheck & Before> => {
  const after = Number(through) + 1;
  const bytes = await check.get(named.key);
  const read = bytes === undefined ? ABSENT : manifestIn(bytes, named.sha256);
  if (typeof read === 'string') return { files: 0, flaws: [`${named.key}: ${read}.`], next: after, previous };
  const goesOn = read.previous === previous && Number(first) === next && read.first === next;
  const flaws = goesOn ? [] : [`${named.key}: it does not go on after the archive before it.`];
  flaws.push(...(await flawsOfFiles(check, read)));
  return { files: read.files.length, flaws, next: after, previous: read.files.at(-1)?.sha256 ?? null };
};

/** Compares every file of the archive with what the log and its tables say of it. */
export const checkArchive = async (
  { log, path, get }: ArchiveToCheck,
  signal?: AbortSignal,
): Promise<ArchiveCheck> => {
  const index = archiveIndex(path);
  const flaws: string[] = [];
  let files = 0;
  let before: Before = { next: 1, previous: null };
  try {
    for (const archived of await archivesIn(log)) {
      const checked = await archiveChecked({ get, index, signal }, archived, before);
      files += checked.files;
      flaws.push(...checked.flaws);
      before = checked;
    }
    if (index.through() >= before.next)
      flaws.push("The log's file names more archived events than its events do.");
    return { files, flaws };
  } finally {
    index.close();
  }
};
