import { randomUUID } from 'node:crypto';
import { openObjectFolder } from '../../adapters/local/objectFolder.ts';
import type { HoldDeps } from '../../src/commands/holds.ts';
import { type AccountCommand, accountStream } from '../../domain/account/messages.ts';
import { DEFAULT_RATES, DEFAULT_TERMS, type BillingConfig } from '../../domain/billingConfig.ts';
import { sha256 } from '../../domain/kernel/chain.ts';
import { llmCostStream } from '../../domain/llmCost.ts';
import type { EventStore } from '../../domain/ports/log.ts';
import type { ExtractionResult } from '@quire/engine/ports/extractionEngine';
import { accountWriter, type AccountWriter } from '../../src/writer/accountWriter.ts';
import type { ConvertDeps } from '../../src/commands/convert.ts';
import { extractDocument, type ExtractDeps, type ExtractRequest } from '../../src/commands/extract.ts';
import { lookedUp } from '../../src/rules/lookups.ts';
import { lookupsHere } from '../../src/rules/lookupWork.ts';
import { rulesHere } from '../../src/rules/rulesWork.ts';
import { heavySlots } from '../../src/commands/slots.ts';
import { holdSweeper } from '../../src/commands/holds.ts';
import { unfinishedSweeper, type UnfinishedSweep } from '../../src/commands/usageLog.ts';
import { adjustment } from './money/accountCommands.ts';
import { eventsOf, LOGS } from './logs/eventLogs.ts';
import { abandonedWork, recordingOn, unrecordedWork, type Recording } from './recording.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';

export const START = '2026-01-31T08:00:00.000Z';
export const TENANT = 't';

/** Everything that a process which delivers work is made of. */
export type Process = ExtractDeps & ConvertDeps;

export interface DeliveryOptions {
  readonly balance?: number;
  readonly freePages?: number;
  readonly store?: EventStore;
}

/** One log and one object folder, and the processes that work on them. */
export interface Delivery {
  readonly store: EventStore;
  /** The time of all processes. */
  readonly time: { now: string };
  /** A process of its own, as after a restart, with parts replaced. */
  readonly process: (parts?: Partial<Process>, accounts?: AccountWriter) => Process;
  /** One sweep of unfinished work by another process, a minute later. */
  readonly finish: () => Promise<UnfinishedSweep>;
  readonly costs: () => Promise<Readonly<Record<string, unknown>>[]>;
  /** What lies in the object store under a prefix. */
  readonly keys: (prefix: string) => Promise<string[]>;
  /** Runs `hours` later what the sweeper runs every minute. */
  readonly sweepAfter: (hours: number) => Promise<void>;
  readonly account: () => Promise<Standing>;
  readonly typesIn: (stream: string) => Promise<string[]>;
  readonly burns: () => Promise<Readonly<Record<string, unknown>>[]>;
  readonly dispose: () => Promise<void>;
}

export interface Standing {
  readonly balance: number;
  readonly held: number;
  readonly free_pages_used: number;
  readonly free_pages_held: number;
  readonly open_holds: number;
}

export const EXTRACTED: Extract<ExtractionResult, { kind: 'ok' }> = {
  kind: 'ok',
  extraction: {
    mimeType: 'text/plain',
    value: { number: 'Q-1' },
    validationErrors: [],
    citations: [],
    pages: [],
    warnings: [],
  },
};

export const laterBy = (instant: string, hours: number): string =>
  new Date(Date.parse(instant) + hours * 3_600_000).toISOString();

const configOf = (free_pages: number): BillingConfig => ({
  version: 1,
  terms: { ...DEFAULT_TERMS, free_pages },
  rates: DEFAULT_RATES,
  note: null,
  created_at: START,
  created_by: 'key_1',
});

/** A parser that finds as many pages as the file's name says. */
export const parser: Process['parser'] = {
  inspect: ({ fileName }) =>
    Promise.resolve({
      kind: 'ok',
      mimeType: 'text/plain',
      pages: Number(fileName ?? 1),
      total: Number(fileName ?? 1),
    }),
  parse: () => Promise.reject(new Error('not here')),
  read: () => Promise.reject(new Error('not here')),
  render: () =>
    Promise.resolve({
      kind: 'ok',
      rendition: { mimeType: 'text/plain', markdown: '# A', plainText: 'A', pages: [], warnings: [] },
    }),
  close: () => Promise.resolve(),
};

export const engineOf = (extract: () => Promise<ExtractionResult>): Process['engine'] => ({
  name: 'local/default',
  extract,
});

const LOCAL = { name: 'local/default', access: null };
const LOCAL_MODELS = { extraction: LOCAL, ocr: LOCAL };

const noModel = () => Promise.reject(new Error('no model takes part here'));
const NO_MODELS: Process['modelWork'] = { extract: noModel, convert: noModel };

