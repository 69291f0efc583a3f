import { openModelProviders } from '../../models/modelProviders.ts';
import { scoreAnswer } from '../../extraction/grounding/groundAnswer.ts';
import type { LlmTrainerDeps } from '../../learning/prompts/asking.ts';
import { openLlmTrainer } from '../../learning/prompts/llmTrainer.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { LlmExample, LlmTrainingWork, TrainingOutcome } from '../../ports/training.ts';
import type { ModelProviders } from '../../ports/modelProvider.ts';
import type { ModelCall } from '../../ports/modelWork.ts';
import { readLlmArtifact, type LlmArtifact } from '../../learning/prompts/llmArtifact.ts';
import { startScriptedProvider, type ScriptedProvider } from '../support/scriptedProvider.ts';
import { answers, type ScriptedRequest, type Step } from '../support/scriptedProvider/steps.ts';

const SCHEMA: JsonObject = {
  type: 'object',
  properties: { number: { type: 'string' }, total: { type: 'number' } },
};

/** Invoices that have a net and a gross amount; `total` is the gross one. */
const exampleOf = (i: number): LlmExample => ({
  text: `Invoice R-${i}\nNet ${i * 10}.00\nGross ${i * 12}.00\n`,
  expected: { number: `R-${i}`, total: i * 12 },
});
export const examplesOf = (count: number): readonly LlmExample[] =>
  Array.from({ length: count }, (_, i) => exampleOf(i + 1));

interface Message {
  readonly role: string;
  readonly content: string;
}
export const messagesOf = (request: ScriptedRequest): readonly Message[] =>
  request.body['messages'] as unknown as readonly Message[];
export const systemOf = (request: ScriptedRequest): string => messagesOf(request)[0]?.content ?? '';
export const isReflection = (request: ScriptedRequest): boolean =>
  systemOf(request).startsWith('You improve');

/** Takes the net amount for the total until its notes tell it otherwise. */
export const reader = (request: ScriptedRequest, knows: RegExp): Step => {
  const text = messagesOf(request).at(-1)?.content ?? '';
  const amount = knows.test(systemOf(request)) ? /Gross (\S+)/u : /Net (\S+)/u;
  return answers({ number: /R-\d+/u.exec(text)?.[0] ?? '', total: Number(amount.exec(text)?.[1]) });
};

const score: LlmTrainerDeps['score'] = (answered) => Promise.resolve(scoreAnswer(answered));

export const artifactOf = (outcome: TrainingOutcome): LlmArtifact => {
  if (outcome.kind !== 'trained') throw new Error(`${outcome.code}: ${outcome.detail}`);
  return readLlmArtifact(JSON.parse(new TextDecoder().decode(outcome.artifact)));
};

/** A trainer, and a provider that does as its script says, for the specs of one block. */
export const promptTraining = () => {
  let started: ScriptedProvider;
  let providers: ModelProviders;
  const calls: ModelCall[] = [];
  const progress: number[] = [];
  before(async () => {
    started = await startScriptedProvider();
    providers = openModelProviders({ allowPrivateNetwork: true });
  });
  after(async () => {
    await providers.close();
    await started.stop();
  });
  beforeEach(() => {
    for (const list of [calls, progress, started.requests]) list.length = 0;
  });
  const provider = {
    get requests(): ScriptedRequest[] {
      return started.requests;
    },
    script: (...script: Parameters<ScriptedProvider['script']>) => started.script(...script),
  };

  const workOf = (over: Partial<LlmTrainingWork> = {}): LlmTrainingWork => ({
    schema: SCHEMA,
    examples: examplesOf(10),
    access: {
      ref: { provider: 'openai_compatible', model: 'm' },
      apiKey: 'k',
      apiBase: started.url,
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
  const readings = () => provider.requests.filter((request) => !isReflection(request));
  const reflections = () => provider.requests.filter(isReflection);
  const scripted = (notes: (i: number) => string, knows = /gross/u) => {
    provider.script('*', (request) =>
      isReflection(request) ? answers({ notes: notes(reflections().length) }) : reader(request, knows),
    );
  };
  return { provider, calls, progress, train, readings, reflections, scripted };
};
