import { z } from 'zod';
import { jsonIn } from '../kernel/json.ts';
import { categoryOf, sha256 } from '../kernel/chain.ts';

/** A row of the embedded log as its file has it: texts byte for byte, so that an audit of it is one of the log. */
export interface ArchivedRow {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  /** JSON. */
  readonly data: string;
  readonly metadata: string;
  readonly log_digest: string | null;
}

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const place = z.int().min(1);

/** A file of an archive, as its manifest names it. */
const archivedFile = z.strictObject({
  key: z.string(),
  /** Of its bytes as they are stored. */
  sha256: digest,
  /** Positions of its first and last event. */
  first: place,
  last: place,
  /** Of its streams, sorted: readers of other categories leave the file where it is. */
  categories: z.array(z.string()),
});

export type ArchivedFile = z.output<typeof archivedFile>;

/** What one run of the command archived: an object, named by its digest in `LogArchived`. */
export const archiveManifest = z.strictObject({
  format: z.literal('quire-archive-1'),
  log_id: z.string(),
  first: place,
  through: place,
  /** SHA-256 of the last file of the archive before this one; null: this is the first. */
  previous: digest.nullable(),
  files: z.array(archivedFile).min(1),
});

export type ArchiveManifest = z.output<typeof archiveManifest>;

export const ARCHIVE_PREFIX = 'archive/';

/** Where the files of a log's archive are in the object store. */
export const archivePrefix = (logId: string): string => `${ARCHIVE_PREFIX}${logId}/`;

const fileHeader = z.strictObject({
  format: z.literal('quire-archive-1'),
  log_id: z.string(),
  first: place,
  last: place,
  /** SHA-256 of the file before this one; null: this is the first. */
  previous: digest.nullable(),
});

type FileHeader = z.output<typeof fileHeader>;

/** Columns are parted by tabs and events by line ends: neither stands in JSON, nor in a name that we make. */
const lineOf = ({ position, stream, revision, id, type, log_digest, data, metadata }: ArchivedRow): string =>
  [position, stream, revision, id, type, log_digest ?? '', data, metadata].join('\t');

const LINE = /^\d+\t[^\t]+\t\d+(?:\t[^\t]*){5}$/;

const rowOf = (line: string): ArchivedRow | undefined => {
  if (!LINE.test(line)) return undefined;
  type Columns = [string, string, string, string, string, string, string, string];
  const [position, stream, revision, id, type, digestText, data, metadata] = line.split('\t') as Columns;
  const log_digest = digestText === '' ? null : digestText;
  return {
    position: Number(position),
    stream,
    revision: Number(revision),
    id,
    type,
    data,
    metadata,
    log_digest,
  };
};

/** The text of a file of an archive: a line that says what it is, and a line for each event. */
export const archiveText = (header: Omit<FileHeader, 'format'>, rows: readonly ArchivedRow[]): string =>
  [JSON.stringify({ format: 'quire-archive-1', ...header }), ...rows.map(lineOf), ''].join('\n');

/** The rows of a file of an archive, as far as they are rows; a changed file may have anything in it. */
export const rowsIn = (text: string): readonly ArchivedRow[] =>
  text
    .split('\n')
    .slice(1)
    .flatMap((line) => rowOf(line) ?? []);

/** What is wrong with a file whose bytes are those that the manifest names; undefined: nothing. */
const contentFlaw = (text: string, due: Omit<FileHeader, 'format'>): string | undefined => {
  const header = fileHeader.safeParse(jsonIn(text.slice(0, text.indexOf('\n'))));
  if (!header.success) return 'it does not begin with the line that says what it is';
  const { log_id, first, last, previous } = header.data;
  if (log_id !== due.log_id) return 'it belongs to another log';
  if (previous !== due.previous) return 'it does not name the file before it';
  if (first !== due.first || last !== due.last) return 'it has other positions than the manifest says';
  const rows = rowsIn(text);
  const isWhole = archiveText(header.data, rows) === text && rows.length === last - first + 1;
  return isWhole && rows.every(({ position }, at) => position === first + at)
    ? undefined
    : 'it does not hold one event for each of its positions';
};

/** What is wrong with a manifest; a sentence, or what it says. */
export const manifestIn = (bytes: Uint8Array, due: string): ArchiveManifest | string => {
  if (sha256(bytes) !== due) return 'it is not the one that the log names: it was changed or replaced';
  const read = archiveManifest.safeParse(jsonIn(Buffer.from(bytes).toString()));
  return read.success ? read.data : 'it is no manifest of an archive';
};

interface FileBytes {
  readonly bytes: Uint8Array;
  /** Makes text of the bytes; throws where they are damaged. */
  readonly unpack: (bytes: Uint8Array) => string;
}

/** What is wrong with a file of an archive; undefined: nothing. `previous`: digest of the file before it. */
export const fileFlaw = (
  { log_id }: Pick<ArchiveManifest, 'log_id'>,
  { sha256: due, first, last, previous }: ArchivedFile & { readonly previous: string | null },
  { bytes, unpack }: FileBytes,
): string | undefined => {
  if (sha256(bytes) !== due) return 'its SHA-256 is not the one that the manifest names';
  try {
    return contentFlaw(unpack(bytes), { log_id, first, last, previous });
  } catch {
    return 'it cannot be unpacked';
  }
};

/** Files of a manifest, each with the digest of the file before it. */
export const chainedFiles = ({ previous, files }: ArchiveManifest) =>
  files.map((file, at) => ({ ...file, previous: files[at - 1]?.sha256 ?? (at === 0 ? previous : null) }));

/** Categories of rows, sorted. */
export const categoriesIn = (rows: readonly ArchivedRow[]): readonly string[] =>
  [...new Set(rows.map(({ stream }) => categoryOf(stream)))].sort();
