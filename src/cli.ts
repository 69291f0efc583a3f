import { CommanderError } from 'commander';
import { EXIT } from './cli/terminal.ts';
import { quireProgram } from './cli/program.ts';

// A reader that has gone (`| head`) ends it quietly.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? EXIT.done : EXIT.failed);
});
try {
  await quireProgram().parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.wrongUsage;
}
