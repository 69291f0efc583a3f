import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { sealOf, type Seal } from '../audit/chains.ts';
import { auditCopy, type AuditedCopy, type CopyAudit } from './restoreBackup.ts';
import {
  type BackedUpFile,
  copyDigested,
  DATA,
  type Digest,
  digestOf,
  eachAtOnce,
  filesIn,
  MANIFEST,
  type Manifest,
  MANIFEST_SUM,
  manifestSum,
  manifestText,
  type MissingObject,
  SEAL,
  syncFolder,
  syncFolders,
  writeDurably,
} from './files.ts';
import { sha256 } from '../../domain/kernel/chain.ts';

/** Where things lie in a data folder, from it. */
export interface DataFolder {
  readonly path: string;
  readonly log: string;
  /** The folder of objects that are whole; undefined where objects lie in another service. */
  readonly objects: string | undefined;
  /** Of the object with a key. */
  readonly objectFile: (key: string) => string;
  /** Files that only this folder has: without them something stops working. */
  readonly secrets: readonly string[];
}

export interface BackupDeps extends Pick<CopyAudit, 'open'> {
  readonly data: DataFolder;
  readonly copyLog: (from: string, to: string, signal: AbortSignal) => Promise<void>;
  readonly version: string;
  readonly now: () => string;
}

/** Times that the log is copied again if an object it refers to was removed meanwhile. */
const ATTEMPTS_MAX = 3;
const COPIES_AT_ONCE = 4;

type Copied = Map<string, Digest>;

const copyInto = async (copied: Copied, [from, folder]: readonly [string, string], path: string) => {
  const digest = await copyDigested(join(from, path), join(folder, DATA, path));
  if (digest !== undefined) copied.set(path, digest);
};

/** Copies what was not copied before. */
const copyFiles = async (
  { data }: BackupDeps,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
  copied: Copied,
): Promise<void> => {
  for (const path of data.secrets) await copyInto(copied, [data.path, folder], path);
  if (data.objects === undefined) return;
  const { objects } = data;
  await eachAtOnce(filesIn(data.path, `${objects}/`), COPIES_AT_ONCE, async (path) => {
    signal.throwIfAborted();
    if (!copied.has(path)) await copyInto(copied, [data.path, folder], path);
  });
};

/** What events refer to and `copied` does not have. */
const missingIn = (
  { objectFile }: Pick<DataFolder, 'objectFile'>,
  needs: AuditedCopy['needs'],
  copied: ReadonlyMap<string, Digest>,
): readonly MissingObject[] =>
  [...needs].flatMap(([key, { stream, sha256: due }]): readonly MissingObject[] => {
    const found = copied.get(objectFile(key));
    if (found === undefined) return [{ key, why: 'absent', stream }];
    return due === null || found.sha256 === due ? [] : [{ key, why: 'changed', stream }];
  });

interface Collected {
  readonly audited: AuditedCopy;
  readonly copied: Copied;
  readonly missing: readonly MissingObject[];
}

/**
 * The log first, then the objects. An object is stored before the event that refers to it is appended, and
 * is never changed afterwards: so all that the copied log refers to is there when the log has been copied,
 * and copying objects later finds it. The other way round an event could name an object that was stored
 * after its folder had been looked through. The key of a saved config may disappear meanwhile, if it was
 * replaced or revoked, and so may a removed upload: then the log is copied again, and nothing in it refers to
 * them any more.
 */
const collect = async (deps: BackupDeps, folder: string, signal: AbortSignal): Promise<Collected> => {
  const { data } = deps;
  const log = join(folder, DATA, data.log);
  const copied: Copied = new Map();
  for (let attempt = 1; ; attempt += 1) {
    await rm(log, { force: true });
    await deps.copyLog(join(data.path, data.log), log, signal);
    await copyFiles(deps, { folder, signal }, copied);
    const audited = await auditCopy({ open: deps.open, path: log, signal });
    const missing = data.objects === undefined ? [] : missingIn(data, audited.needs, copied);
    if (missing.length === 0 || attempt === ATTEMPTS_MAX) return { audited, copied, missing };
    for (const { key } of missing) copied.delete(data.objectFile(key));
  }
};

const objectsOf = ({ data }: BackupDeps, copied: Copied): Manifest['objects'] => {
  if (data.objects === undefined) return null;
  const found = [...copied].filter(([path]) => path.startsWith(`${data.objects ?? ''}/`));
  return { count: found.length, bytes: found.reduce((sum, [, { bytes }]) => sum + bytes, 0) };
};

const fileOf = (path: string, { bytes, sha256: digest }: Digest): BackedUpFile => ({
  path,
  bytes,
  sha256: digest,
});

const digestOfText = (text: string): Digest => ({ bytes: Buffer.byteLength(text), sha256: sha256(text) });

const byPath = (a: BackedUpFile, b: BackedUpFile): number => (a.path < b.path ? -1 : 1);

const manifestOf = (
  deps: BackupDeps,
  { audited, copied, missing }: Collected,
  { seal, files }: { readonly seal: Seal; readonly files: readonly BackedUpFile[] },
): Manifest => ({
  format: 'quire-backup-1',
  quire_version: deps.version,
  made_at: seal.made_at,
  log: {
    log_id: audited.log_id,
    position: seal.position,
    events: seal.events,
    streams: seal.streams,
    seal_digest: seal.digest,
    findings: audited.total,
  },
  objects: objectsOf(deps, copied),
  missing: [...missing],
  files: [...files, ...[...copied].map(([path, digest]) => fileOf(`${DATA}/${path}`, digest))].sort(byPath),
});

/** The manifest comes last, when all that it names is on the disk. */
const fill = async (deps: BackupDeps, folder: string, signal: AbortSignal) => {
  await mkdir(join(folder, DATA), { mode: 0o700 });
  const collected = await collect(deps, folder, signal);
  const logFile = `${DATA}/${deps.data.log}`;
  const log = await digestOf(join(folder, logFile));
  if (log === undefined) throw new Error('the copied event log has gone away');
  const seal = sealOf(collected.audited.log, deps.now());
  const sealText = `${JSON.stringify(seal)}\n`;
  await writeDurably(join(folder, SEAL), sealText);
  const files = [fileOf(logFile, log), fileOf(SEAL, digestOfText(sealText))];
  const manifest = manifestOf(deps, collected, { seal, files });
  const text = manifestText(manifest);
  await syncFolders(folder);
  await writeDurably(join(folder, MANIFEST_SUM), manifestSum(text));
  await writeDurably(join(folder, MANIFEST), text);
  await syncFolder(folder);
  signal.throwIfAborted();
  return { manifest, findings: collected.audited.findings };
};

export type MadeBackup = Awaited<ReturnType<typeof fill>>;

/** The name of an unfinished backup: `<target>.partial-…`, beside it. */
export const partialPrefix = (target: string): string => `${basename(target)}.partial-`;

/**
 * Makes a backup beside `target` and renames it when it is whole and on the disk: what has the name is a
 * whole backup. Throws what the disk or the log throws, and then leaves nothing behind.
 */
export const makeBackup = async (
  deps: BackupDeps,
  target: string,
  signal: AbortSignal,
): Promise<MadeBackup> => {
  await mkdir(dirname(target), { recursive: true });
  const folder = await mkdtemp(join(dirname(target), partialPrefix(target)));
  try {
    const made = await fill(deps, folder, signal);
    await rename(folder, target);
    await syncFolder(dirname(target));
    return made;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
};
