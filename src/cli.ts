import { Command, CommanderError } from 'commander';
import { addAudit } from './cli/audit.ts';
import { addEvents } from './cli/events.ts';
import { addFx } from './cli/fx.ts';
import { addProjections } from './cli/projections.ts';
import { addServe } from './cli/serve.ts';

const WRONG_USAGE = 2;

const program = new Command('quire')
  .description('Document extraction with event-sourced credit billing')
  .showHelpAfterError('(add --help for what can be given)')
  .addHelpText(
    'after',
    '\nConfiguration comes from the environment, the same as the service has: see README.\nExit codes: 0 done, 1 failed, 2 wrong usage.',
  )
  .exitOverride();

addServe(program);
addProjections(program);
addEvents(program);
addFx(program);
addAudit(program);

/** A command inherits how the program ends only when it is made after it; these are made already. */
const endAlike = (command: Command): void => {
  command.exitOverride();
  for (const one of command.commands) endAlike(one);
};
endAlike(program);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : WRONG_USAGE;
}
