import { existsSync } from 'node:fs';
import { readFile, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { partialPrefix, type MadeBackup } from '../backup/makeBackup.ts';
import { MANIFEST, MANIFEST_SUM, readManifest, type Manifest } from '../backup/manifest.ts';
import { backUp, verifyBackup } from '../composition/backupParts.ts';
import { configFrom } from '../config.ts';
import { OperatorError } from '../operator/protocol.ts';
import { backupText, findingsText, missingText, wholeOrRefuse } from './backupText.ts';
import { json, runCommand, type Output } from './output.ts';

interface BackupOptions {
  readonly force?: boolean;
  readonly json?: boolean;
}

/** What the backup at a place is; undefined where there is none that can be read. */
const manifestAt = async (target: string): Promise<Manifest | undefined> => {
  const text = await readFile(join(target, MANIFEST), 'utf8').catch(() => undefined);
  const sum = await readFile(join(target, MANIFEST_SUM), 'utf8').catch(() => undefined);
  const read = text === undefined ? undefined : readManifest(text, sum);
  return read?.kind === 'manifest' ? read.manifest : undefined;
};

/** The backup that --force replaces; undefined where the place is free. */
const replacedBy = async (target: string, force: boolean): Promise<Manifest | undefined> => {
  if (!existsSync(target)) return undefined;
  const earlier = await manifestAt(target);
  if (earlier === undefined)
    throw new OperatorError(
      `${target} exists and is no backup: name a folder that is not there yet, like ${join(target, 'quire-2026-01-31')}.`,
    );
  if (!force)
    throw new OperatorError(
      `${target} holds the backup of ${earlier.made_at}. Name another folder, or replace it with --force.`,
    );
  return earlier;
};

/** What is left of backups that were killed. */
const leftovers = async (target: string): Promise<readonly string[]> =>
  (await readdir(dirname(target)).catch(() => [])).filter((name) => name.startsWith(partialPrefix(target)));

const FULL = ['ENOSPC', 'EDQUOT'];

/** A disk that is full or may not be written is for the operator to mend. */
const explained = (error: unknown, target: string): unknown => {
  if (!(error instanceof Error) || error instanceof OperatorError) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (FULL.includes(code) || error.message.includes('disk is full'))
    return new OperatorError(
      `There is no room for ${target}: nothing is left of it. Make room on that disk.`,
    );
  if (/^E[A-Z]+$/.test(code)) return new OperatorError(`${error.message}. Nothing is left of ${target}.`);
  return error.message.startsWith('the event log could not be copied')
    ? new OperatorError(`${error.message}. Nothing is left of ${target}.`)
    : error;
};

/** Makes the new one first: until it is whole, the earlier one is in its place. */
const makeIn = async (
  target: string,
  earlier: Manifest | undefined,
  signal: AbortSignal,
): Promise<MadeBackup> => {
  const config = configFrom();
  if (earlier === undefined) return backUp(config, target, signal);
  const fresh = join(dirname(target), `.${basename(target)}.new`);
  const old = join(dirname(target), `.${basename(target)}.old`);
  await rm(fresh, { recursive: true, force: true });
  const made = await backUp(config, fresh, signal);
  await rm(old, { recursive: true, force: true });
  await rename(target, old);
  await rename(fresh, target);
  await rm(old, { recursive: true });
  return made;
};

const run = async (
  folder: string,
  { force = false, json: asJson, signal }: BackupOptions & { readonly signal: AbortSignal },
  { out, note }: Output,
): Promise<void> => {
  const target = resolve(folder);
  const earlier = await replacedBy(target, force);
  for (const name of await leftovers(target))
    note(
      `${join(dirname(target), name)} is left of a backup that was cut short, or is running: remove it.\n`,
    );
  const { manifest, findings } = await makeIn(target, earlier, signal).catch((error: unknown) => {
    throw explained(error, target);
  });
  const { files: _, ...summary } = manifest;
  await out(asJson === true ? json({ backup: target, ...summary }) : backupText(target, manifest));
  if (earlier !== undefined) note(`It replaced the backup of ${earlier.made_at}.\n`);
  note('Not in it: the environment. Keep FIELD_ENCRYPTION_KEY apart from it, and not only here.\n');
  note(missingText(manifest.missing) + findingsText(manifest.log.findings, findings));
  if (manifest.missing.length + manifest.log.findings > 0)
    throw new OperatorError('The backup was made, of a folder that is damaged: see above.');
};

const verify = async (
  folder: string,
  { json: asJson, signal }: Pick<BackupOptions, 'json'> & { readonly signal: AbortSignal },
  { out, note }: Output,
): Promise<void> => {
  const { manifest, audited } = await verifyBackup(resolve(folder), wholeOrRefuse, signal);
  const { files, ...summary } = manifest;
  await out(
    asJson === true
      ? json({ ...summary, files: files.length, findings: audited.findings })
      : `${backupText(folder, manifest)}All ${files.length} files are as they were made.\n`,
  );
  note(missingText(manifest.missing) + findingsText(audited.total, audited.findings));
  if (audited.total > 0) throw new OperatorError('The log in the backup is damaged: see above.');
};

/** `quire backup …`. */
export const addBackup = (program: Command): void => {
  const backup = program
    .command('backup')
    .argument('<folder>', 'a new folder, not in the data folder')
    .description('back up the embedded data folder, beside the running service or without it')
    .option('--force', 'replace the backup that is there, when the new one is whole')
    .option('--json', 'print a line of JSON')
    .addHelpText(
      'after',
      '\nIn it are the event log as it is at one moment, all objects, and the secret of upload URLs. Read models\nare left out: the service builds them from the log. The folder gets its name when it is whole and on\nthe disk. The log is audited; exit code 1 when something in it or of it is wrong.',
    )
    .action((folder: string, options: BackupOptions) =>
      runCommand((signal, output) => run(folder, { ...options, signal }, output)),
    );
  backup
    .command('verify')
    .argument('<folder>', 'a backup')
    .description('compare every file of a backup with its digest, and audit its log')
    .option('--json', 'print a line of JSON')
    .action((folder: string, _: unknown, command: Command) =>
      runCommand((signal, output) => verify(folder, { ...command.optsWithGlobals(), signal }, output)),
    );
};
