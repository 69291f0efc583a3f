import { takenRoom } from '../../../src/commands/slots.ts';
import { expect } from 'chai';
import { documentStream } from '../../../domain/document.ts';
import { extractionStream } from '../../../domain/workEvents.ts';
import { sha256 } from '../../../domain/kernel/chain.ts';
import { acceptOperation, operations } from '../../../src/commands/operations.ts';
import { documents } from '../../../src/commands/uploads.ts';
import { recordEnd, workOf } from '../../../src/commands/deliverWork.ts';
import { extractDocument, type ExtractRequest } from '../../../src/commands/extract.ts';
import type { ChosenModels } from '../../../src/commands/models.ts';
import { billOf, placeHold, type WorkAnswer, type WorkPlan } from '../../../src/commands/work.ts';
import { workIdFor } from '../../../domain/leased.ts';
import { systemMeta } from '../../../src/writer/commandMeta.ts';
import {
  asked,
  death,
  delivery,
  dyingAfter,
  engineOf,
  extract,
  EXTRACTED,
  keyed,
  TENANT,
  type Death,
  type Delivery,
  type Process,
} from '../../support/delivery.ts';
import { eventsOf } from '../../support/logs/eventLogs.ts';

const REUSED = { kind: 'problem', code: 'idempotency_key_reused' };

const metaOf = (answer: WorkAnswer): Record<string, string> => {
  if (answer.kind !== 'delivered') throw new Error(JSON.stringify(answer));
  return answer.body['meta'] as Record<string, string>;
};

/** A file of other bytes. */
const withFile = (request: ExtractRequest, text: string): ExtractRequest => ({
  ...request,
  file: { ...request.file, sha256: sha256(text) },
});

const counted = () => {
  const runs = { count: 0 };
  const engine = engineOf(() => {
    runs.count += 1;
    return Promise.resolve(EXTRACTED);
  });
  return { runs, engine };
};

