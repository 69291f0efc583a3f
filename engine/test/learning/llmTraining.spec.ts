import { expect } from 'chai';
import { openModelProviders } from '../../models/modelProviders.ts';
import { scoreAnswer } from '../../extraction/grounding/groundAnswer.ts';
import type { LlmTrainerDeps } from '../../learning/prompts/asking.ts';
import { openLlmTrainer } from '../../learning/prompts/llmTrainer.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { withLearned } from '../../learning/prompts/learned.ts';
import type { LlmExample, LlmTrainingWork } from '../../ports/llmTraining.ts';
import type { ModelProviders } from '../../ports/modelProvider.ts';
import type { ModelCall } from '../../ports/modelWork.ts';
import type { TrainingOutcome } from '../../ports/trainingOutcome.ts';
import { readLlmArtifact, type LlmArtifact } from '../../learning/prompts/llmArtifact.ts';
import {
  answers,
  startScriptedProvider,
  status,
  type ScriptedProvider,
  type ScriptedRequest,
  type Step,
} from '../support/scriptedProvider.ts';
import { until } from '../support/until.ts';

const SCHEMA: JsonObject = {
  type: 'object',
  properties: { number: { type: 'string' }, total: { type: 'number' } },
};

/** Invoices that have a net and a gross amount; `total` is the gross one. */
const exampleOf = (i: number): LlmExample => ({
  text: `Invoice R-${i}\nNet ${i * 10}.00\nGross ${i * 12}.00\n`,
  expected: { number: `R-${i}`, total: i * 12 },
});
const examplesOf = (count: number): readonly LlmExample[] =>
  Array.from({ length: count }, (_, i) => exampleOf(i + 1));

interface Message {
  readonly role: string;
  readonly content: string;
}
const messagesOf = (request: ScriptedRequest): readonly Message[] =>
  request.body['messages'] as unknown as readonly Message[];
const systemOf = (request: ScriptedRequest): string => messagesOf(request)[0]?.content ?? '';
const isReflection = (request: ScriptedRequest): boolean => systemOf(request).startsWith('You improve');

/** Takes the net amount for the total until its notes tell it otherwise. */
const reader = (request: ScriptedRequest, knows: RegExp): Step => {
  const text = messagesOf(request).at(-1)?.content ?? '';
  const amount = knows.test(systemOf(request)) ? /Gross (\S+)/u : /Net (\S+)/u;
  return answers({ number: /R-\d+/u.exec(text)?.[0] ?? '', total: Number(amount.exec(text)?.[1]) });
};

const score: LlmTrainerDeps['score'] = (answered) => Promise.resolve(scoreAnswer(answered));

