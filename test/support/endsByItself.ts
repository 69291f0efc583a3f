import '../../engine/test/support/tempSpace.ts';
import { closeShared } from './processEnd.ts';

/** How long the process may take to end after its last spec, ms. */
const PATIENCE_MS = 30_000;

/**
 * Closes what the specs shared. Then ends a run that a spec has left something open in, and says what: a timer,
 * a socket, a child process. Without it the run would stand there with every spec passed.
 */
export const mochaGlobalTeardown = async (): Promise<void> => {
  await closeShared();
  setTimeout(() => {
    const left = process.getActiveResourcesInfo().join(', ');
    console.error(
      `\nThe specs have ended, and the process has not: ${left} left open. Run the files one by one to find which.`,
    );
    process.exit();
  }, PATIENCE_MS).unref();
};
