import { randomUUID } from 'node:crypto';
import { openSqliteEventLog } from '../../../adapters/sqlite/eventLog.ts';

/**
 * Appends to the log at argv[2] until it is killed, from several streams at once, and prints each
 * acknowledged append as `stream revision position first_id`.
 */
const path = process.argv[2];
if (path === undefined) throw new Error('usage: eventLogLoad <file>');
const log = openSqliteEventLog({ path });

const write = async (stream: string): Promise<void> => {
  const events = () => [0, 1].map((n) => ({ id: randomUUID(), type: 'Loaded', data: { n }, metadata: {} }));
  let result = await log.append(stream, 'no_stream', events());
  while (result.kind === 'appended') {
    const batch = events();
    result = await log.append(stream, result.revision, batch);
    if (result.kind !== 'appended') break;
    const { revision, position } = result;
    process.stdout.write(`${stream} ${String(revision)} ${String(position)} ${batch[0]?.id ?? ''}\n`);
  }
  throw new Error(`append to ${stream} was ${result.kind}`);
};

const run = randomUUID();
await Promise.all(Array.from({ length: 16 }, (_, index) => write(`load-${run}.${String(index)}`)));