describe('training a prompt', function () {
  this.timeout(60_000);
  let provider: ScriptedProvider;
  let providers: ModelProviders;
  let calls: ModelCall[];
  let progress: number[];
  before(async () => {
    provider = await startScriptedProvider();
    providers = openModelProviders({ allowPrivateNetwork: true });
  });
  after(async () => {
    await providers.close();
    await provider.stop();
  });
  beforeEach(() => {
    [calls, progress] = [[], []];
    provider.requests.length = 0;
  });

  const workOf = (over: Partial<LlmTrainingWork> = {}): LlmTrainingWork => ({
    schema: SCHEMA,
    examples: examplesOf(10),
    access: {
      ref: { provider: 'openai_compatible', model: 'm' },
      apiKey: 'k',
      apiBase: provider.url,
      owner: 'caller',
      retries: 0,
    },
    max_metric_calls: 60,
    validation_split: 0.3,
    seed: 7,
    ...over,
  });
  const train = (over: Partial<LlmTrainingWork> = {}, signal = new AbortController().signal) =>
    openLlmTrainer({ providers, requestDeadlineMs: 10_000, score }).train(workOf(over), {
      share: 't',
      onCall: (call) => calls.push(call),
      onProgress: ({ metric_calls }) => progress.push(metric_calls),
      signal,
    });
  const artifactOf = (outcome: TrainingOutcome): LlmArtifact => {
    if (outcome.kind !== 'trained') throw new Error(`${outcome.code}: ${outcome.detail}`);
    return readLlmArtifact(JSON.parse(new TextDecoder().decode(outcome.artifact)));
  };
  const readings = () => provider.requests.filter((request) => !isReflection(request));
  const reflections = () => provider.requests.filter(isReflection);
  const scripted = (notes: (i: number) => string, knows = /gross/u) => {
    provider.script('*', (request) =>
      isReflection(request) ? answers({ notes: notes(reflections().length) }) : reader(request, knows),
    );
  };

  it('finds the instruction that makes a model read rightly', async () => {
    scripted((i) => (i < 2 ? 'Read with care.' : 'The total is the gross amount.'));
    const outcome = await train();
    const artifact = artifactOf(outcome);
    expect(artifact).to.deep.include({
      kind: 'llm',
      model: 'openai_compatible/m',
      instruction: 'The total is the gross amount.',
      seed: 7,
    });
    expect(artifact.metrics).to.deep.equal({
      baseline_score: 0.5,
      best_score: 1,
      per_field: [
        { path: '/number', baseline: 1, best: 1 },
        { path: '/total', baseline: 0, best: 1 },
      ],
      held_out: 3,
      better: true,
    });
    expect(outcome).to.deep.include({ baseline_score: 0.5, best_score: 1 });
  });

  it('learns from two examples with the smallest budget', async () => {
    scripted(() => 'The total is the gross amount.');
    const artifact = artifactOf(
      await train({ examples: examplesOf(2), validation_split: 0, max_metric_calls: 8 }),
    );
    expect(artifact.metrics).to.include({ baseline_score: 0.5, best_score: 1, held_out: 1 });
    expect(readings().length).to.be.at.most(8);
  });

  it('tells the cost of every request, and its progress', async () => {
    scripted((i) => `Notes ${i}.`);
    await train();
    expect(calls.length).to.equal(provider.requests.length);
    expect(new Set(calls.map(({ step, owner }) => `${step} ${owner}`))).to.deep.equal(
      new Set(['training caller']),
    );
    expect(progress).to.deep.equal(progress.map((_, i) => i + 1));
    expect(progress.length).to.equal(readings().length);
  });

  for (const budget of [14, 17, 20, 22, 24, 26, 28, 30, 32, 60])
    it(`never reads more than ${budget} documents, however promising the next step is`, async () => {
      // each proposal betters a little, so each is scored in full
      provider.script('*', (request) => {
        if (isReflection(request)) return answers({ notes: `Notes ${reflections().length}.` });
        const number = Number(/Notes (\d+)/u.exec(systemOf(request))?.[1] ?? 0);
        const place = Number(/R-(\d+)/u.exec(messagesOf(request).at(-1)?.content ?? '')?.[1]);
        return answers({
          number: `R-${place}`,
          ...((place + number) % 20 <= 2 * number && { total: place * 12 }),
        });
      });
      const artifact = artifactOf(
        await train({ examples: examplesOf(20), validation_split: 0.15, max_metric_calls: budget }),
      );
      expect(readings().length).to.be.at.most(budget);
      expect(artifact.budget).to.deep.equal({
        max_metric_calls: budget,
        metric_calls: readings().length,
      });
    });

  it('keeps the prompt as it is where nothing is better', async () => {
    scripted((i) => `Notes ${i}.`);
    const artifact = artifactOf(await train());
    expect(artifact).to.deep.include({ instruction: '', demos: [] });
    expect(artifact.metrics).to.include({ baseline_score: 0.5, best_score: 0.5, better: false });
  });

  it('asks nothing more once all is read rightly', async () => {
    scripted(() => 'x', /You extract/u);
    const artifact = artifactOf(await train());
    expect(artifact.metrics).to.include({ baseline_score: 1, best_score: 1, better: false });
    expect(provider.requests.length).to.equal(3);
  });

  it('shows worked examples where they help', async () => {
    // reads odd documents rightly, and all of them once it has seen one read
    provider.script('*', (request) => {
      if (isReflection(request)) return answers({ notes: `Notes ${reflections().length}.` });
      const odd = /R-\d*[13579]\n/u.test(messagesOf(request).at(-1)?.content ?? '');
      return reader(request, odd || messagesOf(request).length > 2 ? /./u : /zzz/u);
    });
    const artifact = artifactOf(await train({ validation_split: 0.5 }));
    expect(artifact.demos.length).to.be.within(1, 4);
    expect(artifact.metrics.better).to.equal(true);
    expect(artifact.metrics.best_score).to.equal(1);
    for (const { text, answer } of artifact.demos)
      expect(JSON.stringify(answer)).to.include(`"${/^Invoice (\S+)/u.exec(text)?.[1] ?? '?'}"`);
  });

  it('shows no document that is too long to be shown whole', async () => {
    const long = examplesOf(10).map(({ text, expected }) => ({
      text: `${text}${'More of it. '.repeat(200)}`,
      expected,
    }));
    scripted((i) => `Notes ${i}.`, /You extract/u);
    provider.script('*', (request) =>
      isReflection(request)
        ? answers({ notes: 'Short.' })
        : reader(request, /R-1\n/u.test(messagesOf(request).at(-1)?.content ?? '') ? /zzz/u : /./u),
    );
    expect(artifactOf(await train({ examples: long })).demos).to.deep.equal([]);
  });

  describe('with a seed', () => {
    const run = async (seed: number) => {
      provider.requests.length = 0;
      scripted((i) => (i < 4 ? `Notes ${i}.` : 'The total is the gross amount.'));
      const outcome = await train({ seed });
      if (outcome.kind !== 'trained') throw new Error(outcome.detail);
      return {
        bytes: Buffer.from(outcome.artifact).toString('hex'),
        requests: provider.requests.map(({ body }) => JSON.stringify(body)),
      };
    };

    for (const seed of [0, 1, -5, 2 ** 32, 123_456])
      it(`does and learns the same again, seed ${seed}`, async () => {
        const [first, second] = [await run(seed), await run(seed)];
        expect(second).to.deep.equal(first);
      });

    it('holds out others with another', async () => {
      const [first, second] = [await run(1), await run(2)];
      expect(second.requests).not.to.deep.equal(first.requests);
    });
  });

  it('gives the same prompt from a restored artifact as the training asked with', async () => {
    scripted(() => 'The total is the gross amount.');
    const artifact = artifactOf(await train());
    const again = readLlmArtifact(JSON.parse(JSON.stringify(artifact)));
    const turns = [{ role: 'user', text: 'the document' }] as const;
    expect(withLearned(again, turns)).to.deep.equal(withLearned(artifact, turns));
    expect(
      readings()
        .map(systemOf)
        .some((system) => system.startsWith(withLearned(again, turns).system)),
    ).to.equal(true);
  });

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
