import { Command } from 'commander';
import { VERSION } from '../version.ts';
import { NO_COLOUR, paintOn } from './colour.ts';
import { addCompletion } from './completion/completion.ts';
import { addAudit } from './audit.ts';
import { addBackup } from './backup/backup.ts';
import { addDoctor } from './doctor.ts';
import { addEvents } from './events.ts';
import { addEval } from './documents/eval.ts';
import { addExtract } from './documents/extract.ts';
import { addFx } from './fx.ts';
import { addKeys } from './access/keys.ts';
import { addMcp } from './mcp.ts';
import { addPayments } from './payments.ts';
import { addPricing } from './pricing.ts';
import { addProjections } from './projections.ts';
import { addRestore } from './backup/restore.ts';
import { addSeal } from './seal.ts';
import { addSignInLink } from './access/signInLink.ts';
import { addSecrets } from './access/secrets.ts';
import { addServe } from './serve.ts';
import { addToMarkdown } from './documents/toMarkdown.ts';
import { addTrain } from './documents/train.ts';

/** A command inherits how the program ends and looks only when it is made after it; these are made already. */
const endAlike = (command: Command): void => {
  const [onOut, onErr] = [paintOn(process.stdout), paintOn(process.stderr)];
  command
    .exitOverride()
    .configureHelp({ ...command.configureHelp(), styleTitle: (text) => onOut('heading', text) })
    .configureOutput({ outputError: (text, write) => write(onErr('bad', text)) });
  for (const one of command.commands) endAlike(one);
};

/** The `quire` command with all that it can do; it throws CommanderError instead of ending the process. */
export const quireProgram = (): Command => {
  const program = new Command('quire')
    .description('Document extraction with event-sourced credit billing')
    .version(VERSION, '-V, --version', 'print the version')
    .option(NO_COLOUR, 'no colours; the same as the variable NO_COLOR')
    .showHelpAfterError('(add --help to see the options)')
    .addHelpText(
      'after',
      '\nConfiguration comes from the environment, as for the service: see README.\nExit ' +
        'codes: 0 done, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C.',
    );
  addServe(program);
  addExtract(program);
  addToMarkdown(program);
  addTrain(program);
  addEval(program);
  addProjections(program);
  addEvents(program);
  addFx(program);
  addPricing(program);
  addPayments(program);
  addKeys(program);
  addSignInLink(program);
  addSecrets(program);
  addAudit(program);
  addSeal(program);
  addDoctor(program);
  addBackup(program);
  addRestore(program);
  addMcp(program);
  addCompletion(program);
  endAlike(program);
  return program;
};
