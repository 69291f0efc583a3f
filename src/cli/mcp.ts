import { InvalidArgumentError, type Command } from 'commander';
import { clientConfigFrom } from '../clientConfig.ts';
import { environmentOf } from '../config.ts';
import { command, type Output } from './output.ts';

interface McpOptions {
  readonly http?: boolean;
  readonly host: string;
  readonly port: number;
}

const PORT = 8765;
const PORT_MAX = 65_535;

const portGiven = (text: string): number => {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > PORT_MAX) throw new InvalidArgumentError('Give a port, 0 to 65535.');
  return port;
};

const run = async (output: Output, { http = false, host, port }: McpOptions): Promise<void> => {
  // Loaded here, because no other command needs it.
  const { runOverHttp, runOverStdio } = await import('../mcp/runMcp.ts');
  const config = clientConfigFrom(environmentOf());
  await (http ? runOverHttp(config, { host, port }, output) : runOverStdio(config, output));
};

/** `quire mcp`. */
export const addMcp = (program: Command): void => {
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
