import { Command } from 'commander';
import { addAudit } from './cli/audit.ts';

const program = new Command('quire')
  .description('Document extraction with event-sourced credit billing')
  .showHelpAfterError('(`quire --help` lists the commands)');

program
  .command('serve')
  .description('start the service; configuration comes from the environment (see README)')
  .action(async () => {
    await import('./main.ts');
  });

addAudit(program);

await program.parseAsync();
