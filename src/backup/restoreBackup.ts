import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Seal } from '../audit/seals/seal.ts';
import { auditCopy, type AuditedCopy, type OpenedLog } from './auditedCopy.ts';
import { copyDigested, eachAtOnce, syncFolder, syncFolders } from './files.ts';
import { absentAsUndefined } from '../../domain/kernel/json.ts';
import { DATA, type BackedUpFile, type Manifest } from './manifest.ts';

interface RestoreDeps {
  /** From its folder: put in place last, for a data folder is one only when it has its log. */
  readonly log: string;
  /** Of the folder into which everything is copied first. */
  readonly staging: string;
  readonly open: (path: string) => OpenedLog;
}

/** The file was read as it should be, and is not what was read. */
export class TornRestore extends Error {
  override readonly name = 'TornRestore';
}

const COPIES_AT_ONCE = 4;
const PREFIX = `${DATA}/`;

const copyOne = async (backup: string, staged: string, due: BackedUpFile): Promise<void> => {
  const found = await copyDigested(join(backup, due.path), join(staged, due.path.slice(PREFIX.length)));
  if (found?.sha256 !== due.sha256)
    throw new TornRestore(`${due.path} was changed while the backup was restored.`);
};

/** Moves what was staged to its place, the log last. */
const moveIn = async (staged: string, dataDir: string, log: string): Promise<void> => {
  const names = (await readdir(staged)).filter((name) => name !== log);
  for (const name of [...names, log]) await rename(join(staged, name), join(dataDir, name));
  await syncFolder(dataDir);
};

export interface RestoreRequest {
  /** A folder whose files have the digests of `manifest`. */
  readonly backup: string;
  readonly manifest: Manifest;
  readonly seal: Seal;
  /** Empty, and locked by this process. */
  readonly dataDir: string;
  readonly signal: AbortSignal;
}

const stage = async (
  { log, open }: RestoreDeps,
  { backup, manifest, seal, dataDir, signal }: RestoreRequest,
  staged: string,
): Promise<AuditedCopy> => {
  await rm(staged, { recursive: true, force: true });
  await mkdir(staged, { mode: 0o700 });
  try {
    await syncFolder(dataDir);
    const files = manifest.files.filter(({ path }) => path.startsWith(PREFIX));
    await eachAtOnce(files, COPIES_AT_ONCE, async (file) => {
      signal.throwIfAborted();
      await copyOne(backup, staged, file);
    });
    await syncFolders(staged);
    const { log_id } = manifest.log;
    return await auditCopy({ open, path: join(staged, log), seal, log_id, signal });
  } catch (error) {
    await rm(staged, { recursive: true, force: true });
    throw error;
  }
};

/**
 * Copies a backup into a data folder, and audits the log against the backup's seal. Until all is in its
 * place there is the staging folder, with which no service starts. An error or an abort before that leaves
 * the folder empty.
 */
export const restoreBackup = async (deps: RestoreDeps, request: RestoreRequest): Promise<AuditedCopy> => {
  const staged = join(request.dataDir, deps.staging);
  const audited = await stage(deps, request, staged);
  await moveIn(staged, request.dataDir, deps.log);
  await rm(staged, { recursive: true });
  await syncFolder(request.dataDir);
  return audited;
};

/** What a folder holds beside what is named in `harmless`; nothing when it is not there. */
export const contentOf = async (folder: string, harmless: readonly string[]): Promise<readonly string[]> =>
  ((await absentAsUndefined(readdir(folder))) ?? []).filter((name) => !harmless.includes(name)).sort();

/** Whether one folder lies in the other, or is it. */
export const isWithin = (folder: string, outer: string): boolean => {
  if (folder === outer) return true;
  const parent = dirname(folder);
  return parent !== folder && isWithin(parent, outer);
};
