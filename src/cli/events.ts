import { InvalidArgumentError, type Command } from 'commander';
import { openLogReader } from '../composition/parts/operatorParts.ts';
import { configFrom } from '../config.ts';
import { exportedEvents, type EventFilter } from '../operator/exportEvents.ts';
import { OperatorError } from '../operator/protocol.ts';
import { replayedStream, replayRow, REPLAY_HEADER } from '../operator/replayStream.ts';
import { json, runCommand, table, type Output } from './output.ts';

const boundary =
  (end: string) =>
  (text: string): string => {
    const full = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T${end}Z` : text;
    const time = Date.parse(full);
    if (Number.isNaN(time))
      throw new InvalidArgumentError('Give a day like 2026-01-31, or an RFC 3339 time.');
    return new Date(time).toISOString();
  };

const wholePosition = (text: string): bigint => {
  if (!/^\d{1,19}$/.test(text)) throw new InvalidArgumentError('Give a whole number.');
  return BigInt(text);
};

const exportEvents = async (filter: EventFilter, signal: AbortSignal, { out }: Output): Promise<void> => {
  const { log, close } = await openLogReader(configFrom());
  try {
    for await (const event of exportedEvents(log, filter, signal)) await out(json(event));
  } finally {
    await close();
  }
};

const replay = async (stream: string, asJson: boolean, { out }: Output): Promise<void> => {
  const { log, close } = await openLogReader(configFrom());
  try {
    const rows: (readonly string[])[] = [];
    let count = 0;
    for await (const step of replayedStream(log, stream)) {
      count += 1;
      if (asJson) await out(json(step));
      else rows.push(replayRow(step));
    }
    if (count === 0)
      throw new OperatorError(`There is no stream ${stream}. An account's is named account-<tenant>.`);
    if (!asJson) await out(table(REPLAY_HEADER, rows));
  } finally {
    await close();
  }
};

/** `quire events …`: reads the log beside a running service. */
export const addEvents = (program: Command): void => {
  const group = program.command('events').description('read the event log, also while the service runs');
  group
    .command('export')
    .description('print events as NDJSON, oldest first: data, metadata and hash, one event a line')
    .option('--stream <name>', 'only of this stream')
    .option('--category <name>', 'only of streams of this kind (account, priceList, …)')
    .option('--tenant <id>', 'only of this tenant')
    .option('--type <name>', 'only of this type (CreditsBurned, …)')
    .option('--from <time>', 'recorded at or after: a UTC day or an RFC 3339 time', boundary('00:00:00.000'))
    .option('--to <time>', 'recorded at or before: a UTC day or an RFC 3339 time', boundary('23:59:59.999'))
    .option('--after-position <number>', 'only events after this position', wholePosition)
    .action((filter: EventFilter) => runCommand((signal, output) => exportEvents(filter, signal, output)));
  group
    .command('replay')
    .argument('<stream>', 'for example account-acme')
    .description('print the state of a stream after each of its events')
    .option('--json', 'print a line of JSON for each event')
    .action((stream: string, options: { json?: boolean }) =>
      runCommand((_, output) => replay(stream, options.json === true, output)),
    );
};
