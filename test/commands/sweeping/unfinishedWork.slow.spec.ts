import { expect } from 'chai';
import { extractionStream } from '../../../domain/workEvents.ts';
import type { ModelCall } from '@quire/engine/ports/modelWork';
import { LogUnavailable, type EventStore } from '../../../domain/ports/log.ts';
import type { ObjectStore } from '../../../domain/ports/services.ts';
import { accountWriter, type AccountWriter } from '../../../src/writer/accountWriter.ts';
import { callLog } from '../../../src/commands/deliverWork.ts';
import { UNFINISHED_PREFIX } from '../../../src/commands/usageLog.ts';
import {
  asked,
  death,
  delivery,
  extract,
  EXTRACTED,
  keyed,
  TENANT,
  type Delivery,
  type Process,
} from '../../support/delivery.ts';
import { eventsOf } from '../../support/logs/eventLogs.ts';
import { recordingOn } from '../../support/recording.ts';

const REF = { provider: 'openai', model: 'm' } as const;
const callOf = (tokens: number): ModelCall => ({
  ref: REF,
  owner: 'platform',
  step: 'extraction',
  usage: { input_tokens: tokens, output_tokens: 1, cached_input_tokens: 0, pages: null },
});

const MODEL = {
  name: 'openai/m',
  access: { ref: REF, apiKey: 'k', apiBase: undefined, owner: 'platform', retries: 0 },
} as unknown as Process['platformModels']['extraction'];

/** Work that asks a model twice. */
const TWO_CALLS = {
  platformModels: { extraction: MODEL, ocr: MODEL },
  modelWork: {
    extract: (_, { onCall }) => {
      onCall(callOf(10));
      onCall(callOf(20));
      return Promise.resolve(EXTRACTED);
    },
    convert: () => Promise.reject(new Error('not here')),
  },
} satisfies Partial<Process>;

/** Appends, puts and removals of an extraction that asks a model twice, at most. */
const STEPS = 14;

/** Longer than a busy machine needs for what a log that is there is asked. */
const PATIENT_MS = 1500;

type Step = <T>(work: () => Promise<T>) => Promise<T>;

const numbered = (store: EventStore, objects: ObjectStore, step: Step) => ({
  store: { ...store, append: (...args) => step(() => store.append(...args)) } satisfies EventStore,
  objects: {
    ...objects,
    put: (key, bytes) => step(() => objects.put(key, bytes)),
    remove: (key) => step(() => objects.remove(key)),
  } satisfies ObjectStore,
});

/** A log that neither takes nor tells anything for a while. */
const awayWhile = (store: EventStore, isAway: () => boolean): EventStore => ({
  ...store,
  append: (...args) =>
    isAway() ? Promise.resolve({ kind: 'unknown', reason: 'scripted: away' }) : store.append(...args),
  read: (...args) => {
    if (isAway()) throw new LogUnavailable('scripted: away');
    return store.read(...args);
  },
});

