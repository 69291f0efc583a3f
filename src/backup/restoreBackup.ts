import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { auditLog } from '../audit/auditLog.ts';
import { type AuditedLog, parseSeal, type Seal, sealsCheck, ownEventsIn } from '../audit/chains.ts';
import { type Finding, type Findings, findingsKept } from '../audit/findings.ts';
import { absentAsUndefined, LOG_STREAM, SEALS_STREAM } from '../../domain/kernel/json.ts';
import { identityOf } from '../../domain/eventLog/eventLog.ts';
import type { EventFeed, EventStore } from '../../domain/ports/log.ts';
import {
  type BackedUpFile,
  copyDigested,
  DATA,
  digestOf,
  eachAtOnce,
  filesIn,
  MANIFEST,
  type Manifest,
  MANIFEST_SUM,
  type Need,
  objectNeeds,
  readManifest,
  SEAL,
  syncFolder,
  syncFolders,
} from './files.ts';

/** A log that was copied, opened for reading only. */
export interface OpenedLog {
  readonly feed: EventFeed & Pick<EventStore, 'read'>;
  /** Which log the file's header says it is; null where it does not say. */
  readonly headerId: string | null;
  readonly close: () => Promise<void>;
}

export interface AuditedCopy {
  readonly log: AuditedLog;
  /** Which log its first event says it is; null for one that no release with identities has opened. */
  readonly log_id: string | null;
  readonly needs: ReadonlyMap<string, Need>;
  readonly total: number;
  /** The first of each check. */
  readonly findings: readonly Finding[];
}

export interface CopyAudit {
  readonly open: (path: string) => OpenedLog;
  readonly path: string;
  readonly seal?: Seal | undefined;
  /** Of which log the backup was made; undefined where its manifest is older than identities. */
  readonly log_id?: string | null | undefined;
  readonly signal: AbortSignal;
}

const KEEP = 5;

/** The log is the one that was backed up, and its file the one that it was written to. */
const tellOther = (
  findings: Findings,
  log_id: string | null,
  named: Readonly<Record<string, string | null | undefined>>,
): void => {
  for (const [by, due] of Object.entries(named))
    if (due !== undefined && due !== log_id)
      findings.add({
        check: 'seal',
        message: `This is another log than ${by} says.`,
        stream: LOG_STREAM,
        revision: '0',
        expected: due ?? 'a log without a name',
        found: log_id ?? 'a log without a name',
      });
};

/** Audits a copied log, and says which objects its events refer to. Throws when it is aborted. */
export const auditCopy = async ({
  open,
  path,
  seal,
  log_id: due,
  signal,
}: CopyAudit): Promise<AuditedCopy> => {
  const { feed, headerId, close } = open(path);
  const [needs, findings] = [objectNeeds(), findingsKept(KEEP)];
  try {
    const { seals, origins } = await ownEventsIn(feed);
    const own = seals.map((made) => ({ seal: made.seal, from: SEALS_STREAM }));
    const given = seal === undefined ? own : [...own, { seal, from: 'the backup' }];
    const sealed = sealsCheck(findings, given);
    const watchers = [needs.watcher, sealed.watcher];
    const log_id = (await identityOf(feed)) ?? null;
    tellOther(findings, log_id, { 'the backup': due, "the file's header": headerId ?? undefined });
    const log = await auditLog({ feed, findings, dense: true, origins, watchers, signal });
    sealed.finish(log);
    return {
      log,
      log_id,
      needs: needs.needs(),
      total: findings.total(),
      findings: findings.result().findings,
    };
  } finally {
    await close();
  }
};

/** A backup whose every file is as it was made, or what is wrong with it, in sentences. */
export type CheckedBackup =
  | { readonly kind: 'whole'; readonly manifest: Manifest; readonly seal: Seal }
  | { readonly kind: 'broken'; readonly complaints: readonly string[] };

const READS_AT_ONCE = 4;

const broken = (...complaints: readonly string[]): CheckedBackup => ({ kind: 'broken', complaints });

const textIn = (folder: string, name: string): Promise<string | undefined> =>
  absentAsUndefined(readFile(join(folder, name), 'utf8'));

const complaintOf = async (folder: string, due: BackedUpFile): Promise<string | undefined> => {
  const found = await digestOf(join(folder, due.path));
  if (found === undefined) return `${due.path} is missing`;
  if (found.bytes !== due.bytes) return `${due.path} has ${found.bytes} bytes where ${due.bytes} belong`;
  return found.sha256 === due.sha256 ? undefined : `${due.path} was changed: its SHA-256 is another`;
};

const strangersIn = async (folder: string, { files }: Manifest): Promise<readonly string[]> => {
  const known = new Set([MANIFEST, MANIFEST_SUM, ...files.map(({ path }) => path)]);
  const strangers: string[] = [];
  for await (const path of filesIn(folder)) if (!known.has(path)) strangers.push(path);
  return strangers.map((path) => `${path} is not part of the backup`);
};

/**
 * Compares every file with its digest in the manifest, and the manifest with its own. Changes nothing.
 * Throws when it is aborted.
 */
export const checkBackup = async (folder: string, signal?: AbortSignal): Promise<CheckedBackup> => {
  const text = await textIn(folder, MANIFEST);
  if (text === undefined)
    return broken(`there is no ${MANIFEST} in ${folder}: it is no backup, or one that was cut short`);
  const read = readManifest(text, await textIn(folder, MANIFEST_SUM));
  if (read.kind === 'unreadable') return broken(read.reason);
  const { manifest } = read;
  const complaints: string[] = [];
  await eachAtOnce(manifest.files, READS_AT_ONCE, async (file) => {
    signal?.throwIfAborted();
    const complaint = await complaintOf(folder, file);
    if (complaint !== undefined) complaints.push(complaint);
  });
  complaints.push(...(await strangersIn(folder, manifest)));
  if (complaints.length > 0) return broken(...complaints.sort());
  return { kind: 'whole', manifest, seal: parseSeal((await textIn(folder, SEAL)) ?? '') };
};

interface RestoreDeps {
  /** From its folder: put in place last, because a folder is a data folder only once it has its log. */
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

/** The contents of a folder except the names in `harmless`; empty if it does not exist. */
export const contentOf = async (folder: string, harmless: readonly string[]): Promise<readonly string[]> =>
  ((await absentAsUndefined(readdir(folder))) ?? []).filter((name) => !harmless.includes(name)).sort();

/** Whether one folder lies in the other, or is it. */
export const isWithin = (folder: string, outer: string): boolean => {
  if (folder === outer) return true;
  const parent = dirname(folder);
  return parent !== folder && isWithin(parent, outer);
};
