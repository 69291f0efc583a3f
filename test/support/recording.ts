import type { OperationState } from '../../domain/operation.ts';
import { keyOfResult } from '../../src/commands/operations.ts';
import type { StoredResult } from '../../src/commands/storedResult.ts';
import { type AccountEventOf, accountStream, isRated } from '../../domain/account/messages.ts';
import { workStream } from '../../domain/workEvents.ts';
import type { Clock, EventStore } from '../../domain/ports/log.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import type { LogCall } from '../../src/commands/deliverWork.ts';
import { llmCosts, logModelCall, modelCallFact } from '../../src/commands/llmCosts.ts';
import {
  type AbandonedWork,
  factShelf,
  keptFacts,
  type KeptFacts,
  type UnrecordedWork,
  usageLog,
  type UsageLog,
} from '../../src/commands/usageLog.ts';
import type { WorkFact } from '../../src/commands/usageLog.ts';
import { eventsOf } from './logs/eventLogs.ts';

/** How one process records what work did. */
export interface Recording {
  readonly usage: UsageLog;
  readonly facts: KeptFacts;
  readonly logCall: LogCall;
  readonly close: () => Promise<void>;
}

export interface RecordingParts {
  readonly store: EventStore;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  /** How long it waits for a log that is away, ms; by default as long as the service. */
  readonly patienceMs?: number;
}

export const recordingOn = ({ store, objects, clock, patienceMs }: RecordingParts): Recording => {
  const wrote = () => undefined;
  const options = patienceMs === undefined ? {} : { deadlineMs: patienceMs, appendTimeoutMs: patienceMs / 3 };
  const usage = usageLog({ store, clock, wrote, options });
  const costs = llmCosts(
    store,
    patienceMs === undefined ? {} : { callerDeadlineMs: patienceMs, closeTimeoutMs: 0 },
  );
  const log = logModelCall({ llmCosts: costs, prices: () => Promise.resolve([]), clock, wrote });
  const append = (fact: WorkFact) => (fact.kind === 'model_call' ? log(fact) : usage.ended(fact));
  const facts = keptFacts({ shelf: factShelf(objects), append });
  const logCall: LogCall = (work, call) => facts.record(modelCallFact(clock, work, call));
  return { usage, facts, logCall, close: () => costs.close() };
};

/** What a read model lists, told from the log: burned work without its usage event. */
export const unrecordedWork = async (store: EventStore, tenant: string): Promise<UnrecordedWork[]> => {
  const found: UnrecordedWork[] = [];
  for (const event of await eventsOf(store, accountStream(tenant))) {
    if (event.type !== 'CreditsBurned') continue;
    const burn = event.data as unknown as AccountEventOf<'CreditsBurned'>['data'];
    const { operation_id, operation, pages, free_pages, delivered, created_at } = burn;
    if (!isRated(operation)) continue;
    const events = await eventsOf(store, workStream(operation, operation_id));
    if (delivered === undefined || events.some(({ type }) => type.endsWith('Completed'))) continue;
    const work = { operation_id, pages, free_pages, ...delivered, burned_at: created_at };
    found.push({
      ...work,
      tenant_id: tenant,
      operation,
    });
  }
  return found;
};

/** Likewise: work that was asked for, and has no end, whose hold somebody else has to look at. */
export const abandonedWork = async (store: EventStore, tenant: string): Promise<AbandonedWork[]> => {
  const found: AbandonedWork[] = [];
  for (const event of await eventsOf(store, accountStream(tenant))) {
    if (event.type !== 'CreditsHeld') continue;
    const { hold_id, ...held } = event.data as unknown as AccountEventOf<'CreditsHeld'>['data'];
    const { operation_id, operation, pages } = held;
    if (!isRated(operation)) continue;
    const types = (await eventsOf(store, workStream(operation, operation_id))).map(({ type }) => type);
    if (types.length !== 1 || !types[0]?.endsWith('Requested')) continue;
    found.push({ operation_id, operation, tenant_id: tenant, pages, hold_id });
  }
  return found;
};

/** The result that an operation succeeded with, where it is kept. */
export const storedResultOf = async (
  objects: Pick<ObjectStore, 'get'>,
  state: Pick<OperationState, 'accepted' | 'success'>,
): Promise<StoredResult | undefined> => {
  const key = keyOfResult(state);
  const bytes = key === undefined ? undefined : await objects.get(key);
  return bytes && (JSON.parse(new TextDecoder().decode(bytes)) as StoredResult);
};
