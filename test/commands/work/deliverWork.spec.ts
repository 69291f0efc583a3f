import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { accountStream } from '../../../domain/account/messages.ts';
import { extractionStream } from '../../../domain/workEvents.ts';
import type { ParseFailure } from '@quire/engine/ports/documentParser';
import type { ExtractionResult } from '@quire/engine/ports/extractionEngine';
import { LogUnavailable, type EventStore } from '../../../domain/ports/log.ts';
import { convertDocument } from '../../../src/commands/convert.ts';
import type { WorkAnswer } from '../../../src/commands/work.ts';
import { heavySlots } from '../../../src/commands/slots.ts';
import { usageLog } from '../../../src/commands/usageLog.ts';
import type { WorkProblem } from '../../../src/commands/workProblem.ts';
import {
  asked,
  delivery,
  engineOf,
  extract,
  EXTRACTED,
  keyed,
  parser,
  TENANT,
  type Delivery,
  type DeliveryOptions,
  type Process,
} from '../../support/delivery.ts';

const failures: readonly [ParseFailure, WorkProblem['code']][] = [
  [{ kind: 'empty', detail: 'd' }, 'empty_file'],
  [{ kind: 'unsupported', detail: 'd' }, 'unsupported_file_type'],
  [{ kind: 'unreadable', detail: 'd' }, 'unreadable_file'],
  [{ kind: 'too_many_pages', pages: 101, pagesMax: 100, detail: 'd' }, 'too_many_pages'],
  [{ kind: 'timed_out', detail: 'd' }, 'busy'],
  [{ kind: 'starved', detail: 'd' }, 'busy'],
  [{ kind: 'aborted' }, 'request_aborted'],
];

const MISFIT: ExtractionResult = {
  kind: 'ok',
  extraction: {
    ...EXTRACTED.extraction,
    validationErrors: [{ path: '/n', keyword: 'required', message: 'is missing', params: {}, actual: null }],
  },
};

/** Waits until so many have come, then lets all go on. */
const barrier = (count: number) => {
  let open = (): void => undefined;
  const all = new Promise<void>((resolve) => (open = resolve));
  let here = 0;
  return () => {
    here += 1;
    if (here === count) open();
    return all;
  };
};

const failing = () => Promise.reject(new Error('scripted'));

const costOf = (answer: WorkAnswer) =>
  answer.kind === 'delivered' ? answer.cost : 'code' in answer ? answer.code : answer.kind;

/** A log that cannot be read where extractions are recorded. */
const withoutExtractions = (store: EventStore): EventStore => ({
  ...store,
  read: (stream, options) => {
    if (stream.startsWith('extraction-')) throw new LogUnavailable('scripted');
    return store.read(stream, options);
  },
});

