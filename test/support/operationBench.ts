import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ObjectStore } from '../../domain/ports/services.ts';
import { openObjectFolder } from '../../adapters/local/objectFolder.ts';
import { hasEnded, leaseMark } from '../../domain/leased.ts';
import { extractionStream } from '../../domain/workEvents.ts';
import { type OperationState, operationStream } from '../../domain/operation.ts';
import {
  acceptOperation,
  operationMoney,
  type OperationName,
  operations,
} from '../../src/commands/operations.ts';
import { cancelWork } from '../../src/commands/queue.ts';
import { takenRoom } from '../../src/commands/slots.ts';
import { extractDocument } from '../../src/commands/extract.ts';
import { type SortDeps, sortDocument } from '../../src/commands/sortDocument.ts';
import { systemMeta } from '../../src/writer/commandMeta.ts';
import { accountWriter, type AccountWriter } from '../../src/writer/accountWriter.ts';
import { beginTask, bringTo, operationWorker } from '../../src/worker/operations.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { asked, delivery, parser, TENANT, type Process } from './delivery.ts';
import { mortal, type Dying } from './pipelineBench.ts';
import { eventsOf } from './logs/eventLogs.ts';
import { recordingOn, storedResultOf, type Recording } from './recording.ts';

/** Of `PAGES` pages at 40 credits. */
export const PAGES = 2;
export const PRICE = 80;
export const BALANCE = 1_000;

const none = () => Promise.reject(new Error('not here'));

/** Reads what is sorted: its pages say nothing. */
const READER: Process['parser'] = {
  ...parser,
  read: () =>
    Promise.resolve({
      kind: 'ok',
      document: {
        mimeType: 'text/plain',
        pages: [],
        warnings: [],
        hasText: true,
        markdown: '',
        packed: new Uint8Array(),
      },
    }),
};

const SORTER: SortDeps['sorter'] = {
  classify: none,
  split: () =>
    Promise.resolve({
      kind: 'ok',
      documents: [
        { pages: [1], class: 'A', confidence: 0.9, reasons: [] },
        { pages: [2], class: null, confidence: 0.9, reasons: [] },
      ],
    }),
};

const PART_TASK = {
  kind: 'extract',
  schema: { type: 'object' },
  mode: 'fast',
  allow_partial: false,
  citations: true,
  config: { config_id: 'cfg-1', version: 1 },
  artifact_id: null,
  llm: {},
  ocr: {},
} as const;

