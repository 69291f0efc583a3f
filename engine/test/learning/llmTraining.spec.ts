import { expect } from 'chai';
import { withLearned } from '../../models/learnedPrompt.ts';
import { readLlmArtifact } from '../../learning/prompts/llmArtifact.ts';
import { answers } from '../support/scriptedProvider/steps.ts';
import {
  artifactOf,
  examplesOf,
  isReflection,
  messagesOf,
  promptTraining,
  reader,
  systemOf,
} from './promptTraining.ts';

describe('training a prompt', () => {
  const { provider, calls, progress, train, readings, reflections, scripted } = promptTraining();

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
});
