import { CommanderError } from 'commander';
import { quireProgram } from './cli/program.ts';

const WRONG_USAGE = 2;

try {
  await quireProgram().parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : WRONG_USAGE;
}
