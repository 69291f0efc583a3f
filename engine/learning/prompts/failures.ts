import type { ModelFailure } from '../../ports/modelProvider.ts';
import type { TrainingOutcome } from '../../ports/training.ts';

export type TrainingFailed = Extract<TrainingOutcome, { readonly kind: 'failed' }>;

/** Ends training from within: the provider failed in a way that no other document will mend. */
export class ProviderFailed extends Error {
  readonly outcome: TrainingFailed;
  constructor(outcome: TrainingFailed) {
    super(outcome.detail);
    this.outcome = outcome;
  }
}

/** Ends the search, and keeps what was found: the budget is used, or nothing better is to be found. */
export class SearchEnded extends Error {}

/** Refusals that may pass: time-out, too early, too many. */
const PASSING = [408, 425, 429];

const isLasting = (status: number | null): boolean =>
  status !== null && status >= 400 && status < 500 && !PASSING.includes(status);

/** A provider's failure as the end of a job. Not for `aborted`, which is nobody's failure. */
export const failedBy = (failure: Exclude<ModelFailure, { readonly kind: 'aborted' }>): TrainingFailed => {
  const { detail } = failure;
  switch (failure.kind) {
    case 'provider_error':
      return {
        kind: 'failed',
        code: 'model_provider_error',
        detail,
        lasting: isLasting(failure.provider_status),
      };
    case 'timed_out':
      return { kind: 'failed', code: 'provider_timeout', detail, lasting: false };
    case 'unsafe_api_base':
      return { kind: 'failed', code: 'unsafe_api_base', detail, lasting: true };
  }
};
