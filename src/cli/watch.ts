import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { OperatorError, watchConfigFrom } from '../clientConfig.ts';
import { environmentOf } from '../config.ts';
import { command, type Output } from './terminal.ts';

interface WatchOptions {
  readonly config?: string;
  readonly schema?: string;
  readonly mode?: 'fast' | 'standard' | 'robust';
  readonly out?: string;
  readonly since?: string;
  readonly moveTo?: string;
  readonly once?: boolean;
  readonly every: number;
}

const EVERY_SECONDS = 5;

const secondsGiven = (text: string): number => {
  const seconds = Number(text);
  if (!/^\d+$/.test(text) || seconds < 1 || seconds > 3_600)
    throw new InvalidArgumentError('It must be a whole number of seconds, 1 to 3600.');
  return seconds;
};

const dayGiven = (text: string): string => {
  if (!z.iso.date().safeParse(text).success)
    throw new InvalidArgumentError('It must be a day, such as 2026-11-30.');
  return text;
};

const schemaAt = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8');
  } catch {
    throw new OperatorError(`${path}: there is no such file.`, 2);
  }
};

const watch = async (output: Output, source: string, options: WatchOptions): Promise<void> => {
  const { config: config_id, schema: file, mode, once = false, every, ...rest } = options;
  if ((config_id === undefined) === (file === undefined))
    throw new OperatorError('Name a saved config by --config, or a schema by --schema.', 2);
  const asked = {
    ...(config_id === undefined ? {} : { config_id }),
    ...(file === undefined ? {} : { schema: await schemaAt(file) }),
    ...(mode === undefined ? {} : { mode }),
  };
  // Loaded here, because no other command needs it.
  const { runWatch } = await import('../watch/watcher.ts');
  const places = { ...rest, source, out: rest.out, once, everyMs: every * 1_000 };
  await runWatch(watchConfigFrom(environmentOf()), { places, asked }, output);
};

const HELP = `
The result of invoice.pdf is invoice.pdf.json; a document with a result that is not older than
itself is done. A document is billed once, however often the command is stopped or killed; to
have one read again, remove its result after 24 hours or change the document. QUIRE_URL,
QUIRE_API_KEY and QUIRE_TENANT name the service, the key and the tenant; WATCH_S3_ENDPOINT,
WATCH_S3_ACCESS_KEY, WATCH_S3_SECRET_KEY and WATCH_S3_REGION the buckets; WATCH_IMAP_PASSWORD
has the password of the mailbox.`;

/** `quire watch`. */
export const addWatch = (program: Command): void => {
  program
    .command('watch')
    .argument('<source>', 'a folder, s3://<bucket>/<prefix>, or imaps://<user>@<host>/<mailbox>')
    .description('send documents that arrive to a service, and put their results beside them')
    .option('--config <id>', 'the saved config that they are read with')
    .option('--schema <file>', 'instead: a JSON Schema')
    .addOption(new Option('--mode <mode>', 'how thoroughly').choices(['fast', 'standard', 'robust']))
    .option('--out <place>', 'another folder or bucket for the results')
    .option('--since <day>', 'of a mailbox: messages from this day on', dayGiven)
    .option('--move-to <mailbox>', 'of a mailbox: where messages go that are done')
    .option('--once', 'do what lies there, and end')
    .option('--every <seconds>', 'how often it looks', secondsGiven, EVERY_SECONDS)
    .addHelpText('after', HELP)
    .action(command(watch));
};
