import { Command } from 'commander';
import { clientConfigFrom } from '../clientConfig.ts';
import { environmentOf } from '../config.ts';
import { command, NO_COLOUR, type Output, paintOn, portGiven } from './terminal.ts';
import { VERSION } from '../version.ts';
import { addCompletion } from './completion.ts';
import { addAudit } from './audit.ts';
import { addBackup, addLog, addRestore } from './backup.ts';
import { addDoctor } from './doctor.ts';
import { addPayments } from './payments.ts';
import { addArchive } from './archive.ts';
import { addEvents, addFx, addPricing, addSeal, addExport } from './records.ts';
import { addEval, addTrain } from './train.ts';
import { addMonthExport } from './export.ts';
import { addExtract } from './extract.ts';
import { addKeys, addSecrets, addSignInLink, addErasing, addVault } from './access.ts';
import { addProjections } from './projections.ts';
import { addSorting } from './sorting.ts';
import { addToMarkdown } from './toMarkdown.ts';
import { addWatch } from './watch.ts';

interface McpOptions {
  readonly http?: boolean;
  readonly host: string;
  readonly port: number;
}

const PORT = 8765;
const run = async (output: Output, { http = false, host, port }: McpOptions): Promise<void> => {
  // Loaded here, because no other command needs it.
  const { runOverHttp, runOverStdio } = await import('../mcp/runMcp.ts');
  const config = clientConfigFrom(environmentOf());
  await (http ? runOverHttp(config, { host, port }, output) : runOverStdio(config, output));
};

/** `quire mcp`. */
const addMcp = (program: Command): void => {
  program
    .command('mcp')
    .description('serve a Quire service to agents, by the Model Context Protocol')
    .option('--http', 'streamable HTTP instead of stdin and stdout')
    .option('--host <address>', 'with --http: where it listens', '127.0.0.1')
    .option('--port <number>', 'with --http: its port; 0 picks a free one', portGiven, PORT)
    .addHelpText(
      'after',
      '\nTools: convert, extract, propose_schema, quote, balance, and upload with --http. QUIRE_URL names the ' +
        'service (http://127.0.0.1:8080),\nQUIRE_API_KEY the key of the agent, QUIRE_TENANT its tenant. ' +
        'With --http each caller sends its own key:\nAuthorization: Bearer <key>.',
    )
    .action(command(run));
};

/** `quire serve`: the service, as `npm start` runs it. */
const addServe = (program: Command): void => {
  program
    .command('serve')
    .description('start the service')
    .action(async () => {
      await import('../main.ts');
    });
};

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
      '\nConfiguration comes from the environment, as for the service: see docs/reference/configuration.md.\nExit ' +
        'codes: 0 done, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C.',
    );
  addServe(program);
  addExtract(program);
  addToMarkdown(program);
  addSorting(program);
  addTrain(program);
  addEval(program);
  addProjections(program);
  addEvents(program);
  const tenants = program.command('tenants').description('what there is of a tenant');
  addExport(tenants);
  addErasing(tenants);
  addFx(program);
  addPricing(program);
  addPayments(program);
  addMonthExport(program);
  addKeys(program);
  addSignInLink(program);
  addSecrets(program);
  addVault(program);
  addAudit(program);
  addSeal(program);
  addArchive(program);
  addDoctor(program);
  addBackup(program);
  addLog(program);
  addRestore(program);
  addMcp(program);
  addWatch(program);
  addCompletion(program);
  endAlike(program);
  return program;
};