describe('a key that names work', () => {
  let bench: Delivery;
  beforeEach(async () => (bench = await delivery({ balance: 10_000 })));
  afterEach(() => bench.dispose());

  /** As an erasure, a crash or a restored backup leaves the object store. */
  const loseResults = async (on: Process): Promise<void> => {
    for (const key of await bench.keys('results/')) await on.objects.remove(key);
  };
  const erase = async (on: Process, document_id: string): Promise<void> => {
    const data = { document_id, tenant_id: TENANT, erased_at: on.clock.now() };
    await documents(on.store).record({ type: 'DocumentErased', data }, systemMeta(on, 'erase'));
    await loseResults(on);
  };

  it('delivers nothing else for what was paid, when the result is lost', async () => {
    const on = bench.process();
    await extract(on, keyed(1, 'first'));
    await loseResults(on);
    const { runs, engine } = counted();
    const other = await extract(bench.process({ engine }), keyed(100, 'another request altogether'));
    expect(other).to.include(REUSED);
    expect(runs.count).to.equal(0);
    expect(await bench.account()).to.include({ balance: 9_960, held: 0, open_holds: 0 });
  });

  it('delivers no other file and no other pages either, where the request alone is the same', async () => {
    const on = bench.process();
    await extract(on, keyed(1));
    await loseResults(on);
    for (const other of [withFile(keyed(1), 'another file'), keyed(90)])
      expect(await extract(bench.process(), other)).to.include(REUSED);
    expect(await bench.account()).to.include({ balance: 9_960, held: 0, open_holds: 0 });
  });

  it('delivers the same again for nothing, when the result is lost', async () => {
    const on = bench.process();
    const first = metaOf(await extract(on, keyed(1)))['extraction_id'];
    await loseResults(on);
    expect(metaOf(await extract(bench.process(), keyed(1)))['extraction_id']).to.equal(first);
    expect(await bench.burns()).to.have.length(1);
    expect(await bench.account()).to.include({ balance: 9_960, held: 0, open_holds: 0 });
  });

  it('says that its document was erased, at no cost, and to another request that it is reused', async () => {
    const on = bench.process();
    const { document_id = '' } = metaOf(await extract(on, keyed(1)));
    await erase(on, document_id);
    const { runs, engine } = counted();
    const process = bench.process({ engine });
    expect(await extract(process, keyed(1))).to.include({ kind: 'problem', code: 'erased' });
    expect(await extract(process, keyed(1, 'another'))).to.include(REUSED);
    expect(runs.count).to.equal(0);
    expect(await bench.burns()).to.have.length(1);
    expect(await bench.typesIn(documentStream(document_id))).to.deep.equal([
      'DocumentRegistered',
      'DocumentErased',
    ]);
  });

  it('has its request in the log: in the hold, in the request for the work and in the burn', async () => {
    const { extraction_id = '' } = metaOf(await extract(bench.process(), keyed(1)));
    const held = (await eventsOf(bench.store, `account-${TENANT}`)).find(
      ({ type }) => type === 'CreditsHeld',
    );
    const [requested] = await eventsOf(bench.store, extractionStream(extraction_id));
    const [burned] = await bench.burns();
    for (const data of [held?.data, requested?.data, burned]) expect(data).to.include({ fingerprint: 'f' });
  });

  it('is free again when its work failed, also for another request', async () => {
    const failing = engineOf(() => Promise.resolve({ kind: 'unreadable', detail: 'broken' }));
    await extract(bench.process({ engine: failing }), keyed(1));
    expect((await extract(bench.process(), keyed(2, 'another'))).kind).to.equal('delivered');
    expect(await bench.account()).to.include({ balance: 9_920, held: 0 });
  });

  it('of an earlier release names its work by the ID that it had then, and no other file', async () => {
    const on = bench.process();
    const request = keyed(1);
    const work_id = workIdFor('ext', {
      tenant_id: TENANT,
      kind: 'extract',
      idempotency_key: 'k',
      generation: 0,
    });
    const ids = {
      operation_id: work_id,
      document_id: 'doc_former',
      pages: 1,
      billing_type: 'full_service' as const,
    };
    const task = { kind: 'extract', config: null };
    const plan = { operation: 'extract', mode: 'standard', task } as WorkPlan;
    // Its events have no digest of the request.
    const work = workOf({ ...request, idempotency: null }, plan, ids);
    const hold = await placeHold(on, work.bill, { hold_id: 'hold_former' });
    expect(hold.kind).to.equal('held');
    const models = { model: 'local/default', ocr_model: null } as ChosenModels;
    const file = { mime_type: 'text/plain', document_pages: 1 };
    await on.usage.requested({ ...work, ...file, models, hold_id: 'hold_former' });
    const delivered = { status: 'success' as const, duration_ms: 1 };
    const ids_ = { hold_id: 'hold_former', usage_id: 'use_former', document_id: 'doc_former' };
    await billOf(on, work.bill, { ...ids_, delivered });
    await recordEnd(on, work.bill, { kind: 'completed', free_pages: 0, ...delivered });
    expect(await extract(bench.process(), keyed(90))).to.include(REUSED);
    expect(metaOf(await extract(bench.process(), request))['extraction_id']).to.equal(work_id);
    expect(await bench.burns()).to.have.length(1);
  });

  const acceptOn = (on: Process, request: ExtractRequest) =>
    acceptOperation({
      ...on,
      operations: operations(on.store),
      secrets: undefined,
      quotaBytes: 1_000,
      openOf: () => Promise.resolve({ count: 0, bytes: 0, known: null }),
      room: takenRoom(),
    })({ ...request, file: { ...request.file, bytes: 1 } }, 'extract', (work) =>
      extractDocument(on)({ ...request, ...work }),
    );

  describe('asked for with and without waiting', () => {
    it('finds work whose caller waited: nothing is queued, held or billed again', async () => {
      const first = metaOf(await extract(bench.process(), keyed(1)))['extraction_id'];
      for (const lost of [false, true]) {
        const on = bench.process();
        if (lost) await loseResults(on);
        expect(await acceptOn(on, keyed(1))).to.deep.equal({ kind: 'waited_for' });
        expect(await acceptOn(on, keyed(1, 'another'))).to.include(REUSED);
        const again = await extractDocument(on)({ ...keyed(1), isWaited: true });
        expect(metaOf(again)['extraction_id']).to.equal(first);
      }
      expect(await bench.burns()).to.have.length(1);
      expect(await bench.account()).to.include({ balance: 9_960, held: 0, open_holds: 0 });
    });

    it('finds an operation: a caller who waits gets that one', async () => {
      expect(await acceptOn(bench.process(), keyed(1))).to.include({ kind: 'accepted', replayed: false });
      const { runs, engine } = counted();
      const on = bench.process({ engine });
      expect(await extract(on, keyed(1))).to.deep.equal({ kind: 'to_queue' });
      expect(await extract(on, keyed(1, 'another'))).to.include(REUSED);
      expect(await acceptOn(on, keyed(1))).to.include({ kind: 'accepted', replayed: true });
      expect(runs.count).to.equal(0);
      expect(await bench.account()).to.include({ held: 40, open_holds: 1 });
    });

    it('says of an operation on a document that was erased that it was erased, whoever asks how', async () => {
      const on = bench.process();
      const accepted = await acceptOn(on, keyed(1));
      if (accepted.kind !== 'accepted') throw new Error(JSON.stringify(accepted));
      const { accepted: asked_ } = await operations(on.store).stateOf(accepted.operation_id);
      const { document_id = '' } = asked_ ?? {};
      const meta = systemMeta(on, 'register');
      const registered = await documents(on.store).record(
        {
          type: 'DocumentRegistered',
          data: {
            document_id,
            tenant_id: TENANT,
            project_id: 'default',
            task_id: 'default',
            file_name: null,
            mime_type: 'text/plain',
            bytes: 1,
            pages: 1,
            sha256: 'a',
            source: 'extract',
            created_at: meta.now,
          },
        },
        meta,
      );
      expect(registered.kind).to.equal('done');
      await erase(on, document_id);
      expect(await acceptOn(on, keyed(1))).to.include({ kind: 'problem', code: 'erased' });
      expect(await extract(on, keyed(1))).to.include({ kind: 'problem', code: 'erased' });
    });

    for (const [what, print] of [
      ['the same request', 'f'],
      ['another request', 'g'],
    ] as const)
      it(`is held once by two processes at once, for ${what}`, async () => {
        for (let round = 0; round < 8; round += 1) {
          const key = `k${String(round)}`;
          const before = await bench.account();
          const [now, later] = await Promise.all([
            extract(bench.process(), keyed(1, 'f', key)),
            acceptOn(bench.process(), keyed(1, print, key)),
          ]);
          const { balance, held } = await bench.account();
          expect(before.balance - balance + held - before.held, key).to.equal(40);
          const said = [now, later].map((one) => (one.kind === 'problem' ? one.code : one.kind));
          const other = print === 'f' ? 'request_in_progress' : 'idempotency_key_reused';
          expect([
            `delivered,${other}`,
            ...(print === 'f' ? ['delivered,waited_for', 'to_queue,accepted'] : []),
            `${other},accepted`,
          ]).to.include(said.join());
        }
      });

    for (const [at, dying] of [
      ['before its result was stored', (_: Process, { here }: Death) => ({ put: here })],
      [
        'before it was settled',
        ({ objects }: Process, { here }: Death) => ({
          put: (...object: Parameters<typeof objects.put>) => objects.put(...object).then(here),
        }),
      ],
    ] as const)
      it(`is the work of a call that died ${at}, asked for later: done and paid once`, async () => {
        const on = bench.process();
        const end = death();
        void extract({ ...on, objects: { ...on.objects, ...dying(on, end) } }, keyed(1));
        await end.happened;
        const next = bench.process();
        expect(await acceptOn(next, keyed(1))).to.deep.equal({ kind: 'waited_for' });
        expect((await extractDocument(next)({ ...keyed(1), isWaited: true })).kind).to.equal('delivered');
        expect(await bench.burns()).to.have.length(1);
        expect(await bench.account()).to.include({ balance: 9_960, held: 0, open_holds: 0 });
      });

    it('is the work of a call that died after it was settled, asked for later: paid once', async () => {
      const on = bench.process();
      const end = death();
      void extract({ ...on, accounts: dyingAfter(on.accounts, 'SettleHold', end) }, keyed(1));
      await end.happened;
      const next = bench.process();
      expect(await acceptOn(next, keyed(1))).to.deep.equal({ kind: 'waited_for' });
      expect((await extractDocument(next)({ ...keyed(1), isWaited: true })).kind).to.equal('delivered');
      expect(await bench.burns()).to.have.length(1);
    });

    it('is not queued beside a call that died, and is free again when its hold ran out', async () => {
      const on = bench.process();
      const end = death();
      void extract({ ...on, accounts: dyingAfter(on.accounts, 'HoldCredits', end) }, keyed(1));
      await end.happened;
      expect(await acceptOn(bench.process(), keyed(1))).to.include({ code: 'request_in_progress' });
      await bench.sweepAfter(1);
      expect(await acceptOn(bench.process(), keyed(1))).to.include({ code: 'busy' });
      expect(await acceptOn(bench.process(), keyed(1))).to.include({ kind: 'accepted', replayed: false });
      expect(await bench.account()).to.include({ held: 40, open_holds: 1 });
    });
  });
});

