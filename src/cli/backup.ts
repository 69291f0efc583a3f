import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Finding } from '../audit/findings.ts';
import {
  damageIn,
  type Manifest,
  MANIFEST,
  MANIFEST_SUM,
  type MissingObject,
  readManifest,
} from '../backup/files.ts';
import { checkBackup, type CheckedBackup, TornRestore } from '../backup/restoreBackup.ts';
import { OperatorError } from '../clientConfig.ts';
import { type AsJson, command, grouped, json, type Output, sizeText } from './terminal.ts';
import { codeOf } from '../../domain/kernel/json.ts';
import { type MadeBackup, partialPrefix } from '../backup/makeBackup.ts';
import { backUp, copyLogBetween, restore, verifyBackup } from '../backup/backup.ts';
import { configFrom } from '../config.ts';
import { LogNotCopied } from '../../domain/ports/services.ts';

const SHOWN = 20;
/** What a backup is, in two lines. */
const backupText = (folder: string, { made_at, log, objects, files }: Manifest): string => {
  const size = sizeText(files.reduce((sum, { bytes }) => sum + bytes, 0));
  const kept = objects === null ? 'objects are in S3 and not in it' : `${grouped(objects.count)} objects`;
  return (
    `${folder}: backup of ${made_at}, ${size}\n` +
    `log up to position ${log.position ?? '- (empty)'}: ${grouped(log.events)} events in ` +
    `${grouped(log.streams)} streams; ${kept}\n`
  );
};

const ENCRYPTION_SECRET = 'data/encryption-secret';

/** What opens the secrets that a backup holds, and what is lost without it. */
const keyText = ({ files }: Pick<Manifest, 'files'>): string => {
  const lost =
    'without it own keys of saved configs have to be published again, secrets of webhooks to be rotated, and ' +
    'work that waits with an own key or a password fails';
  return files.some(({ path }) => path === ENCRYPTION_SECRET)
    ? 'The backup holds encryption-secret, the key that the service made itself: it opens secrets of webhooks and of ' +
        `work that waits, so keep the backup private. What FIELD_ENCRYPTION_KEY sealed needs that key: ${lost}.\n`
    : `The backup does not hold the key that sealed the secrets in it, FIELD_ENCRYPTION_KEY: ${lost}.\n`;
};

const listed = (lines: readonly string[]): string => {
  const more = lines.length - SHOWN;
  const shown = lines.slice(0, SHOWN).map((line) => `  ${line}\n`);
  return `${shown.join('')}${more > 0 ? `  … and ${grouped(more)} more\n` : ''}`;
};

/** Objects that are not there, and what that means; empty when all are. */
const missingText = (missing: readonly MissingObject[]): string =>
  missing.length === 0
    ? ''
    : `${grouped(missing.length)} objects that events refer to were missing or changed in the data folder:\n${listed(
        missing.map(({ key, why, stream }) => `${key}: ${why} (${stream})`),
      )}`;

const placed = ({ message, stream, revision, position }: Finding): string => {
  const at = position === undefined ? '' : `, position ${position}`;
  return `${message}${stream === undefined ? '' : ` (${stream} revision ${revision ?? '-'}${at})`}`;
};

/** What is wrong with an audited log, in one sentence; undefined: nothing. `what`: the name of the log. */
const logComplaint = (what: string, total: number, findings: readonly Finding[]): string | undefined => {
  const [first] = damageIn(findings);
  if (first !== undefined) {
    const { stream, revision, position } = first;
    const where =
      stream === undefined
        ? ''
        : `, first in ${stream} at revision ${revision ?? '-'}, position ${position ?? '-'}`;
    return `${what} is damaged${where}: see above.`;
  }
  if (total === 0) return undefined;
  return `${what} is whole, and its audit has ${grouped(total)} findings: see above, and docs/how-to/audit.md.`;
};

/** The findings of the log's audit; empty if nothing is wrong. */
const findingsText = (total: number, findings: readonly Finding[]): string =>
  total === 0
    ? ''
    : `The audit of the log found ${grouped(total)} things that are wrong; ` +
      `\`quire audit --log-only\` shows all:\n${listed(findings.map(placed))}`;

/** The backup, when it is whole. Throws OperatorError with all that is wrong with it. */
const wholeOrRefuse = (folder: string, checked: CheckedBackup): Extract<CheckedBackup, { kind: 'whole' }> => {
  if (checked.kind === 'whole') return checked;
  throw new OperatorError(`${folder} is not a whole backup:\n${listed(checked.complaints).trimEnd()}`);
};

interface BackupOptions extends AsJson {
  readonly force?: boolean;
}

/** The backup at a place; undefined if there is none that can be read. */
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

/** Leftovers of killed backups; one that replaces another clears the last two itself. */
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

interface CopyOptions extends AsJson {
  readonly from?: string;
  readonly to?: string;
  readonly oneByOne?: boolean;
}

