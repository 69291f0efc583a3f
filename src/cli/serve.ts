import type { Command } from 'commander';

/** `quire serve`: the service, as `npm start` runs it. */
export const addServe = (program: Command): void => {
  program
    .command('serve')
    .description('start the service')
    .action(async () => {
      await import('../main.ts');
    });
};
