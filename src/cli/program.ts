import { Command } from 'commander';
import { addAudit } from './audit.ts';
import { addBackup } from './backup.ts';
import { addDoctor } from './doctor.ts';
import { addEvents } from './events.ts';
import { addEval } from './documents/eval.ts';
import { addExtract } from './documents/extract.ts';
import { addFx } from './fx.ts';
import { addKeys } from './keys.ts';
import { addPayments } from './payments.ts';
import { addPricing } from './pricing.ts';
import { addProjections } from './projections.ts';
import { addRestore } from './restore.ts';
import { addSeal } from './seal.ts';
import { addSecrets } from './secrets.ts';
import { addServe } from './serve.ts';
import { addToMarkdown } from './documents/toMarkdown.ts';
import { addTrain } from './documents/train.ts';

/** A command inherits how the program ends only when it is made after it; these are made already. */
const endAlike = (command: Command): void => {
  command.exitOverride();
  for (const one of command.commands) endAlike(one);
};

/** The `quire` command with all that it can do; it throws CommanderError instead of ending the process. */
export const quireProgram = (): Command => {
  const program = new Command('quire')
    .description('Document extraction with event-sourced credit billing')
    .showHelpAfterError('(add --help to see the options)')
    .addHelpText(
      'after',
      '\nConfiguration comes from the environment, as for the service: see README.\nExit ' +
        'codes: 0 done, 1 failed, 2 wrong usage.',
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
  addSecrets(program);
  addAudit(program);
  addSeal(program);
  addDoctor(program);
  addBackup(program);
  addRestore(program);
  endAlike(program);
  return program;
};
