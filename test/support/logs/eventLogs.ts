import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteEventLog } from '../../../adapters/sqlite/eventLog.ts';
import { verifyChain } from '../../../domain/kernel/chain.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import type { RecordedEvent } from '../../../domain/kernel/recorded.ts';
import { memoryEventStore } from './memoryEventStore.ts';

/** A log for one spec, and how to be rid of it. */
export interface LogUnderTest {
  readonly store: EventStore;
  readonly dispose: () => Promise<void>;
}

/** The logs that specs of the write side run on. */
export const LOGS: readonly { readonly name: string; readonly open: () => LogUnderTest }[] = [
  { name: 'memory', open: () => ({ store: memoryEventStore(), dispose: () => Promise.resolve() }) },
  {
    name: 'embedded log',
    open: () => {
      const folder = mkdtempSync(join(tmpdir(), 'quire-log-'));
      const store = openSqliteEventLog({ path: join(folder, 'log.db') });
      const dispose = async () => {
        await store.close();
        rmSync(folder, { recursive: true, force: true });
      };
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
