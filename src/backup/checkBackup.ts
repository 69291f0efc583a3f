import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseSeal, type Seal } from '../audit/seals/seal.ts';
import { digestOf, eachAtOnce, filesIn } from './files.ts';
import { absentAsUndefined } from '../../domain/kernel/json.ts';
import { MANIFEST, MANIFEST_SUM, readManifest, SEAL, type BackedUpFile, type Manifest } from './manifest.ts';

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
