import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteEventLog } from '../../../adapters/sqlite/eventLog.ts';
import { verifyChain } from '../../../domain/kernel/chain.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import type { RecordedEvent } from '../../../domain/kernel/recorded.ts';
import { newEvent } from './eventLogProbe.ts';
import { memoryEventStore } from './memoryEventStore.ts';

/** A log for one spec, and how to be rid of it. */
export interface LogUnderTest {
  readonly store: EventStore;
  readonly dispose: () => Promise<void>;
}

/**
 * Resolves once the thread of a log writes: on a busy machine it may start later than a command waits. It is asked for
 * what it refuses, so that the log stays empty.
 */
const writes = async (store: EventStore): Promise<void> => {
  const { kind } = await store.append('account-of-nobody', 7n, [newEvent()]);
  if (kind !== 'conflict') throw new Error(`an append after nothing was answered by ${kind}`);
};

/** The logs that specs of the write side run on. */
export const LOGS: readonly { readonly name: string; readonly open: () => Promise<LogUnderTest> }[] = [
  {
    name: 'memory',
    open: () => Promise.resolve({ store: memoryEventStore(), dispose: () => Promise.resolve() }),
  },
  {
    name: 'embedded log',
    open: async () => {
      const folder = mkdtempSync(join(tmpdir(), 'quire-log-'));
      const store = openSqliteEventLog({ path: join(folder, 'log.db') });
      const dispose = async () => {
        await store.close();
        rmSync(folder, { recursive: true, force: true });
      };
      await writes(store);
      return { store, dispose };
    },
  },
];

/** All events of a stream; throws when their chain is broken. */
export const eventsOf = async (store: EventStore, stream: string): Promise<RecordedEvent[]> => {
  const events: RecordedEvent[] = [];
  for await (const event of store.read(stream)) events.push(event);
  const broken = verifyChain(events);
  if (broken !== null) throw new Error(`${stream} ${String(broken.revision)}: ${broken.detail}`);
  return events;
};
