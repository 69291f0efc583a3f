import { InvalidArgumentError, type Command } from 'commander';
import { EVENT_CATALOGUE, EVENT_TYPES, isKnownType } from '../../domain/catalogue.ts';
import { withLogReader } from '../composition/parts/openStores.ts';
import { configFrom } from '../config.ts';
import { exportedEvents, type EventFilter } from '../operator/exportEvents.ts';
import { OperatorError } from '../operator/protocol.ts';
import { replayedStream, replayRow, REPLAY_HEADER } from '../operator/replayStream.ts';
import { momentOption } from './instantGiven.ts';
import { command, json, table, type AsJson, type Output } from './output.ts';

const wholePosition = (text: string): bigint => {
  if (!/^\d{1,19}$/.test(text)) throw new InvalidArgumentError('Give a whole number.');
  return BigInt(text);
};

const CATEGORIES = Object.keys(EVENT_CATALOGUE);

const knownCategory = (name: string): string => {
  if (!CATEGORIES.includes(name)) throw new InvalidArgumentError(`There is none: ${CATEGORIES.join(', ')}.`);
  return name;
};

/** Types that have what was given in their name, in capitals or not. */
const like = (name: string): readonly string[] =>
  EVENT_TYPES.filter((type) => type.toLowerCase().includes(name.toLowerCase()));

const knownType = (name: string): string => {
  if (isKnownType(name)) return name;
  const others = like(name);
  throw new InvalidArgumentError(
    others.length === 0
      ? 'There is none; all are in docs/reference/events.md.'
      : `There is none. Do you mean ${others.join(', ')}?`,
  );
};

const exportEvents = ({ out, signal }: Output, filter: EventFilter): Promise<void> =>
  withLogReader(configFrom(), async (log) => {
    for await (const event of exportedEvents(log, filter, signal)) await out(json(event));
  });

const replay = ({ out }: Output, stream: string, { json: asJson = false }: AsJson): Promise<void> =>
  withLogReader(configFrom(), async (log) => {
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
  });

/** `quire events …`: reads the log beside a running service. */
export const addEvents = (program: Command): void => {
  const group = program.command('events').description('read the event log, also while the service runs');
  group
    .command('export')
    .description('print events as NDJSON, oldest first: data, metadata and hash, one event a line')
    .option('--stream <name>', 'only of this stream')
    .option('--category <name>', 'only of streams of this kind (account, priceList, …)', knownCategory)
    .option('--tenant <id>', 'only of this tenant')
    .option('--type <name>', 'only of this type (CreditsBurned, …)', knownType)
    .option(
      '--from <time>',
      'recorded at or after: a UTC day or an RFC 3339 time',
      momentOption('00:00:00.000'),
    )
    .option(
      '--to <time>',
      'recorded at or before: a UTC day or an RFC 3339 time',
      momentOption('23:59:59.999'),
    )
    .option('--after-position <number>', 'only events after this position', wholePosition)
    .action(command(exportEvents));
  group
    .command('replay')
    .argument('<stream>', 'for example account-acme')
    .description('print the state of a stream after each of its events')
    .option('--json', 'print a line of JSON for each event')
    .action(command(replay));
};
