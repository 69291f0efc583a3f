import { CommanderError } from 'commander';
import { EXIT } from './cli/exitCodes.ts';
import { quireProgram } from './cli/program.ts';

try {
  await quireProgram().parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.wrongUsage;
}
