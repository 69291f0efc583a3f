import { createInterface } from 'node:readline';
import { openEventStoreDb } from '../../../adapters/eventstoredb/eventStoreDb.ts';
import type { AccountCommand } from '../../../domain/account/messages.ts';
import { accountWriter } from '../../../src/writer/accountWriter.ts';
import { charge, hold, settle } from './accountCommands.ts';

/**
 * A replica of the accounts' writer until it is killed, over the log at argv[2]. A line of its input is work:
 * `how tenant key credits`, by a charge or by a hold that is settled. It prints `key outcome` once that is sure.
 */
const connectionString = process.argv[2];
if (connectionString === undefined) throw new Error('usage: budgetReplica <connection string>');
const log = openEventStoreDb({ connectionString });
const writer = accountWriter({ store: log, attemptsMax: 60 });

/** What an account says to a command, asked again until it is known. */
const answerTo = async (command: () => AccountCommand): Promise<string> => {
  for (;;) {
    const outcome = await writer.execute(command());
    if (outcome.kind === 'rejected') return outcome.rejection.code;
    if (outcome.kind === 'done') return 'done';
  }
};

/** Work that another replica has billed before it died has no open hold. */
const billed = async (tenant: string, key: string, credits: number): Promise<string> => {
  const held = await answerTo(() => hold(tenant, key, credits));
  if (held !== 'done') return held === 'hold_not_open' ? 'done' : held;
  const settled = await answerTo(() => settle(tenant, key, credits));
  return settled === 'hold_not_open' ? 'done' : settled;
};

const work = async (line: string): Promise<void> => {
  const [how, tenant = '', key = '', credits = ''] = line.split(' ');
  const outcome =
    how === 'charge'
      ? await answerTo(() => charge(tenant, Number(credits), key))
      : await billed(tenant, key, Number(credits));
  process.stdout.write(`${key} ${outcome}\n`);
};

process.stdout.write('ready\n');
createInterface({ input: process.stdin }).on('line', (line) => void work(line));
