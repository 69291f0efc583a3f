import { existsSync } from 'node:fs';
import { readFile, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { codeOf } from '../../../domain/kernel/json.ts';
import { damageIn } from '../../backup/damage.ts';
import { partialPrefix, type MadeBackup } from '../../backup/makeBackup.ts';
import { MANIFEST, MANIFEST_SUM, readManifest, type Manifest } from '../../backup/manifest.ts';
import { backUp, verifyBackup } from '../../composition/parts/backupParts.ts';
import { configFrom } from '../../config.ts';
import { LogNotCopied } from '../../../domain/ports/services.ts';
import { OperatorError } from '../../operator/protocol.ts';
import { backupText, findingsText, keyText, logComplaint, missingText, wholeOrRefuse } from './backupText.ts';
import { command, json, type AsJson, type Output } from '../output.ts';

interface BackupOptions extends AsJson {
  readonly force?: boolean;
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
      `${target} exists and is not a backup: name a folder that does not exist yet, like ` +
        `${join(target, 'quire-2026-01-31')}.`,
    );
  if (!force)
    throw new OperatorError(
      `${target} holds the backup of ${earlier.made_at}. Name another folder, or replace it with --force.`,
    );
  return earlier;
};

/** Where a backup that replaces another is made, and where that one waits until it is in place. */
const freshOf = (target: string): string => join(dirname(target), `.${basename(target)}.new`);
const oldOf = (target: string): string => join(dirname(target), `.${basename(target)}.old`);

/** What is left of backups that were killed; one that replaces another clears the last two itself. */
const leftovers = async (target: string, replaces: boolean): Promise<readonly string[]> => {
  const partial = [target, freshOf(target)].map(partialPrefix);
  const whole = replaces ? [] : [freshOf(target), oldOf(target)].map((path) => basename(path));
  return (await readdir(dirname(target)).catch(() => [])).filter(
    (name) => whole.includes(name) || partial.some((prefix) => name.startsWith(prefix)),
  );
};

const FULL = ['ENOSPC', 'EDQUOT'];

/** A disk that is full or may not be written is for the operator to mend. */
const explained = (error: unknown, target: string, earlier: Manifest | undefined): unknown => {
  if (!(error instanceof Error) || error instanceof OperatorError) return error;
  const code = codeOf(error);
  const left =
    earlier === undefined
      ? `Nothing is left of ${target}.`
      : `${target} still holds the backup of ${earlier.made_at}.`;
  const isFull = error instanceof LogNotCopied ? error.isFull : FULL.includes(code);
  if (isFull) return new OperatorError(`There is no room for ${target}: make room on that disk. ${left}`);
  const isKnown = error instanceof LogNotCopied || /^E[A-Z]+$/.test(code);
  return isKnown ? new OperatorError(`${error.message}. ${left}`) : error;
};

/** Makes the new one first: until it is whole, the earlier one is in its place. */
const makeIn = async (
  target: string,
  earlier: Manifest | undefined,
  signal: AbortSignal,
): Promise<MadeBackup> => {
  const config = configFrom();
  if (earlier === undefined) return backUp(config, target, signal);
  const [fresh, old] = [freshOf(target), oldOf(target)];
  await rm(fresh, { recursive: true, force: true });
  const made = await backUp(config, fresh, signal);
  await rm(old, { recursive: true, force: true });
  await rename(target, old);
  await rename(fresh, target).catch(async (error: unknown) => {
    await rename(old, target);
    throw error;
  });
  await rm(old, { recursive: true });
  return made;
};

const runBackup = async (
  { out, note, signal }: Output,
  folder: string,
  { force = false, json: asJson }: BackupOptions,
): Promise<void> => {
  const target = resolve(folder);
  const earlier = await replacedBy(target, force);
  for (const name of await leftovers(target, earlier !== undefined))
    note(
      `${join(dirname(target), name)} is left of a backup that was interrupted or still runs: ` +
        'remove it once this backup is complete.\n',
    );
  const { manifest, findings } = await makeIn(target, earlier, signal).catch((error: unknown) => {
    throw explained(error, target, earlier);
  });
  const { files: _, ...summary } = manifest;
  await out(asJson === true ? json({ backup: target, ...summary }) : backupText(target, manifest));
  if (earlier !== undefined) note(`It replaced the backup of ${earlier.made_at}.\n`);
  note(
    `${keyText(manifest)}The environment is not included: keep FIELD_ENCRYPTION_KEY elsewhere, not on this machine ` +
      'alone.\n',
  );
  note(missingText(manifest.missing) + findingsText(manifest.log.findings, findings));
  if (manifest.missing.length > 0)
    throw new OperatorError('The backup was made, but the data folder is damaged: see above.');
  const complaint = logComplaint('its log', manifest.log.findings, findings);
  if (complaint !== undefined) throw new OperatorError(`The backup was made; ${complaint}`);
};

const verify = async (
  { out, note, signal }: Output,
  folder: string,
  { json: asJson }: AsJson,
): Promise<void> => {
  const { manifest, audited } = await verifyBackup(resolve(folder), wholeOrRefuse, signal);
  const { files, ...summary } = manifest;
  await out(
    asJson === true
      ? json({
          ...summary,
          files: files.length,
          damaged: damageIn(audited.findings).length > 0,
          findings: audited.findings,
        })
      : `${backupText(folder, manifest)}All ${files.length} files are unchanged.\n`,
  );
  note(missingText(manifest.missing) + findingsText(audited.total, audited.findings));
  const complaint = logComplaint('The log in the backup', audited.total, audited.findings);
  if (complaint !== undefined) throw new OperatorError(complaint);
};

/** `quire backup …`. */
export const addBackup = (program: Command): void => {
  const backup = program
    .command('backup')
    .argument('<folder>', 'a new folder, not in the data folder')
    .description('back up the embedded data folder, whether the service runs or not')
    .option('--force', 'replace the existing backup once the new one is complete')
    .option('--json', 'print a line of JSON')
    .addHelpText(
      'after',
      '\nA backup holds the event log at one moment, all objects, and the secret of upload URLs. ' +
        'Read models are\nleft out: the service builds them from the log. The folder appears only ' +
        'once the backup is complete and\non the disk. ' +
        'The log is audited; exit code 1 means that something is wrong or missing.',
    )
    .action(command(runBackup));
  backup
    .command('verify')
    .argument('<folder>', 'a backup')
    .description('compare every file of a backup with its digest, and audit its log')
    .option('--json', 'print a line of JSON')
    .action((folder: string, _: unknown, asked: Command) => command(verify)(folder, asked.optsWithGlobals()));
};
