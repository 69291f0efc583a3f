import { expect } from 'chai';
import { answers, status } from '../support/scriptedProvider/steps.ts';
import { until } from '../support/until.ts';
import { artifactOf, isReflection, messagesOf, promptTraining, reader, systemOf } from './promptTraining.ts';

describe('training a prompt', () => {
  const { provider, calls, train, reflections } = promptTraining();

  it('refuses a budget that cannot show anything', async () => {
    const outcome = await train({ max_metric_calls: 13 });
    expect(outcome).to.deep.include({ kind: 'failed', code: 'validation_error', lasting: true });
    expect(outcome).to.have.property('detail').that.includes('3 held-out examples need 14');
    expect(provider.requests).to.deep.equal([]);
  });

  for (const [code, lasting] of [
    [401, true],
    [404, true],
    [429, false],
    [500, false],
  ] as const)
    it(`fails when the provider answers ${code}${lasting ? ', for good' : ', for now'}`, async () => {
      provider.script('*', status(code));
      const outcome = await train();
      expect(outcome).to.deep.include({ kind: 'failed', code: 'model_provider_error', lasting });
      expect(provider.requests.length).to.equal(1);
      expect(calls.length).to.equal(1);
    });

  it('fails when the provider refuses in the middle of the search, and asks no more', async () => {
    let refused = false;
    provider.script('*', (request) => {
      if (!isReflection(request)) return reader(request, /gross/u);
      refused = true;
      return status(401);
    });
    const outcome = await train();
    expect(refused).to.equal(true);
    expect(outcome).to.deep.include({ kind: 'failed', code: 'model_provider_error', lasting: true });
    expect(provider.requests.at(-1)).to.satisfy(isReflection);
  });

  it('fails when the provider is lost while a proposal is tried, and asks no more', async () => {
    provider.script('*', (request) => {
      if (isReflection(request)) return answers({ notes: 'Try this.' });
      return systemOf(request).includes('Try this.') ? status(500) : reader(request, /gross/u);
    });
    const outcome = await train();
    expect(outcome).to.deep.include({ kind: 'failed', code: 'model_provider_error', lasting: false });
    expect(provider.requests.filter((request) => systemOf(request).includes('Try this.')).length).to.equal(1);
  });

  it('goes on when a reflection or an answer is of no use', async () => {
    provider.script('*', (request) => {
      if (isReflection(request))
        return reflections().length < 3 ? answers('No.') : answers({ notes: 'The total is gross.' });
      return /R-[34]\n/u.test(messagesOf(request).at(-1)?.content ?? '')
        ? answers('I cannot.')
        : reader(request, /gross/u);
    });
    const artifact = artifactOf(await train());
    expect(artifact.instruction).to.equal('The total is gross.');
    expect(artifact.metrics.better).to.equal(true);
  });

  for (const at of ['reading', 'reflection'] as const)
    it(`stops at once when it is cancelled during a ${at}`, async () => {
      const stop = new AbortController();
      const reason = new Error('cancelled');
      provider.script('*', (request) => {
        if (isReflection(request) !== (at === 'reflection')) return reader(request, /gross/u);
        setImmediate(() => stop.abort(reason));
        return { do: 'hang' };
      });
      const failure = await train({}, stop.signal).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(failure).to.equal(reason);
      const asked = provider.requests.length;
      await until(() => provider.requests.at(-1)?.abandoned);
      expect(provider.requests.length).to.equal(asked);
    });
});