describe('what a burn did', () => {
  let bench: Delivery;
  const writers: AccountWriter[] = [];
  const recordings: { close: () => Promise<void> }[] = [];
  beforeEach(async () => (bench = await delivery({ freePages: 1 })));
  afterEach(async () => {
    await Promise.all([...writers.splice(0), ...recordings.splice(0)].map((one) => one.close()));
    await bench.dispose();
  });

  /** A process over a log and objects as it sees them, which gives up on them after `patienceMs`. */
  const processOn = (store: EventStore, objects: ObjectStore, patienceMs = 60) => {
    const limits = { callerDeadlineMs: patienceMs, closeTimeoutMs: 0 };
    const accounts = accountWriter({ store, random: () => 0, appendTimeoutMs: patienceMs / 3, limits });
    const own = bench.process();
    const recording = recordingOn({ store, objects, clock: own.clock, patienceMs });
    writers.push(accounts);
    recordings.push(recording);
    return {
      ...own,
      ...recording,
      ...TWO_CALLS,
      accounts,
      store,
      objects,
      settlePauseMs: 1,
    } satisfies Process;
  };

  const operations = async (): Promise<string[]> => {
    const found = (await bench.burns()).map(({ operation_id }) => String(operation_id));
    expect(new Set(found).size, 'burned twice').to.equal(found.length);
    return found;
  };

  /** Every burn has one usage event, and every call that was noted down one cost entry. */
  const expectComplete = async (entries: ReadonlySet<string>): Promise<void> => {
    for (const id of await operations()) {
      const types = await bench.typesIn(extractionStream(id));
      expect(types, id).to.deep.equal(['ExtractionRequested', 'ExtractionCompleted']);
    }
    const logged = (await bench.costs()).map(({ entry_id }) => String(entry_id));
    expect(new Set(logged).size, 'logged twice').to.equal(logged.length);
    expect(logged).to.include.members([...entries]);
    expect(await bench.keys(UNFINISHED_PREFIX)).to.deep.equal([]);
  };

  /** The names of calls that were put into the object store. */
  const notedIn = (objects: ObjectStore): { noted: Set<string>; objects: ObjectStore } => {
    const noted = new Set<string>();
    const put: ObjectStore['put'] = async (key, bytes) => {
      await objects.put(key, bytes);
      const name = key.slice(`${UNFINISHED_PREFIX}call-`.length);
      if (key.startsWith(`${UNFINISHED_PREFIX}call-`)) noted.add(name.replace(/\.(\d+)$/, ':$1'));
    };
    return { noted, objects: { ...objects, put } };
  };

  for (const request of [asked(4), keyed(4)]) {
    const named = request.idempotency === null ? 'without' : 'with';

    for (const committed of [false, true])
      for (let at = 1; at <= STEPS; at += 1) {
        const moment = `at step ${at}, ${committed ? 'after' : 'before'} it took effect`;
        it(`is in the log in the end, ${named} a key, though its process dies ${moment}`, async () => {
          const plain = bench.process();
          const { noted, objects } = notedIn(plain.objects);
          const end = death();
          let count = 0;
          // What had begun when the process died has happened, though nobody hears of it.
          const begun: Promise<unknown>[] = [];
          const seen = numbered(plain.store, objects, async (work) => {
            count += 1;
            const mine = count;
            if (mine > at || (mine === at && !committed)) return end.here();
            const working = work();
            begun.push(working.catch(() => undefined));
            const result = await working;
            return mine === at ? end.here() : result;
          });
          const on = processOn(seen.store, seen.objects);
          await Promise.race([extract(on, request).catch(() => undefined), end.happened]);
          await Promise.all(begun);
          await bench.finish();
          await bench.sweepAfter(1);
          if (request.idempotency !== null) {
            expect((await extract(bench.process(TWO_CALLS), request)).kind).to.equal('delivered');
            expect(await operations()).to.have.length(1);
          }
          await bench.finish();
          await expectComplete(noted);
          expect(await bench.account()).to.include({ held: 0, open_holds: 0 });
        });
      }

    for (let at = 1; at <= STEPS; at += 1)
      it(`is in the log in the end, ${named} a key, though it is away from step ${at} until the answer`, async () => {
        const plain = bench.process();
        let count = 0;
        let away = false;
        const { objects, noted } = notedIn(plain.objects);
        const store = awayWhile(plain.store, () => away);
        const seen = numbered(store, objects, (work) => {
          count += 1;
          if (count === at) away = true;
          return work();
        });
        const calls: ModelCall[] = [];
        const on = processOn(seen.store, seen.objects);
        const answer = await extract(
          {
            ...on,
            logCall: (work, call) => {
              calls.push(call);
              return on.logCall(work, call);
            },
          },
          request,
        ).catch((error: unknown) => error as Error);
        away = false;
        await bench.finish();
        await bench.sweepAfter(1);
        if (request.idempotency !== null && !('kind' in answer && answer.kind === 'delivered'))
          expect((await extract(bench.process(TWO_CALLS), request)).kind).to.equal('delivered');
        await bench.finish();
        await expectComplete(noted);
        expect(noted.size, 'a call was not noted').to.equal(calls.length);
      });
  }

  it('has its usage event, as its own request would have written it, from the burn alone', async () => {
    const on = bench.process();
    const record = () => Promise.resolve();
    expect((await extract({ ...on, facts: { record } }, asked(4))).kind).to.equal('delivered');
    const [id = ''] = await operations();
    expect(await bench.typesIn(extractionStream(id))).to.deep.equal(['ExtractionRequested']);
    const [burn] = await bench.burns();
    expect(await bench.finish()).to.deep.equal({ model_calls: 0, usage_events: 1, left: 0 });
    const [, completed] = await eventsOf(bench.store, extractionStream(id));
    const { duration_ms } = burn?.['delivered'] as { duration_ms: number };
    expect(completed?.data).to.deep.equal({
      extraction_id: id,
      tenant_id: TENANT,
      status: 'success',
      pages: 4,
      free_pages: 1,
      duration_ms,
      completed_at: burn?.['created_at'],
    });
    expect(await bench.finish()).to.deep.equal({ model_calls: 0, usage_events: 0, left: 0 });
  });

  it('that two sweepers finish at once is there once', async () => {
    const on = bench.process(TWO_CALLS);
    const facts = { record: () => Promise.resolve() };
    await extract({ ...on, facts }, asked(1));
    await Promise.all([bench.finish(), bench.finish(), bench.finish()]);
    await expectComplete(new Set());
  });

  it('is known of failed work too: how it ended, and what its calls used', async () => {
    const { store, objects } = bench.process();
    let away = false;
    const on = processOn(
      awayWhile(store, () => away),
      objects,
      PATIENT_MS,
    );
    const modelWork: Process['modelWork'] = {
      ...on.modelWork,
      extract: (_, { onCall }) => {
        away = true;
        onCall(callOf(10));
        return Promise.resolve({ kind: 'timed_out', detail: 'd' });
      },
    };
    expect(await extract({ ...on, modelWork }, asked(1))).to.include({ code: 'busy' });
    // Its writer would go on trying to give the hold back.
    await on.accounts.close();
    away = false;
    expect(await bench.keys(UNFINISHED_PREFIX)).to.have.length(1);
    // It has not failed before its hold is given back: until then another request may still deliver it.
    expect(await bench.finish()).to.deep.equal({ model_calls: 1, usage_events: 0, left: 0 });
    await bench.sweepAfter(1);
    expect(await bench.finish()).to.deep.equal({ model_calls: 0, usage_events: 1, left: 0 });
    expect(await bench.costs()).to.have.length(1);
    const [cost] = await bench.costs();
    expect(await bench.typesIn(extractionStream(String(cost?.['job_id'])))).to.deep.equal([
      'ExtractionRequested',
      'ExtractionFailed',
    ]);
  });

  it('that neither the log nor the object store took is not paid for, and its process tries again', async () => {
    const { store, objects } = bench.process();
    let away = false;
    const gone = () => Promise.reject(new Error('scripted: no storage'));
    const on = processOn(
      {
        ...store,
        append: (...args) =>
          away && args[0].startsWith('llmCost-')
            ? Promise.resolve({ kind: 'unknown', reason: 'scripted' })
            : store.append(...args),
      },
      { ...objects, put: (...args) => (away ? gone() : objects.put(...args)) },
      PATIENT_MS,
    );
    away = true;
    const answer = await extract(on, asked(1)).catch((error: unknown) => error);
    expect(answer).to.be.an('error');
    expect(await bench.burns()).to.deep.equal([]);
    expect(await bench.account()).to.include({ balance: 1000, held: 0, open_holds: 0 });
    away = false;
    const recorded = on.facts;
    expect(await recorded.finish()).to.deep.equal({ model_calls: 2, work_ends: 0, left: 0 });
    expect(await bench.costs()).to.have.length(2);
    expect(await recorded.finish()).to.deep.equal({ model_calls: 0, work_ends: 0, left: 0 });
  });

  it('of training is logged for each attempt at the job', async () => {
    const { logCall } = bench.process();
    const caller = { key_id: 'system', role: 'system' } as const;
    const bill = { tenant_id: TENANT, operation: 'training', operation_id: 'job_1', correlation_id: 'job_1' };
    for (const attempt of [1, 2, 3]) {
      const work = { bill: { ...bill, caller }, document_id: null, task_id: 'default', free_tier: false };
      const calls = callLog(logCall, { ...work, attempt });
      calls.onCall(callOf(10 * attempt));
      await calls.logged();
    }
    const entries = (await bench.costs()).map(({ entry_id, input_tokens }) => [entry_id, input_tokens]);
    expect(entries).to.deep.equal([
      ['job_1:1', 10],
      ['job_1:2:1', 20],
      ['job_1:3:1', 30],
    ]);
  });

  it('that cannot be read is left where it is, and keeps nothing else from the log', async () => {
    const { objects, logCall } = bench.process();
    const newer = `${UNFINISHED_PREFIX}call-newer`;
    await objects.put(newer, new TextEncoder().encode('{"version":2}'));
    await objects.put(`${UNFINISHED_PREFIX}call-torn`, new TextEncoder().encode('{'));
    expect(await bench.finish()).to.deep.equal({ model_calls: 0, usage_events: 0, left: 2 });
    expect(await bench.keys(UNFINISHED_PREFIX)).to.include(newer);
    expect(logCall).to.be.a('function');
  });
});