describe('a hold', () => {
  let bench: Delivery;
  beforeEach(async () => (bench = await delivery({ balance: 10_000 })));
  afterEach(() => bench.dispose());

  it('lasts longer than its work: work that is always slower than its first hold is done twice, and paid', async () => {
    let runs = 0;
    const engine = engineOf(async () => {
      runs += 1;
      await bench.sweepAfter(1);
      return EXTRACTED;
    });
    const done = await extract(bench.process({ engine, settlePauseMs: 0 }), keyed(10));
    expect(done.kind).to.equal('delivered');
    expect(runs).to.equal(2);
    expect(await bench.burns()).to.have.length(1);
    expect(await bench.account()).to.include({ balance: 9_600, held: 0, open_holds: 0 });
  });

  it('lasts as long as its work may take, however short the time of the billing config', async () => {
    const on = bench.process();
    const config = await on.billingConfig();
    const short = { ...config, terms: { ...config.terms, hold_ttl_seconds: 60 } };
    const hour = 3_600_000;
    const engine = engineOf(async () => {
      await bench.sweepAfter(0.9);
      return EXTRACTED;
    });
    const parts = { engine, billingConfig: () => Promise.resolve(short) };
    const localDeadlinesMs = { fast: hour, standard: hour, robust: hour };
    const answer = await extract(bench.process({ ...parts, localDeadlinesMs }), asked(10));
    expect(answer).to.deep.include({ kind: 'delivered' });
    expect(await bench.burns()).to.have.length(1);
  });
});