export const delivery = async ({
  balance = 1000,
  freePages = 0,
  store,
}: DeliveryOptions = {}): Promise<Delivery> => {
  const folder = tempFolder();
  const log = store === undefined ? await LOGS[1]!.open() : { store, dispose: () => Promise.resolve() };
  const objects = await openObjectFolder(folder.path);
  const time = { now: START };
  const clock = {
    now: () => time.now,
    newId: (prefix: string) => `${prefix}_${randomUUID()}`,
    uuid: randomUUID,
    monotonicMs: () => Date.parse(time.now),
  };
  const writers: AccountWriter[] = [];
  const newWriter = (): AccountWriter => {
    const writer = accountWriter({ store: log.store });
    writers.push(writer);
    return writer;
  };
  const first = newWriter();
  if (balance > 0) await first.execute(adjustment(TENANT, balance, 'start'));
  const wrote = () => undefined;
  const recordings: Recording[] = [];
  const recording = (store: EventStore, own: Process['objects']): Recording => {
    const made = recordingOn({ store, objects: own, clock });
    recordings.push(made);
    return made;
  };
  const stateOf = () => newWriter().stateOf(TENANT, 0);
  return {
    store: log.store,
    time,
    process: (parts = {}, accounts = newWriter()) => ({
      accounts,
      billingConfig: () => Promise.resolve(configOf(freePages)),
      clock,
      store: log.store,
      objects,
      parser,
      engine: engineOf(() => Promise.resolve(EXTRACTED)),
      ...recording(parts.store ?? log.store, parts.objects ?? objects),
      slots: heavySlots(100),
      pagesMax: 100,
      longPagesMax: 2_000,
      ranged: { read: noModel, render: noModel, extract: noModel, help: noModel },
      inspectDeadlineMs: 1000,
      convertDeadlineMs: 1000,
      localDeadlinesMs: { fast: 1_000, standard: 1_000, robust: 1_000 },
      deadlineMs: { fast: 1000, standard: 1000, robust: 1000 },
      platformModels: LOCAL_MODELS,
      modelWork: NO_MODELS,
      checkBase: () => Promise.resolve({ kind: 'ok' }),
      rules: rulesHere,
      lookUp: lookedUp({ worker: lookupsHere, objects }),
      wrote,
      ...parts,
    }),
    sweepAfter: async (hours) => {
      time.now = laterBy(time.now, hours);
      const writer = newWriter();
      const holds = [...(await stateOf()).holds.values()];
      await holdSweeper({
        writer,
        payments: { finishClaim: () => Promise.resolve(undefined) },
        clock,
        openHoldsBefore: (now) =>
          Promise.resolve(
            holds
              .filter((hold) => hold.expires_at < now)
              .map(({ hold_id }) => ({ tenant_id: TENANT, hold_id })),
          ),
        openClaimsBefore: () => Promise.resolve([]),
        openTransfersBefore: () => Promise.resolve([]),
      }).sweep();
    },
    account: async () => {
      const { balance: left, held, free_pages_used, free_pages_held, holds } = await stateOf();
      return { balance: left, held, free_pages_used, free_pages_held, open_holds: holds.size };
    },
    typesIn: async (stream) => (await eventsOf(log.store, stream)).map(({ type }) => type),
    burns: async () =>
      (await eventsOf(log.store, accountStream(TENANT)))
        .filter(({ type }) => type === 'CreditsBurned')
        .map(({ data }) => data),
    finish: () => {
      time.now = laterBy(time.now, 1 / 60);
      const { facts } = recording(log.store, objects);
      const checkLog = () => Promise.resolve();
      const unrecordedBefore = () => unrecordedWork(log.store, TENANT);
      const abandonedBefore = () => abandonedWork(log.store, TENANT);
      return unfinishedSweeper({
        facts,
        checkLog,
        clock,
        unrecordedBefore,
        abandonedBefore,
        store: log.store,
        accounts: newWriter(),
      }).sweep();
    },
    costs: async () => (await eventsOf(log.store, llmCostStream(TENANT))).map(({ data }) => data),
    keys: async (prefix) => {
      const found: string[] = [];
      for await (const { key } of objects.list(prefix)) found.push(key);
      return found;
    },
    dispose: async () => {
      await Promise.all([...writers, ...recordings].map((writer) => writer.close()));
      await log.dispose();
      folder.remove();
    },
  };
};

/** A request for `pages` pages at 40 credits each, unless said otherwise. */
export const asked = (pages: number, over: Partial<ExtractRequest> = {}): ExtractRequest => ({
  tenant_id: TENANT,
  caller: { key_id: 'key_1', role: 'tenant' },
  correlation_id: 'req-1',
  idempotency: null,
  file: { path: '/dev/null', sha256: sha256(''), bytes: 0, file_name: String(pages) },
  project_id: 'default',
  task_id: 'default',
  opening: { at: ['body'] },
  signal: new AbortController().signal,
  schema: { type: 'object' },
  mode: 'standard',
  allow_partial: false,
  settings: { citations: true },
  config: null,
  artifact_id: null,
  llm: {},
  ocr: {},
  ...over,
});

/** The same request each time, with the identity that makes a retry of it. */
export const keyed = (pages: number, fingerprint = 'f', idempotency_key = 'k'): ExtractRequest =>
  asked(pages, { idempotency: { idempotency_key, fingerprint } });

export const extract = (on: Process, request: ExtractRequest) => extractDocument(on)(request);

/** Where a process dies: what is under way there never goes on. */
export interface Death {
  readonly here: () => Promise<never>;
  readonly happened: Promise<void>;
}

export const death = (): Death => {
  let tell = (): void => undefined;
  const happened = new Promise<void>((resolve) => (tell = resolve));
  const here = () => {
    tell();
    return new Promise<never>(() => undefined);
  };
  return { here, happened };
};

/** A writer whose process dies when a command of this type has taken effect. */
export const dyingAfter = (
  accounts: HoldDeps['accounts'],
  type: AccountCommand['type'],
  { here }: Death,
): HoldDeps['accounts'] => ({
  ...accounts,
  execute: async (command) => {
    const outcome = await accounts.execute(command);
    return command.type === type ? here() : outcome;
  },
});
