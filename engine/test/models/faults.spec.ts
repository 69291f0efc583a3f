import { expect } from 'chai';
import type { CallFacts } from '../../models/modelProviders.ts';
import type { ModelAnswer, ModelProviders } from '../../ports/modelProvider.ts';
import { startScriptedProvider, type ScriptedProvider } from '../support/scriptedProvider.ts';
import { answers, status, type Step } from '../support/scriptedProvider/steps.ts';
import { accessTo, asking, KEY, openProviders } from './asking.ts';
import { until } from '../support/until.ts';

/** A deadline that is never reached, ms: far more than anything here takes on a busy machine. */
const LONG_MS = 30_000;

describe('faults of model providers', () => {
  let server: ScriptedProvider;
  let providers: ModelProviders;
  let now = 0;
  const facts: CallFacts[] = [];
  const told: string[] = [];
  beforeEach(async () => {
    now = 0;
    server = await startScriptedProvider();
    const nowMs = () => Date.now() + now;
    providers = openProviders({ nowMs, bytesMax: 100_000, onCall: (fact) => facts.push(fact) });
  });
  afterEach(async () => {
    await providers.close();
    await server.stop();
  });

  const ask = async (retries: number, deadlineMs: number, signal?: AbortSignal): Promise<ModelAnswer> => {
    const request = asking(accessTo('openai/gpt-4o', server.url, { retries }), { deadlineMs, signal });
    const answer = await providers.ask(request);
    told.push(JSON.stringify(answer));
    return answer;
  };

  const cases: readonly (readonly [string, readonly Step[], object, number])[] = [
    ['401', [status(401)], { kind: 'provider_error', provider_status: 401 }, 1],
    ['403', [status(403)], { kind: 'provider_error', provider_status: 403 }, 1],
    ['404', [status(404)], { kind: 'provider_error', provider_status: 404 }, 1],
    ['400', [status(400)], { kind: 'provider_error', provider_status: 400 }, 1],
    ['500 repeatedly', [status(500)], { kind: 'provider_error', provider_status: 500 }, 3],
    ['529', [status(529)], { kind: 'provider_error', provider_status: 529 }, 3],
    ['429 for too long', [status(429, '60')], { kind: 'provider_error', provider_status: 429 }, 1],
    ['a cut answer', [{ do: 'truncate' }], { kind: 'provider_error', provider_status: 200 }, 2],
    ['a page of HTML', [{ do: 'html' }], { kind: 'provider_error', provider_status: 200 }, 2],
    ['another shape', [{ do: 'nonsense' }], { kind: 'provider_error', provider_status: 200 }, 2],
    ['a flood', [{ do: 'flood', bytes: 200_000 }], { kind: 'provider_error', provider_status: 200 }, 1],
    ['a reset', [{ do: 'reset' }], { kind: 'provider_error', provider_status: null }, 3],
  ];
  for (const [name, steps, failure, attempts] of cases)
    it(`${name}: a failure after ${attempts} of 3 attempts`, async () => {
      server.script('*', ...steps);
      const answer = await ask(2, LONG_MS);
      expect(answer.kind === 'failed' ? answer.failure : answer).to.include(failure);
      expect(server.requests).to.have.length(attempts);
    });

  const passing: readonly (readonly [string, Step])[] = [
    ['429', status(429, '0')],
    ['429 with a date', status(429, new Date(0).toUTCString())],
    ['503', status(503, '0')],
    ['a reset', { do: 'reset' }],
    ['a cut answer', { do: 'truncate' }],
  ];
  for (const [name, step] of passing)
    it(`${name}, then an answer`, async () => {
      server.script('*', step, answers('at last'));
      expect(await ask(2, LONG_MS)).to.include({ kind: 'answered', text: 'at last' });
      expect(server.requests).to.have.length(2);
    });

  it('waits as long as it is asked to', async () => {
    server.script('*', status(429, '1'), answers('at last'));
    const startedAt = Date.now();
    expect(await ask(1, LONG_MS)).to.include({ kind: 'answered' });
    expect(Date.now() - startedAt).to.be.within(950, LONG_MS);
  });

  for (const step of [{ do: 'drip', everyMs: 20 }, { do: 'hang' }] as const)
    it(`a ${step.do} ends at the deadline`, async () => {
      server.script('*', step);
      const startedAt = Date.now();
      expect(await ask(2, 400)).to.have.nested.property('failure.kind', 'timed_out');
      expect(Date.now() - startedAt).to.be.within(380, LONG_MS);
      expect(server.requests).to.have.length(1);
    });

  it('ends at once when the caller gives up, and hangs up on the provider', async () => {
    server.script('*', { do: 'hang' });
    const controller = new AbortController();
    const startedAt = Date.now();
    void until(() => server.requests.length > 0).then(() => controller.abort());
    expect(await ask(2, LONG_MS, controller.signal)).to.have.nested.property('failure.kind', 'aborted');
    expect(Date.now() - startedAt).to.be.below(LONG_MS);
    await until(() => server.requests[0]?.abandoned);
  });

  it('five in a row spare the provider for half a minute, then one request finds out', async () => {
    server.script('*', status(500));
    for (let failed = 0; failed < 5; failed += 1) await ask(0, LONG_MS);
    const spared = await ask(0, LONG_MS);
    expect(spared).to.have.nested.property('failure.kind', 'provider_error');
    expect(spared).to.have.nested.property('failure.detail').that.includes('not asked for half a minute');
    expect(server.requests).to.have.length(5);
    now += 30_001;
    server.script('*', answers('back'));
    expect(await ask(0, LONG_MS)).to.include({ text: 'back' });
    expect(await ask(0, LONG_MS)).to.include({ text: 'back' });
  });

  it('of one key do not spare the provider another; what it refuses does not count', async () => {
    server.script(KEY, status(500));
    server.script('*', answers('fine'));
    for (let failed = 0; failed < 6; failed += 1) await ask(0, LONG_MS);
    const other = accessTo('openai/gpt-4o', server.url, { apiKey: 'another' });
    expect(await providers.ask(asking(other))).to.include({ text: 'fine' });
    const refused = accessTo('openai/gpt-4o', server.url, { apiKey: 'refused' });
    server.script('refused', status(401));
    for (let failed = 0; failed < 7; failed += 1) await providers.ask(asking(refused));
    expect(server.requests.filter(({ key }) => key === 'refused')).to.have.length(7);
  });

  it('are told without the key and the words of the provider', () => {
    expect(told.length).to.be.above(20);
    for (const text of told) expect(text).not.to.match(/planted|hello|sign in|failed","type/u);
    expect(JSON.stringify(facts)).not.to.include('planted');
    expect(new Set(facts.map(({ outcome }) => outcome))).to.include.members([
      'answered',
      'timed_out',
      'aborted',
    ]);
  });
});