/** Told on a line of its own so seldom that a log of an evening's copy can be read. */
const TOLD_EVERY_MS = 10_000;

/** Tells how many events are copied. */
const copyProgress = ({ note, isTerminal }: Pick<Output, 'note' | 'isTerminal'>) => {
  let last = performance.now();
  return (events: number): void => {
    if (isTerminal) note(`\r${grouped(events)} events\u001b[K`);
    if (isTerminal || performance.now() - last < TOLD_EVERY_MS) return;
    last = performance.now();
    note(`${grouped(events)} events\n`);
  };
};

const serverOf = (url: string): string => configFrom({ EVENTSTORE_URL: url }).eventStoreUrl ?? url;

/** A folder as it is, the URL of a server as the client takes it; left out, what the configuration names. */
const placeOf = (given: string | undefined, otherwise: string | undefined): string => {
  const place = given ?? otherwise;
  if (place === undefined)
    throw new OperatorError('Name where to copy to, with --to or in EVENTSTORE_URL.', 2);
  return place.includes('://') ? serverOf(place) : resolve(place);
};

const runCopy = async (output: Output, options: CopyOptions): Promise<void> => {
  const { from, to, oneByOne = false, json: asJson } = options;
  const { dataDir, eventStoreUrl, s3 } = configFrom();
  const places = { s3, from: placeOf(from, dataDir), to: placeOf(to, eventStoreUrl), oneByOne };
  const onProgress = copyProgress(output);
  const copied = await copyLogBetween(places, { onProgress, signal: output.signal });
  if (output.isTerminal) output.note('\r\u001b[K');
  const { events, found, log_digest, objects } = copied;
  const there = found === 0 ? '' : `, ${grouped(found)} of them by an earlier copy`;
  await output.out(
    asJson === true
      ? json(copied)
      : `${grouped(events)} events are copied${there}. Digest over all of them: ${log_digest}\n`,
  );
  output.note(
    objects === null
      ? 'Objects were left where they are: with S3_ENDPOINT and its fellows set they are copied too.\n'
      : `${grouped(objects)} objects are copied.\n`,
  );
  output.note(
    'The copy has the identity, hashes and seals of the log. Check it with `quire audit --log-only`, take the ' +
      'keys along (docs/how-to/move-to-servers.md), and do not start a service on the old log again.\n',
  );
};

/** `quire log …`. */
export const addLog = (program: Command): void => {
  program
    .command('log')
    .description('the event log as a whole')
    .command('copy')
    .description('copy the log from a data folder to a server, or back, with its identity and seals')
    .option('--from <place>', 'a data folder, or the URL of a server; left out: DATA_DIR')
    .option(
      '--to <place>',
      'a server, or an empty folder; left out: EVENTSTORE_URL, which hides the password',
    )
    .option('--one-by-one', 'wait for each append to a server, for one that does not keep their order')
    .option('--json', 'print a line of JSON')
    .addHelpText(
      'after',
      '\nStop the service first: nobody may write to the source. The target has to be empty; a copy to a server ' +
        'that was\ncut short goes on from what is there. Read models are built anew from the copy.',
    )
    .action(command(runCopy));
};

interface RestoreOptions extends AsJson {
  readonly dataDir?: string;
}

const runRestore = async (
  { out, note, signal }: Output,
  folder: string,
  { dataDir: given, json: asJson }: RestoreOptions,
): Promise<void> => {
  const backup = resolve(folder);
  const dataDir = given === undefined ? configFrom().dataDir : resolve(given);
  const { manifest, seal } = wholeOrRefuse(folder, await checkBackup(backup, signal));
  const audited = await restore({ backup, manifest, seal, dataDir, signal }).catch((error: unknown) => {
    throw error instanceof TornRestore ? new OperatorError(error.message) : error;
  });
  const { files: _, ...summary } = manifest;
  const done = { data_dir: dataDir, ...summary, findings: audited.findings };
  await out(asJson === true ? json(done) : `${backupText(folder, manifest)}Restored into ${dataDir}.\n`);
  note(missingText(manifest.missing) + findingsText(audited.total, audited.findings));
  const complaint = logComplaint('its log', audited.total, audited.findings);
  if (complaint !== undefined) throw new OperatorError(`It was restored as it was backed up; ${complaint}`);
  note(
    'Start the service on it: read models are built from the log. Use the FIELD_ENCRYPTION_KEY that was in use when ' +
      `the backup was made. ${keyText(manifest)}`,
  );
};

/** `quire restore …`. */
export const addRestore = (program: Command): void => {
  program
    .command('restore')
    .argument('<backup>', 'a folder that `quire backup` made')
    .description('restore a backup into an empty data folder')
    .option('--data-dir <folder>', 'instead of DATA_DIR')
    .option('--json', 'print a line of JSON')
    .addHelpText(
      'after',
      '\nEvery file is compared with its digest first; then the log is audited and compared with the ' +
        'seal of the backup.\nA data folder that is not empty is not touched.',
    )
    .action(command(runRestore));
};
