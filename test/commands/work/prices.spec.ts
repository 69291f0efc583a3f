import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import type { EventFeed, EventStore } from '../../../domain/ports/log.ts';
import { activeBillingConfig } from '../../../domain/billingConfig.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import { NO_END } from '../../../domain/account/messages.ts';
import { runAudit } from '../../../src/audit/runAudit.ts';
import { publishBillingConfig, referenceData, setRate } from '../../../src/commands/reference.ts';
import { openedLog } from '../../../src/commands/sealing.ts';
import { placeAgain, placeHold, type WorkToBill } from '../../../src/commands/work.ts';
import {
  asked,
  delivery,
  engineOf,
  extract,
  EXTRACTED,
  laterBy,
  START,
  TENANT,
  type Delivery,
  type Process,
} from '../../support/delivery.ts';

const OWN = { provider_model: 'openai/gpt', api_key: 'sk' };
const FULL = { operation: 'extract', extraction_mode: 'standard', billing_type: 'full_service' } as const;

const metaOf = () => {
  const actor = { key_id: 'key_1', role: 'admin' as const };
  return { now: START, actor, correlation_id: 'c', command_id: randomUUID() };
};

describe('prices that change while work is done', () => {
  let bench: Delivery;
  let reference: ReturnType<typeof referenceData>;
  beforeEach(async () => {
    bench = await delivery({ balance: 100_000 });
    await openedLog(bench.store, START);
    reference = referenceData({ store: bench.store, maxAgeMs: 0, options: { deadlineMs: 120_000 } });
    await reference.ensureDefaults(START);
  });
  afterEach(() => bench.dispose());

  const rise = (credits_per_page: number) => setRate(reference, { ...FULL, credits_per_page }, metaOf());
  const fewerFree = (free_pages: number) => publishBillingConfig(reference, { free_pages }, metaOf());

  const process = (parts: Partial<Process> = {}) =>
    bench.process({
      billingConfig: async (version) => {
        const state = await reference.billingConfig();
        return version === undefined ? activeBillingConfig(state)! : state.versions[version - 1]!;
      },
      ...parts,
    });

  /** A model that is asked for nothing, so that a caller's key is not used, and what happens meanwhile. */
  const unused = (meanwhile: () => Promise<unknown>): Partial<Process> => ({
    modelWork: {
      extract: () => meanwhile().then(() => EXTRACTED),
      convert: () => Promise.reject(new Error('nothing is converted here')),
    },
  });

  const findings = async (): Promise<string[]> => {
    const feed = bench.store as EventStore & EventFeed;
    const { report } = await runAudit({ feed, dense: false, keep: 20 });
    return report.findings.map(({ check, message }) => `[${check}] ${message}`);
  };
  const burned = async () => {
    const [burn, ...others] = await bench.burns();
    expect(others).to.deep.equal([]);
    return burn;
  };

  for (const [what, change] of [
    ['the rate is ten times as high', () => rise(400)],
    ['there are fewer free pages', () => fewerFree(5)],
  ] as const)
    for (const [whose, llm] of [
      ['an own key', OWN],
      ['no key', {}],
    ] as const)
      it(`are those of the acceptance, with ${whose}: ${what}`, async () => {
        const engine = engineOf(() => change().then(() => EXTRACTED));
        const answer = await extract(process({ ...unused(change), engine }), asked(60, { llm }));
        expect(answer.kind).to.equal('delivered');
        // Ten of sixty pages are paid: those of 50 free ones are not.
        const credits = whose === 'no key' ? 400 : 50;
        expect(await burned()).to.include({ credits, free_pages: 50, billing_config_version: 1 });
        expect(await bench.account()).to.include({ balance: 100_000 - credits, held: 0, open_holds: 0 });
        expect(await findings()).to.deep.equal([]);
      });

  it('are those of work that may wait, once they are set, and the log says why', async () => {
    await setRate(reference, { ...FULL, completion_window: '24h', credits_per_page: 15 }, metaOf());
    const on = process(unused(() => Promise.resolve()));
    const request = { ...asked(60), completion_window: '24h' as const };
    expect((await extract(on, request)).kind).to.equal('delivered');
    expect(await burned()).to.include({ credits: 150, credits_per_page: 15, completion_window: '24h' });
    expect(await findings()).to.deep.equal([]);
  });

  it('are those of other work for what may wait, until somebody sets them', async () => {
    const on = process(unused(() => Promise.resolve()));
    expect((await extract(on, { ...asked(60), completion_window: '24h' })).kind).to.equal('delivered');
    expect(await burned()).to.include({ credits: 400, completion_window: '24h' });
    expect(await findings()).to.deep.equal([]);
  });

  it('are found by the audit where a hold has those of work that may wait, and does not say so', async () => {
    await setRate(reference, { ...FULL, completion_window: '24h', credits_per_page: 15 }, metaOf());
    const held = {
      tenant_id: TENANT,
      hold_id: 'hold_1',
      operation_id: 'ext_1',
      operation: 'extract' as const,
      category: 'extraction' as const,
      extraction_mode: 'standard' as const,
      pages: 60,
      billing_type: 'full_service' as const,
      credits_per_page: asCredits(15),
      expires_at: NO_END,
      billing_config_version: 2,
      free_pages_allowance: 50,
    };
    const { accounts } = process();
    await accounts.execute({ type: 'HoldCredits', data: held, meta: metaOf() });
    expect((await findings()).filter((one) => one.startsWith('[rate]'))).to.have.length(1);
    const waiting = { ...held, hold_id: 'hold_2', operation_id: 'ext_2', completion_window: '24h' as const };
    const free_pages_allowance = 50;
    await accounts.execute({
      type: 'HoldCredits',
      data: { ...waiting, free_pages_allowance },
      meta: metaOf(),
    });
    expect((await findings()).filter((one) => one.startsWith('[rate]'))).to.have.length(1);
    const other = { ...held, hold_id: 'hold_2', operation_id: 'ext_2' };
    const refused = await accounts.execute({ type: 'HoldCredits', data: other, meta: metaOf() });
    expect(refused).to.have.nested.property('rejection.code', 'idempotency_key_reused');
  });

  it('are full service where a model is asked only for what is doubtful, whoever has the key', async () => {
    const request = asked(60, { llm: OWN, settings: { citations: true, models_for: 'doubtful' } });
    const answer = await extract(process(unused(() => Promise.resolve())), request);
    expect(answer).to.have.nested.property('body.meta.billing_type', 'full_service');
    expect(await burned()).to.include({ credits: 400, billing_type: 'full_service' });
    expect(await findings()).to.deep.equal([]);
  });

  it('are those of the first hold, where accepted work of an earlier release lost it', async () => {
    const on = process();
    const work: WorkToBill = {
      operation: 'extract',
      operation_id: 'ext_1',
      tenant_id: TENANT,
      mode: 'standard',
      pages: 60,
      project_id: 'default',
      task_id: 'default',
      billing_type: 'full_service',
      caller: { key_id: 'key_1', role: 'tenant' },
      correlation_id: 'c',
    };
    const { terms } = await on.billingConfig();
    const held = {
      tenant_id: TENANT,
      hold_id: 'hold_1',
      operation_id: 'ext_1',
      operation: 'extract' as const,
      category: 'extraction' as const,
      extraction_mode: 'standard' as const,
      pages: 60,
      billing_type: 'full_service' as const,
      credits_per_page: asCredits(40),
      expires_at: NO_END,
      billing_config_version: 1,
      free_pages_allowance: terms.free_pages,
    };
    await on.accounts.execute({ type: 'HoldCredits', data: held, meta: metaOf() });
    const given = { tenant_id: TENANT, hold_id: 'hold_1', reason: 'cancelled' as const };
    await on.accounts.execute({ type: 'ReleaseHold', data: given, meta: metaOf() });
    await rise(400);
    await fewerFree(0);
    bench.time.now = laterBy(START, 30 * 24);
    expect(await placeAgain(on, work, 'hold_1')).to.include({ kind: 'held', hold_id: 'hold_1' });
    expect(await bench.account()).to.include({ held: 400, free_pages_held: 50 });
    const isAboutWork = (finding: string) => finding.includes('without') || finding.includes('no work');
    expect((await findings()).filter((one) => !isAboutWork(one))).to.deep.equal([]);
  });

  it('are no other ones where a worker places the hold of work again that was just cancelled', async () => {
    const on = process();
    const work: WorkToBill = {
      operation: 'extract',
      operation_id: 'ext_1',
      tenant_id: TENANT,
      mode: 'standard',
      pages: 60,
      project_id: 'default',
      task_id: 'default',
      billing_type: 'full_service',
      caller: { key_id: 'key_1', role: 'tenant' },
      correlation_id: 'c',
      fingerprint: 'print',
    };
    await placeHold(on, work, { hold_id: 'hold_1', expires_at: NO_END });
    const given = { tenant_id: TENANT, hold_id: 'hold_1', reason: 'cancelled' as const };
    await on.accounts.execute({ type: 'ReleaseHold', data: given, meta: metaOf() });
    expect(await placeAgain(on, work, 'hold_1')).to.include({ kind: 'held', hold_id: 'hold_1' });
    expect((await findings()).filter((one) => one.startsWith('[hold] It changes'))).to.deep.equal([]);
  });

  it('that were replaced long before are a finding', async () => {
    await rise(1);
    await rise(80);
    const old = (await reference.billingConfig()).versions[1]!;
    bench.time.now = laterBy(START, 30 * 24);
    await extract(process({ billingConfig: () => Promise.resolve(old) }), asked(10));
    expect(await findings()).to.deep.equal(['[rate] Billing config 2 had been replaced when it was used.']);
  });

  it('that bill pages while free ones are left are a finding, and so are more free pages than there are', async () => {
    const config = await process().billingConfig();
    const with_ = (free_pages: number): Partial<Process> => ({
      billingConfig: () => Promise.resolve({ ...config, terms: { ...config.terms, free_pages } }),
    });
    await extract(process(with_(0)), asked(10));
    expect(await findings()).to.deep.equal([
      `[available] Pages are paid while ${TENANT} has free ones left.`,
    ]);
    await extract(process(with_(60)), asked(60));
    expect(await findings()).to.have.length(2);
  });
});
