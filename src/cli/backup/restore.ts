import { resolve } from 'node:path';
import type { Command } from 'commander';
import { checkBackup } from '../../backup/checkBackup.ts';
import { TornRestore } from '../../backup/restoreBackup.ts';
import { restore } from '../../composition/parts/backupParts.ts';
import { configFrom } from '../../config.ts';
import { OperatorError } from '../../operator/protocol.ts';
import { backupText, findingsText, keyText, logComplaint, missingText, wholeOrRefuse } from './backupText.ts';
import { command, json, type AsJson, type Output } from '../output.ts';

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