/** One log and one folder of objects, and the processes that accept operations and work on them. */
/** `open`: operations that have not ended, and bytes of their files. */
export const operationBench = async ({ open = { count: 0, bytes: 0 }, quotaBytes = 1_000 } = {}) => {
  const d = await delivery({ balance: BALANCE });
  const folder = tempFolder();
  const stored: ObjectStore = await openObjectFolder(mkdtempSync(join(tmpdir(), 'quire-operations-')));
  const accepted: OperationName[] = [];
  const errors: unknown[] = [];
  const closing: (AccountWriter | Recording)[] = [];

  /** `whilePut`: what happens before an object is stored. `isLate`: its lists know no work that was accepted. */
  const process = (
    dying: Dying | null = null,
    {
      whilePut,
      isLate = false,
      ...over
    }: Partial<Process> & { readonly whilePut?: () => void; readonly isLate?: boolean } = {},
  ) => {
    const { store, objects: own, happened, writes } = mortal(d.store, stored, dying);
    const objects: ObjectStore = {
      ...own,
      put: (...args) => {
        whilePut?.();
        return own.put(...args);
      },
    };
    const accounts = accountWriter({ store });
    const { clock } = d.process();
    const recording = recordingOn({ store, objects, clock });
    closing.push(accounts, recording);
    const parts = d.process({ store, objects, ...recording, settlePauseMs: 0, ...over }, accounts);
    const deps = { ...parts, operations: operations(store), secrets: undefined };
    const openOf = () => Promise.resolve({ ...open, known: null });
    const accept = acceptOperation({ ...deps, openOf, quotaBytes, room: takenRoom() });
    const begin = extractDocument(parts);
    const sort = sortDocument({ ...parts, parser: READER, sorter: SORTER, tools: { joined: none } });
    const states = async () =>
      Promise.all(
        accepted.map(async (name) => ({ name, state: await deps.operations.stateOf(name.operation_id) })),
      );
    const those = async (isIn: (state: OperationState) => boolean) =>
      (await states())
        .filter(({ state }) => isIn(state))
        .map(({ name, state }) => ({
          ...name,
          mark: leaseMark(state),
          rank: name.operation_id,
        }));
    const orphans = async (before: string) => {
      const { holds } = await accountWriter({ store: d.store }).stateOf(TENANT, 0);
      const known = new Set((isLate ? [] : await states()).map(({ state }) => state.accepted?.work_id));
      return [...holds.values()]
        .filter(({ created_at, operation_id }) => created_at < before && !known.has(operation_id))
        .map(({ operation_id }) => ({
          tenant_id: TENANT,
          operation_id: operation_id.replace(/^ext_/, 'op_'),
        }));
    };
    const worker = operationWorker({
      ...deps,
      begin: beginTask({
        artifacts: {
          find: () => Promise.resolve(undefined),
          load: () => Promise.reject(new Error('none')),
          isErased: () => Promise.resolve(false),
        },
        extract: begin,
        convert: () => Promise.reject(new Error('nothing is converted here')),
        sort,
      }),
      bring: bringTo(folder.path),
      worker: randomUUID(),
      tickMs: 5,
      lists: {
        waiting: () => those((state) => state.status === 'queued'),
        running: () => those((state) => state.status === 'running'),
        expired: () => those((state) => !hasEnded(state)),
        unsettled: () => those(hasEnded),
        orphans,
      },
      longRunning: () => Promise.resolve([]),
      onError: (error) => errors.push(error),
    });
    return {
      worker,
      happened,
      writes,
      accounts,
      operations: deps.operations,
      cancel: (name: OperationName) =>
        cancelWork(deps, operationMoney(deps), { name, meta: systemMeta(deps, name.operation_id) }),
      /** A stack of two documents, of which the first goes to a config. */
      acceptSplit: async (key: string): Promise<OperationName> => {
        const idempotency = { idempotency_key: key, fingerprint: 'f' };
        const request = {
          ...asked(PAGES, { idempotency }),
          what: 'split' as const,
          classes: [{ name: 'A' }],
        };
        const answer = await accept(request, 'split', (work) =>
          sort({ ...request, ...work, then: [{ classes: ['A'], task: PART_TASK }] }),
        );
        if (answer.kind !== 'accepted') throw new Error(answer.kind);
        const name = { operation_id: answer.operation_id, tenant_id: TENANT };
        if (!accepted.some(({ operation_id }) => operation_id === name.operation_id)) accepted.push(name);
        return name;
      },
      accept: async (key: string, over: Parameters<typeof asked>[1] = {}): Promise<OperationName> => {
        const idempotency = { idempotency_key: key, fingerprint: 'f' };
        const answer = await accept(asked(PAGES, { ...over, idempotency }), 'extract', (work) =>
          begin({ ...asked(PAGES), ...work }),
        );
        if (answer.kind === 'problem') throw new Error(`${answer.code}: ${answer.detail}`);
        if (answer.kind === 'waited_for') throw new Error('its caller waited');
        const name = { operation_id: answer.operation_id, tenant_id: TENANT };
        if (!accepted.some(({ operation_id }) => operation_id === name.operation_id)) accepted.push(name);
        return name;
      },
    };
  };

  return {
    time: d.time,
    errors,
    process,
    account: d.account,
    burns: d.burns,
    pass: (minutes: number) => {
      d.time.now = new Date(Date.parse(d.time.now) + minutes * 60_000).toISOString();
    },
    eventsOf: (stream: string) => eventsOf(d.store, stream),
    stored,
    stateOf: ({ operation_id }: OperationName) => operations(d.store).stateOf(operation_id),
    result: async ({ operation_id }: OperationName) =>
      storedResultOf(stored, await operations(d.store).stateOf(operation_id)),
    typesOf: ({ operation_id }: OperationName) => d.typesIn(operationStream(operation_id)),
    typesOfWork: (workId: string) => d.typesIn(extractionStream(workId)),
    objects: async (prefix: string) => {
      const keys: string[] = [];
      for await (const { key } of stored.list(prefix)) keys.push(key);
      return keys;
    },
    dispose: async () => {
      await Promise.all(closing.map((one) => Promise.race([one.close(), Promise.resolve()])));
      await d.dispose();
      folder.remove();
    },
  };
};

export type OperationBench = Awaited<ReturnType<typeof operationBench>>;
