import type { JsonObject } from '../../kernel/json.ts';
import type { ScoredAnswer } from '../../ports/documentTools.ts';
import type { ModelProviders, ModelRequest } from '../../ports/modelProvider.ts';
import type { LlmTrainingContext, LlmTrainingWork } from '../../ports/training.ts';
import { failedBy, ProviderFailed } from './failures.ts';

export interface LlmTrainerDeps {
  readonly providers: Pick<ModelProviders, 'ask'>;
  /** Of one request with all its retries, milliseconds. */
  readonly requestDeadlineMs: number;
  /** Scores an answer, beside the service: rows of strangers are paired for it. */
  readonly score: (
    answered: { readonly expected: JsonObject; readonly answer: string },
    context: Pick<LlmTrainingContext, 'signal' | 'share'>,
  ) => Promise<ScoredAnswer>;
}

/** One training: what it has to do, and whom it tells. */
export interface Training {
  readonly deps: LlmTrainerDeps;
  readonly work: LlmTrainingWork;
  readonly context: LlmTrainingContext;
}

/**
 * Asks the model and tells what it used. Gives the answer's text, empty where the model refused. Throws the
 * signal's reason when it aborts, and `ProviderFailed` when the provider fails.
 */
export const asked = async (
  { deps, work: { access }, context: { signal, onCall } }: Training,
  request: Pick<ModelRequest, 'system' | 'turns' | 'output'>,
): Promise<string> => {
  signal.throwIfAborted();
  const answer = await deps.providers.ask({
    access,
    ...request,
    deadlineMs: deps.requestDeadlineMs,
    signal,
  });
  onCall({ ref: access.ref, owner: access.owner, step: 'training', usage: answer.usage });
  signal.throwIfAborted();
  if (answer.kind === 'answered') return answer.finish === 'refused' ? '' : answer.text;
  if (answer.failure.kind === 'aborted') throw new DOMException('The request was aborted.', 'AbortError');
  throw new ProviderFailed(failedBy(answer.failure));
};