describe('delivered work', () => {
  let bench: Delivery;
  const setUp = async (options?: DeliveryOptions): Promise<Delivery> => (bench = await delivery(options));
  afterEach(() => bench.dispose());

  /** What every failure must leave: nothing burned, nothing held, no slot taken. */
  const untouched = async ({ slots }: Process): Promise<void> => {
    expect(await bench.burns()).to.deep.equal([]);
    expect(await bench.account()).to.deep.equal({
      balance: 1000,
      held: 0,
      free_pages_used: 0,
      free_pages_held: 0,
      open_holds: 0,
    });
    expect(slots.inUse()).to.equal(0);
  };

  it('is not begun when the log does not take its request', async () => {
    const { store } = await setUp();
    const clock = { now: () => bench.time.now, newId: (prefix: string) => `${prefix}_1`, uuid: randomUUID };
    const usage = usageLog({ store: withoutExtractions(store), clock, wrote: () => undefined });
    const process = bench.process({ usage, engine: engineOf(() => expect.fail('the work was begun')) });
    const failure = await extract(process, asked(5)).catch((error: unknown) => error);
    expect(failure).to.be.an('error').with.property('name', 'LogUnavailable');
    await untouched(process);
  });

  it('whose time was used up answers what was found as partial, though no part was asked for', async () => {
    await setUp();
    const missing = { path: '/total', keyword: 'required', message: 'is missing', params: {}, actual: null };
    const { extraction } = EXTRACTED;
    const warnings = [{ code: 'deadline_reached', message: 'page 4' }] as const;
    const cut = { ...EXTRACTED, extraction: { ...extraction, warnings, validationErrors: [missing] } };
    const answer = await extract(bench.process({ engine: engineOf(() => Promise.resolve(cut)) }), asked(5));
    expect(answer).to.have.nested.property('body.status', 'partial');
    expect(answer).to.have.nested.property('body.validation_errors').that.has.length(1);
    expect(await bench.burns()).to.have.length(1);
  });

  describe('that succeeds', () => {
    it('burns once, leaves no hold, and says what it cost', async () => {
      const { process, burns, account, typesIn } = await setUp();
      const answer = await extract(process(), asked(3, { project_id: 'p', task_id: 'u' }));
      if (answer.kind !== 'delivered') throw new Error(answer.kind);
      expect(answer.body['result']).to.deep.equal({ number: 'Q-1' });
      expect(answer.body['cost']).to.deep.equal({ credits_used: 120, pages: 3, balance_remaining: 880 });
      const [burn, ...others] = await burns();
      expect(others).to.deep.equal([]);
      const meta = answer.body['meta'] as Record<string, string>;
      expect(burn).to.include({
        operation: 'extract',
        operation_id: meta['extraction_id'],
        document_id: meta['document_id'],
        project_id: 'p',
        task_id: 'u',
        api_key_id: 'key_1',
        pages: 3,
        free_pages: 0,
        credits: 120,
        billing_config_version: 1,
        balance_after: 880,
      });
      expect(await account()).to.include({ balance: 880, held: 0, open_holds: 0 });
      expect(await typesIn(extractionStream(meta['extraction_id'] ?? ''))).to.deep.equal([
        'ExtractionRequested',
        'ExtractionCompleted',
      ]);
    });

    it('converts by the rate of its mode', async () => {
      const { process, burns } = await setUp();
      const answer = await convertDocument(process())({ ...asked(2), mode: 'fast', form: {} });
      expect(costOf(answer)).to.deep.equal({ credits_used: 20, pages: 2, balance_remaining: 980 });
      expect(await burns()).to.have.length(1);
    });

    it('delivers what fits, when the caller allows it, and bills it', async () => {
      const { process } = await setUp();
      const on = process({ engine: engineOf(() => Promise.resolve(MISFIT)) });
      const answer = await extract(on, asked(1, { allow_partial: true }));
      expect(answer).to.have.nested.property('body.status', 'partial');
      expect(costOf(answer)).to.include({ credits_used: 40 });
    });

    it('takes free pages first', async () => {
      const { process, account } = await setUp({ freePages: 5 });
      const on = process();
      expect(costOf(await extract(on, asked(3)))).to.include({ credits_used: 0 });
      expect(costOf(await extract(on, asked(3)))).to.include({ credits_used: 40 });
      expect(await account()).to.include({ free_pages_used: 5, free_pages_held: 0, balance: 960 });
    });

    it('never shares the last free page between two at once', async () => {
      const { process, account } = await setUp({ freePages: 1 });
      const together = barrier(2);
      const on = process({ engine: engineOf(() => together().then(() => EXTRACTED)) });
      const answers = await Promise.all([extract(on, asked(1)), extract(on, asked(1))]);
      expect(
        answers.map((answer) => (answer.kind === 'delivered' ? answer.cost.credits_used : -1)).sort(),
      ).to.deep.equal([0, 40]);
      expect(await account()).to.include({ free_pages_used: 1, free_pages_held: 0, balance: 960 });
    });

    for (const role of ['service', 'admin'] as const)
      it(`is not billed to a key of role ${role}`, async () => {
        const { process, typesIn } = await setUp({ balance: 0 });
        const answer = await extract(process(), asked(3, { caller: { key_id: 'key_s', role } }));
        expect(costOf(answer)).to.deep.equal({ credits_used: 0, pages: 3, balance_remaining: null });
        expect(await typesIn(accountStream(TENANT))).to.deep.equal([]);
      });

    it('is delivered to 20 of 50 at once, where the balance is for 20', async () => {
      const { process, burns, account } = await setUp({ balance: 800 });
      const on = [process(), process()];
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) => extract(on[index % 2]!, asked(1))),
      );
      expect(answers.filter(({ kind }) => kind === 'delivered')).to.have.length(20);
      const refused = answers.filter((answer) => answer.kind === 'problem');
      expect(refused.map(({ code }) => code)).to.deep.equal(Array(30).fill('insufficient_credits'));
      expect(await burns()).to.have.length(20);
      expect(await account()).to.include({ balance: 0, held: 0, open_holds: 0 });
    });
  });

  describe('that fails', () => {
    for (const [failure, code] of failures) {
      it(`in counting its pages, ${failure.kind}: nothing is burned`, async () => {
        const on = (await setUp()).process({
          parser: { ...parser, inspect: () => Promise.resolve(failure) },
        });
        expect(await extract(on, asked(1))).to.include({ kind: 'problem', code });
        await untouched(on);
      });

      it(`in the engine, ${failure.kind}: nothing is burned`, async () => {
        const on = (await setUp({ freePages: 1 })).process({
          engine: engineOf(() => Promise.resolve(failure)),
        });
        expect(await extract(on, asked(2))).to.include({ kind: 'problem', code });
        await untouched(on);
      });
    }

    const engines: readonly [string, ExtractionResult, WorkProblem['code']][] = [
      ['its schema is not valid', { kind: 'invalid_schema', detail: 'd' }, 'invalid_schema'],
      ['its output does not fit the schema', MISFIT, 'output_schema_mismatch'],
    ];
    for (const [why, result, code] of engines)
      it(`because ${why}: nothing is burned`, async () => {
        const on = (await setUp()).process({ engine: engineOf(() => Promise.resolve(result)) });
        expect(await extract(on, keyed(1))).to.include({ kind: 'problem', code });
        await untouched(on);
      });

    it('in a conversion: nothing is burned', async () => {
      const render = () => Promise.resolve({ kind: 'timed_out', detail: 'd' } as const);
      const on = (await setUp()).process({ parser: { ...parser, render } });
      expect(await convertDocument(on)({ ...asked(1), mode: 'default', form: {} })).to.include({
        code: 'busy',
      });
      await untouched(on);
    });

    it('because its mode has no rate: nothing is held', async () => {
      const { process } = await setUp();
      const on = process();
      const config = await on.billingConfig();
      const answer = await extract(
        { ...on, billingConfig: () => Promise.resolve({ ...config, rates: [] }) },
        asked(1),
      );
      expect(answer).to.include({ code: 'validation_error' });
      await untouched(on);
    });

    const thrown: readonly [string, (on: Process) => Partial<Process>][] = [
      ['the engine throws', () => ({ engine: engineOf(failing) })],
      [
        'the engine throws at once',
        () => ({
          engine: engineOf(() => {
            throw new Error('scripted');
          }),
        }),
      ],
      ['the result cannot be stored', ({ objects }) => ({ objects: { ...objects, put: failing } })],
      ['earlier results cannot be looked up', ({ objects }) => ({ objects: { ...objects, get: failing } })],
      ['the usage log throws at its start', ({ usage }) => ({ usage: { ...usage, requested: failing } })],
    ];
    for (const [why, parts] of thrown)
      it(`because ${why}: it throws, and nothing is burned`, async () => {
        const on = (await setUp({ freePages: 1 })).process();
        expect(await extract({ ...on, ...parts(on) }, keyed(2)).catch(String)).to.equal('Error: scripted');
        await untouched(on);
      });

    it('because its caller went away, though the engine did not notice: nothing is burned', async () => {
      const gone = new AbortController();
      const { process, typesIn } = await setUp();
      const on = process({
        engine: engineOf(() => {
          gone.abort();
          return Promise.resolve(EXTRACTED);
        }),
      });
      expect(await extract(on, asked(1, { signal: gone.signal }))).to.include({ code: 'request_aborted' });
      await untouched(on);
      expect(await typesIn(accountStream(TENANT))).to.include('HoldReleased');
    });
  });

  describe('above the cap of heavy work', () => {
    it('is told to come again, and runs when a slot is free', async () => {
      const { process, burns } = await setUp();
      const slots = heavySlots(1);
      const together = barrier(2);
      const on = process({ slots, engine: engineOf(() => together().then(() => EXTRACTED)) });
      const first = extract(on, asked(1));
      expect(await extract(on, asked(1))).to.include({ kind: 'problem', code: 'busy' });
      void together();
      expect((await first).kind).to.equal('delivered');
      expect((await extract(on, asked(1))).kind).to.equal('delivered');
      expect(await burns()).to.have.length(2);
    });

    it('is answered what is paid for, for which no slot is wanted', async () => {
      const { process, burns } = await setUp();
      const slots = heavySlots(1);
      const on = process({ slots });
      expect((await extract(on, keyed(1))).kind).to.equal('delivered');
      const free = slots.take('another');
      expect(await extract(on, keyed(1))).to.include({ kind: 'delivered' });
      expect(await extract(on, asked(1))).to.include({ kind: 'problem', code: 'busy' });
      free?.();
      expect(await burns()).to.have.length(1);
    });

    it('frees its slot after every end', async () => {
      const { process } = await setUp();
      const on = process({ slots: heavySlots(1) });
      const { objects } = on;
      await extract({ ...on, parser: { ...parser, inspect: failing } }, asked(1)).catch(String);
      await extract({ ...on, engine: engineOf(failing) }, asked(1)).catch(String);
      await extract({ ...on, engine: engineOf(() => Promise.resolve(MISFIT)) }, asked(1));
      await extract({ ...on, objects: { ...objects, put: failing } }, keyed(1)).catch(String);
      await extract({ ...on, objects: { ...objects, get: failing } }, keyed(1)).catch(String);
      await extract(on, asked(99));
      await untouched(on);
      expect((await extract(on, asked(1))).kind).to.equal('delivered');
    });
  });
});
